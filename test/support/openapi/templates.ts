/** Variables that hold slashes, as their descriptions say. */
const DEEP = ["path", "folder"];

interface Template {
  readonly template: string;
  readonly pattern: RegExp;
  readonly literals: number;
}

/**
 * Finds the template of a request's target below the base path; `outside` where the target is none of the service's.
 */
export function createTemplateFinder(
  basePath: string,
  templates: readonly string[],
): (target: string) => string | undefined | "outside" {
  const base = toReadable(basePath).replace(/\/$/, "");
  // The more of a template is literal, the earlier it counts: concrete paths before all others (OpenAPI 3.0.3, Paths
  // Object).
  const known = templates.map(toTemplate).sort((one, other) => other.literals - one.literals);

  return function findTemplate(target) {
    const path = toReadable(toPath(target));
    if (path !== base && !path.startsWith(`${base}/`)) return "outside";
    const below = path.slice(base.length) || "/";
    const found = known.find(({ pattern }) => pattern.test(below))?.template;
    return found ?? (/^\/(?:home|__svc__|____svc__)(?:\/|$)/.test(below) ? undefined : "outside");
  };
}

/** The path of a target, or of a URL. */
export function toPath(target: string): string {
  const [path = ""] = target.replace(/^[a-z]+:\/\/[^/?#]*/i, "").split(/[?#]/);
  return path || "/";
}

/** The parameters of a target's query, by their names. */
export function toQuery(target: string): URLSearchParams {
  const mark = target.indexOf("?");
  return new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1));
}

/** Segments are what they decode to; one that does not stays as it is. */
function toReadable(path: string): string {
  return path.replace(/[^/]+/g, (segment) => {
    try {
      const decoded = decodeURIComponent(segment);
      return decoded.includes("/") ? segment : decoded;
    } catch {
      return segment;
    }
  });
}

function toTemplate(template: string): Template {
  const parts = template.split(/\{(\w+)\}/);
  const source = parts.map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    if (!DEEP.includes(part)) return "[^/]+";
    // A file's URL ends in no slash, a folder's in one, which is in the template.
    return template.endsWith("}") ? "[^]*[^/]" : "[^]+";
  });
  const literals = parts.filter((_part, index) => index % 2 === 0).join("").length;
  return { template, pattern: new RegExp(`^${source.join("")}$`), literals: parts.length === 1 ? Infinity : literals };
}
