/** A satisfiable part of a representation, in bytes. */
export interface RangePart {
  readonly offset: number;
  readonly length: number;
}

/** Maximum number of parts in a response. A request for more parts gets the complete representation. */
const MAX_PARTS = 16;
/**
 * Maximum number of list elements, including empty ones. RFC 9110 5.6.1.2: a recipient must accept a reasonable number
 * of empty elements.
 */
const MAX_ELEMENTS = 64;
/**
 * Parts that are at most this number of bytes apart are sent as one: the headers of another part would not be shorter
 * (RFC 9110 15.3.7.2).
 */
const NEAR = 80;
/**
 * A range has at most 20 digits, as many as 2^64 has. A number that large loses precision, but it is larger than any
 * file.
 */
const SPEC = /^[ \t]*(\d{0,20})-(\d{0,20})[ \t]*$/;

/**
 * The parts of `size` bytes that a `Range` value requests (RFC 9110 14.1.2), in its order. Parts that overlap or nearly
 * touch are merged.
 *
 * Returns `undefined` if the header must be ignored: it is missing, has another unit or is malformed; it has more than
 * 16 parts; its parts have more bytes in total than the representation, which would cost more than sending it once (RFC
 * 9110 14.2, SECURITY 15); or it requests the end of an empty representation, for which no range exists.
 */
export function parseRanges(value: string | null, size: number): readonly RangePart[] | "unsatisfiable" | undefined {
  const [unit = "", ...more] = value?.split("=", 3) ?? [];
  if (more.length !== 1 || !/^bytes$/i.test(unit)) return undefined;
  const specs = splitList(more[0] ?? "");
  if (specs === undefined) return undefined;
  const parts: RangePart[] = [];
  for (const spec of specs) {
    const part = parseSpec(spec, size);
    if (part === undefined) return undefined;
    if (part !== "unsatisfiable") parts.push(part);
  }
  if (parts.length === 0) return "unsatisfiable";
  return parts.reduce((sum, { length }) => sum + length, 0) > size ? undefined : coalesce(parts);
}

/**
 * The only part that a `Range` value requests, for a representation of any size. Its length may exceed the
 * representation. Returns `undefined` if the value requests no part or several, or if the part depends on the size.
 */
export function guessRange(value: string): RangePart | undefined {
  // A suffix may overlap the part before it, and the place of a suffix depends on the size.
  const hasSuffix = !/^bytes=[ \t]*\d+-/i.test(value) || /,[ \t]*-/.test(value);
  const parts = hasSuffix ? undefined : parseRanges(value, Number.MAX_SAFE_INTEGER);
  return typeof parts === "object" && parts.length === 1 ? parts[0] : undefined;
}

/** The elements of a list that is not too long, without empty ones (RFC 9110 5.6.1). */
function splitList(list: string): readonly string[] | undefined {
  const elements = list.split(",", MAX_ELEMENTS + 1);
  const specs = elements.filter((element) => /[^ \t]/.test(element));
  return specs.length === 0 || specs.length > MAX_PARTS || elements.length > MAX_ELEMENTS ? undefined : specs;
}

function parseSpec(spec: string, size: number): RangePart | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = SPEC.exec(spec) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    if (Number(last) === 0) return "unsatisfiable";
    return length === 0 ? undefined : { offset: size - length, length };
  }
  const offset = Number(first);
  if (last !== "" && Number(last) < offset) return undefined;
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  return offset >= size ? "unsatisfiable" : { offset, length: end - offset };
}

/** Merges parts that overlap or nearly touch. A merged part has the position of the first of its parts. */
function coalesce(parts: readonly RangePart[]): readonly RangePart[] {
  const joined: { offset: number; length: number; index: number }[] = [];
  const indexed = parts.map((part, index) => ({ ...part, index }));
  for (const { offset, length, index } of indexed.sort((one, other) => one.offset - other.offset)) {
    const before = joined.at(-1);
    if (before === undefined || offset > before.offset + before.length + NEAR) {
      joined.push({ offset, length, index });
      continue;
    }
    before.length = Math.max(before.length, offset + length - before.offset);
    before.index = Math.min(before.index, index);
  }
  joined.sort((one, other) => one.index - other.index);
  return joined.map(({ offset, length }) => ({ offset, length }));
}
