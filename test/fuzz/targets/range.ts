import {
  evaluatePreconditions,
  isConditionalChange,
  mayUseRange,
  parseEntityTags,
  type Validators,
} from "../../../src/http/conditional.ts";
import { parseHttpDate, toHttpDate } from "../../../src/http/http-date.ts";
import { isHttpError } from "../../../src/http/http-error.ts";
import { guessRange, parseRanges, type RangePart } from "../../../src/http/range.ts";
import { asHeaders, expect, expectSame, type FuzzTarget, readFields } from "../target.ts";

const NOW = Date.UTC(2026, 4, 6, 7, 8, 9);
const ETAG = '"abc-1"';
const MODIFIED = new Date(NOW - 86_400_000 + 345);
const DATES = ["if-modified-since", "if-unmodified-since", "if-range"];

/** Lines of `Range`, `If-...`, `Method`, and `Size`, which is that of what is there. */
export const target: FuzzTarget = {
  sources: ["http/range.ts", "http/conditional.ts", "http/http-date.ts"],
  dictionary: [
    "Range: bytes=0-1",
    "Range: bytes=-5",
    "If-Range: ",
    `If-Match: ${ETAG}`,
    'If-None-Match: W/"abc-1"',
    "If-Modified-Since: ",
    "If-Unmodified-Since: ",
    "Method: PUT",
    "Size: 1000",
    "Size: 0",
    "bytes=",
    "Tue, 05 May 2026 07:08:09 GMT",
    "Tuesday, 05-May-26 07:08:09 GMT",
    "Tue May  5 07:08:09 2026",
    "99",
    "0-0,-1",
    "500-",
    "-",
    ", ,",
    "*",
    "W/",
    '"',
    ETAG,
    " GMT",
    "=",
  ],
  separators: [",", "\n", "-", ":", " ", "="],
  maxLength: 16 * 1024,
  run,
};

function run(input: string): string {
  const fields = readFields(input);
  const size = Number(/^\d{1,12}$/.exec(fields.get("size") ?? "")?.[0] ?? 1000);
  const range = fields.get("range") ?? null;
  const parts = parseRanges(range, size);
  if (typeof parts === "object") expectParts(parts, size);
  if (range !== null) expectGuess(range, size, parts);
  expectOne(range, size, parts);
  for (const name of DATES) expectDate(fields.get(name) ?? null);
  const shape = typeof parts === "object" ? Math.min(parts.length, 3) : parts;
  return `${shape} ${evaluate(fields)}`;
}

function expectParts(parts: readonly RangePart[], size: number): void {
  expect(parts.length > 0 && parts.length <= 16, "there are few parts");
  for (const { offset, length } of parts) {
    expect(Number.isSafeInteger(offset) && Number.isSafeInteger(length), "a part has whole numbers");
    expect(offset >= 0 && length > 0 && offset + length <= size, "a part lies within the size");
  }
  const sorted = [...parts].sort((one, other) => one.offset - other.offset);
  for (const [index, { offset }] of sorted.slice(1).entries()) {
    const before = sorted[index] as RangePart;
    expect(before.offset + before.length < offset, "no two parts have a byte in common");
  }
}

/** What is guessed before the size is known is what is answered. */
function expectGuess(range: string, size: number, parts: ReturnType<typeof parseRanges>): void {
  const guess = guessRange(range);
  if (guess === undefined || typeof parts !== "object") return;
  const [part] = parts;
  expectSame(
    [part?.offset, part?.length],
    [guess.offset, Math.min(guess.length, size - guess.offset)],
    "the guess is right",
  );
}

/** One range by RFC 9110 14.1.2, with big numbers. */
function expectOne(range: string | null, size: number, parts: ReturnType<typeof parseRanges>): void {
  const [, first = "", last = ""] = /^bytes=(\d{0,20})-(\d{0,20})$/i.exec(range ?? "") ?? [];
  if (first === "" && last === "") return;
  const [from, to, all] = [BigInt(first || 0), BigInt(last || 0), BigInt(size)];
  let expected: readonly RangePart[] | "unsatisfiable" | undefined;
  if (first === "") {
    const length = to < all ? to : all;
    if (to === 0n) expected = "unsatisfiable";
    else if (length > 0n) expected = [{ offset: Number(all - length), length: Number(length) }];
  } else if (last === "" || to >= from) {
    const end = last === "" || to >= all ? all : to + 1n;
    expected = from >= all ? "unsatisfiable" : [{ offset: Number(from), length: Number(end - from) }];
  }
  expectSame(parts, expected, "one range is as RFC 9110 14.1.2 has it");
}

function expectDate(text: string | null): void {
  const time = parseHttpDate(text, NOW);
  if (time === undefined) return;
  expect(Number.isSafeInteger(time) && time % 1000 === 0, "a date is a whole second");
  const years = new Date(time).getUTCFullYear() - new Date(NOW).getUTCFullYear();
  if (/^[a-z]+, \d\d-/i.test(text ?? "")) expect(years >= -50 && years <= 50, "a year of two digits is near");
  if (time >= 0 && time < Date.UTC(10_000, 0)) {
    expect(parseHttpDate(toHttpDate(new Date(time)), NOW) === time, "a date written again is the same");
  }
}

/** The conditions, and the same by the words of RFC 9110 13.2.2. */
function evaluate(fields: ReadonlyMap<string, string>): string {
  const headers = asHeaders(fields);
  const request = { method: fields.get("method") ?? "GET", headers } as unknown as Request;
  const current: Validators = { etag: ETAG, modified: MODIFIED };
  const weak: Validators = { etag: `W/${ETAG}`, modified: MODIFIED };
  isConditionalChange(request);
  const isUsed = mayUseRange(headers, current, NOW);
  if (isUsed && fields.has("if-range")) {
    const value = fields.get("if-range")?.trim();
    expect(value === ETAG || parseHttpDate(value ?? "", NOW) === toSecond(MODIFIED), "If-Range names what is there");
  }
  try {
    for (const name of ["if-match", "if-none-match"] as const) expectTags(headers, name);
    const found = [current, weak, undefined].map((there) => {
      const result = evaluatePreconditions(request, there, NOW);
      expectSame(result, plainEvaluate(request, there), "conditions are as RFC 9110 13.2.2 has them");
      return result;
    });
    return `${found.join()} ${isUsed}`;
  } catch (error) {
    if (!isHttpError(error) || error.failure !== "malformed") throw error;
    return error.message;
  }
}

function expectTags(headers: Headers, name: "if-match" | "if-none-match"): void {
  const tags = parseEntityTags(headers, name);
  if (tags === undefined || tags === "*") return;
  expect(tags.length > 0 && tags.every((tag) => /^(?:W\/)?"[^"]*"$/.test(tag)), "a list has entity-tags");
  expectSame(
    parseEntityTags(asHeaders(new Map([[name, tags.join(" , ,")]])), name),
    tags,
    "and is the same written again",
  );
}

function plainEvaluate({ method, headers }: Request, current: Validators | undefined): string {
  const isRead = method === "GET" || method === "HEAD";
  const has = (name: "if-match" | "if-none-match", isWeak: boolean) => {
    const tags = parseEntityTags(headers, name) ?? [];
    if (current === undefined || tags === "*") return current !== undefined;
    if (!isWeak) return current.etag === ETAG && tags.includes(ETAG);
    return tags.includes(ETAG) || tags.includes(`W/${ETAG}`);
  };
  const since = (name: string) => parseHttpDate(headers.get(name), NOW) ?? Number.NaN;
  const isAbsent = (name: string) => headers.get(name) === null;
  if (!isAbsent("if-match") && !has("if-match", false)) return "failed";
  if (isAbsent("if-match") && current && toSecond(MODIFIED) > since("if-unmodified-since")) return "failed";
  if (!isAbsent("if-none-match") && has("if-none-match", true)) return isRead ? "not-modified" : "failed";
  const isOld = isAbsent("if-none-match") && isRead && current && toSecond(MODIFIED) <= since("if-modified-since");
  return isOld ? "not-modified" : "met";
}

function toSecond(date: Date): number {
  return Math.floor(date.getTime() / 1000) * 1000;
}
