/** Variables that may contain slashes, as their descriptions say. */
const DEEP = ["path", "folder"];

interface Template {
  readonly template: string;
  readonly pattern: RegExp;
  readonly literals: number;
}

/**
 * Creates the function that finds the template of a target below the base path. It returns `outside` for a target of no
 * service.
 */
export function createTemplateFinder(
  basePath: string,
  templates: readonly string[],
): (target: string) => string | undefined | "outside" {
  const base = toReadable(basePath).replace(/\/$/, "");
  // Templates with more literal text come first: concrete paths before all others (OpenAPI 3.0.3, Paths Object).
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

/** Decodes the segments of a path. One that cannot be decoded stays as it is. */
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
    // The URL of a file does not end in a slash. That of a folder does, and so does its template.
    return template.endsWith("}") ? "[^]*[^/]" : "[^]+";
  });
  const literals = parts.filter((_part, index) => index % 2 === 0).join("").length;
  return { template, pattern: new RegExp(`^${source.join("")}$`), literals: parts.length === 1 ? Infinity : literals };
}
