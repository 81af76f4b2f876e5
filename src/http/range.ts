/** A satisfiable part of a representation, in bytes. */
export interface RangePart {
  readonly offset: number;
  readonly length: number;
}

/**
 * The single range that a `Range` value asks of `size` bytes (RFC 9110 14.1.2). `undefined` when the header is to be
 * ignored: absent, of another unit, malformed, or of several ranges, which may be answered whole (14.2).
 */
export function parseRange(value: string | null, size: number): RangePart | "unsatisfiable" | undefined {
  // At most 15 digits: beyond, numbers lose their last digits.
  const [match, first = "", last = ""] = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(value ?? "") ?? [];
  if (match === undefined || (first === "" && last === "")) return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { offset: size - length, length };
  }
  const offset = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < offset) return undefined;
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset };
}
