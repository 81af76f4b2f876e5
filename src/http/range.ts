/** A satisfiable part of a representation, in bytes. */
export interface RangePart {
  readonly offset: number;
  readonly length: number;
}

/** How many parts are answered at most; a request for more gets the whole. */
const MAX_PARTS = 16;
/** The same with elements that are empty, of which few have to be read (RFC 9110 5.6.1.2). */
const MAX_ELEMENTS = 64;
/** Parts that are so near to each other are answered as one: what stands before another part is no shorter (RFC 9110 15.3.7.2). */
const NEAR = 80;
/** Of no more digits than 2^64 has: beyond, and where a number loses its last digits, it is larger than any file. */
const SPEC = /^[ \t]*(\d{0,20})-(\d{0,20})[ \t]*$/;

/**
 * The parts that a `Range` value asks of `size` bytes (RFC 9110 14.1.2), in its order, those that overlap or nearly touch as one.
 * `undefined` when the header is to be ignored: absent, of another unit, malformed; of more than 16 parts, or of more bytes in all than
 * there are, which costs more than the whole (14.2, SECURITY 15); or of the end of nothing, which has no range to name.
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
 * The one part that a `Range` value asks for, of whatever size the representation may be; `undefined` where that depends on its size, or
 * there is none. Its length may be more than there is.
 */
export function guessRange(value: string): RangePart | undefined {
  // A suffix may lie within the part before it, or alone within the representation.
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

/** Each of the joined parts stands where the first of those stood that it is made of. */
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
