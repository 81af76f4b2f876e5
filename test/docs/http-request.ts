/** A request as a page shows it: what a value is that varies is `...`. */
export interface ShownRequest {
  readonly method: string;
  readonly target: string;
  /** By their names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
}

/** Reads the head of a request; `undefined` where it is none. */
export function parseRequest(text: string): ShownRequest | undefined {
  const [start = "", ...lines] = text.trimEnd().split("\n");
  const [, method, target] = /^([A-Z]+) (\/\S*) HTTP\/1\.1$/.exec(start) ?? [];
  const fields = lines.map((line) => /^([!#$%&'*+\-.^_`|~\w]+): (\S.*)$/.exec(line));
  if (method === undefined || target === undefined || fields.includes(null)) return undefined;
  return {
    method,
    target,
    fields: new Map(fields.map((found) => [(found?.[1] ?? "").toLowerCase(), found?.[2] ?? ""])),
  };
}

/**
 * What is wrong with a shown request as such: what it shows is compared with one that was sent by a test of its own.
 */
export function findRequestFaults(text: string): readonly string[] {
  return parseRequest(text) === undefined ? ["is no head of a request"] : [];
}

/** A shown value as a pattern. */
export function toValuePattern(value: string): RegExp {
  const parts = value.split("...").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+")}$`);
}
