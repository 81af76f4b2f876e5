/** A quoted string, up to the end if it is not closed: commas and semicolons in it separate nothing (RFC 9110). */
const QUOTED = /"((?:[^"\\]|\\.)*)"?/g;
const WORD = /^[\w-]+$/;

/** Whether a request prefers a listing in the order of names, by `Prefer: order=name` (RFC 7240 2). */
export function prefersNameOrder({ headers }: Request): boolean {
  return preferenceOf(headers, "order") === "name";
}

/**
 * Whether a request prefers a response without what the client can do without, by `Prefer: return=minimal` (RFC 8144)
 * or `Brief: t`, its older form.
 */
export function prefersMinimalReturn({ headers }: Pick<Request, "headers">): boolean {
  return preferenceOf(headers, "return") === "minimal" || headers.get("brief")?.toLowerCase() === "t";
}

/** Whether a request prefers that everything is checked and nothing changed, by `Prefer: dry-run`. */
export function prefersDryRun({ headers }: Pick<Request, "headers">): boolean {
  return preferenceOf(headers, "dry-run") === "";
}

/** The value of a preference; of one that is repeated, the first one counts. */
function preferenceOf(headers: Headers, wanted: string): string | undefined {
  const field = headers.get("prefer");
  if (field === null) return undefined;
  const preferences = field.replace(QUOTED, (_, text: string) => (WORD.test(text) ? text : "")).split(",");
  const [, value] = preferences.map(toNameAndValue).find(([name]) => name === wanted) ?? [];
  return value;
}

/** The name of a preference in lower case, and its value, without its parameters. */
function toNameAndValue(preference: string): readonly string[] {
  const [own = ""] = preference.split(";", 1);
  const [name = "", ...value] = own.split("=").map((part) => part.trim());
  return [name.toLowerCase(), value.join("=")];
}
