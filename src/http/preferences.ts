/** A quoted string, up to the end if it is not closed: commas and semicolons in it separate nothing (RFC 9110). */
const QUOTED = /"((?:[^"\\]|\\.)*)"?/g;
const WORD = /^[\w-]+$/;

/** Whether a request prefers a listing in the order of names, by `Prefer: order=name` (RFC 7240 2). */
export function prefersNameOrder({ headers }: Request): boolean {
  const field = headers.get("prefer");
  if (field === null) return false;
  const preferences = field.replace(QUOTED, (_, text: string) => (WORD.test(text) ? text : "")).split(",");
  // Of a preference that is repeated, the first one counts.
  const [, value] = preferences.map(toNameAndValue).find(([name]) => name === "order") ?? [];
  return value === "name";
}

/** The name of a preference in lower case, and its value, without its parameters. */
function toNameAndValue(preference: string): readonly string[] {
  const [own = ""] = preference.split(";", 1);
  const [name = "", ...value] = own.split("=").map((part) => part.trim());
  return [name.toLowerCase(), value.join("=")];
}
