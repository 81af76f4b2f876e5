/*
 * Every rule of conditional and range requests (RFC 9110 sections 13 and 14, CONTRACT 3.1) as rows: what is asked, and
 * what is answered. One table for every storage, in process and over the wire.
 */

/** When the files were modified. */
export const MODIFIED = Date.UTC(2024, 4, 6, 7, 8, 9, 500);
/** No byte of it is as the one that a mistake by one would give. */
export const CONTENT = Uint8Array.from({ length: 1000 }, (_, index) => (index * 7 + (index >> 8)) % 256);
const SIZE = CONTENT.byteLength;

const SAME = "Mon, 06 May 2024 07:08:09 GMT";
const SAME_RFC850 = "Monday, 06-May-24 07:08:09 GMT";
const SAME_ASCTIME = "Mon May  6 07:08:09 2024";
const EARLIER = "Mon, 06 May 2024 07:08:08 GMT";
const LATER = "Mon, 06 May 2024 07:08:10 GMT";
const FUTURE = "Mon, 06 May 2199 07:08:10 GMT";

/**
 * Moves the date in a field of the table by some milliseconds, in any of its forms: for files that were modified at
 * another time. Other text stays.
 */
export function moveDates(text: string, milliseconds: number): string {
  if (text !== SAME_ASCTIME && !/^[A-Z][a-z]+, .* GMT$/.test(text)) return text;
  const time = Date.parse(text === SAME_ASCTIME ? `${text} GMT` : text);
  if (Number.isNaN(time)) return text;
  const moved = new Date(time + milliseconds).toUTCString();
  const [day = "", date = "", month = "", year = "", clock = ""] = moved.replace(",", "").split(" ");
  if (text === SAME_ASCTIME) return `${day} ${month} ${String(Number(date)).padStart(2)} ${clock} ${year}`;
  if (!/^[A-Z][a-z]+day, /.test(text)) return moved;
  const weekday = new Date(time + milliseconds).toLocaleDateString("en", { weekday: "long", timeZone: "UTC" });
  return `${weekday}, ${date}-${month}-${year.slice(2)} ${clock} GMT`;
}

/** First and last byte of a part. */
type Part = readonly [first: number, last: number];

/** Status, and which parts where that is 206. */
type Outcome = 200 | 304 | 400 | 404 | 412 | 416 | readonly Part[];

/** `TAG` in a field stands for the file's entity-tag. */
export interface ReadingRow {
  readonly rule: string;
  readonly method: "GET" | "HEAD";
  readonly file: "data.bin" | "empty.txt" | "missing";
  readonly fields: Readonly<Record<string, string>>;
  readonly outcome: Outcome;
}

type Fields = ReadingRow["fields"];

/** For GET and HEAD alike. */
const conditions: readonly (readonly [rule: string, fields: Fields, outcome: Outcome])[] = [
  ["no condition", {}, 200],
  ["If-Match: the tag", { "if-match": "TAG" }, 200],
  ["If-Match: any", { "if-match": "*" }, 200],
  ["If-Match: a list with the tag", { "if-match": '"x", TAG, "y"' }, 200],
  ["If-Match: a list with empty elements", { "if-match": ', "x" ,,TAG,' }, 200],
  ["If-Match: another tag", { "if-match": '"x"' }, 412],
  ["If-Match: compares strongly", { "if-match": "W/TAG" }, 412],
  ["If-Match: the empty tag", { "if-match": '""' }, 412],
  ["If-Match: no tag", { "if-match": "x" }, 400],
  ["If-Match: an open quotation mark", { "if-match": '"x' }, 400],
  ["If-Match: any beside a tag", { "if-match": '*, "x"' }, 400],
  ["If-None-Match: the tag", { "if-none-match": "TAG" }, 304],
  ["If-None-Match: any", { "if-none-match": "*" }, 304],
  ["If-None-Match: compares weakly", { "if-none-match": "W/TAG" }, 304],
  ["If-None-Match: a list with the tag", { "if-none-match": '"x",W/"y",TAG' }, 304],
  ["If-None-Match: another tag", { "if-none-match": '"x"' }, 200],
  ["If-None-Match: a list of others", { "if-none-match": '"x", W/"y"' }, 200],
  ["If-None-Match: a tag that has the other in it", { "if-none-match": '"a,TAG' }, 400],
  ["If-None-Match: w/ is no W/", { "if-none-match": "w/TAG" }, 400],
  ["If-Modified-Since: the date", { "if-modified-since": SAME }, 304],
  ["If-Modified-Since: later", { "if-modified-since": LATER }, 304],
  ["If-Modified-Since: in future", { "if-modified-since": FUTURE }, 304],
  ["If-Modified-Since: earlier", { "if-modified-since": EARLIER }, 200],
  ["If-Modified-Since: the date of RFC 850", { "if-modified-since": SAME_RFC850 }, 304],
  ["If-Modified-Since: the date of asctime", { "if-modified-since": SAME_ASCTIME }, 304],
  ["If-Modified-Since: an ISO date is none", { "if-modified-since": "2024-05-06T07:08:09Z" }, 200],
  ["If-Modified-Since: a number is none", { "if-modified-since": "1714979289" }, 200],
  ["If-Modified-Since: a time zone is none", { "if-modified-since": "Mon, 06 May 2024 07:08:09 +0000" }, 200],
  ["If-Modified-Since: no such day", { "if-modified-since": "Mon, 99 May 2024 07:08:09 GMT" }, 200],
  ["If-Unmodified-Since: the date", { "if-unmodified-since": SAME }, 200],
  ["If-Unmodified-Since: later", { "if-unmodified-since": LATER }, 200],
  ["If-Unmodified-Since: earlier", { "if-unmodified-since": EARLIER }, 412],
  ["If-Unmodified-Since: earlier, of RFC 850", { "if-unmodified-since": "Monday, 06-May-24 07:08:08 GMT" }, 412],
  ["If-Unmodified-Since: no date", { "if-unmodified-since": "yesterday" }, 200],
  ["If-Match is before If-Unmodified-Since", { "if-match": "TAG", "if-unmodified-since": EARLIER }, 200],
  ["If-Match fails whatever If-Unmodified-Since", { "if-match": '"x"', "if-unmodified-since": LATER }, 412],
  ["If-None-Match is before If-Modified-Since", { "if-none-match": '"x"', "if-modified-since": SAME }, 200],
  ["If-None-Match holds whatever If-Modified-Since", { "if-none-match": "TAG", "if-modified-since": EARLIER }, 304],
  ["If-Match is before If-None-Match", { "if-match": '"x"', "if-none-match": "TAG" }, 412],
  ["If-Match and If-None-Match", { "if-match": "TAG", "if-none-match": "TAG" }, 304],
  ["If-Unmodified-Since is before If-None-Match", { "if-unmodified-since": EARLIER, "if-none-match": "TAG" }, 412],
  ["If-Unmodified-Since and If-Modified-Since", { "if-unmodified-since": LATER, "if-modified-since": SAME }, 304],
  ["If-Range without Range", { "if-range": '"x"' }, 200],
];

const ranges: readonly (readonly [rule: string, range: string, outcome: Outcome])[] = [
  ["the first byte", "bytes=0-0", [[0, 0]]],
  ["some bytes", "bytes=500-599", [[500, 599]]],
  ["the last byte", "bytes=999-999", [[999, 999]]],
  ["all bytes", "bytes=0-999", [[0, 999]]],
  ["from a byte on", "bytes=990-", [[990, 999]]],
  ["from the first byte on", "bytes=0-", [[0, 999]]],
  ["beyond the end", "bytes=990-5000", [[990, 999]]],
  ["a suffix", "bytes=-10", [[990, 999]]],
  ["a suffix of all", "bytes=-1000", [[0, 999]]],
  ["a suffix of more than all", "bytes=-5000", [[0, 999]]],
  ["leading zeros", "bytes=000-0001", [[0, 1]]],
  ["the unit in capitals", "BYTES=1-2", [[1, 2]]],
  ["blanks around", "bytes= \t1-2 ", [[1, 2]]],
  ["a last byte of 2^64 - 1", "bytes=998-18446744073709551615", [[998, 999]]],
  ["a suffix of 2^64", "bytes=-18446744073709551616", [[0, 999]]],
  ["a first byte at the end", "bytes=1000-", 416],
  ["a part behind the end", "bytes=1000-1001", 416],
  ["a first byte of 2^64", "bytes=18446744073709551616-", 416],
  ["a suffix of nothing", "bytes=-0", 416],
  ["endless digits", `bytes=0-${"9".repeat(400)}`, 200],
  ["last before first", "bytes=5-2", 200],
  ["last before first, behind the end", "bytes=5000-2000", 200],
  ["no numbers", "bytes=a-b", 200],
  ["no bounds", "bytes=-", 200],
  ["no dash", "bytes=5", 200],
  ["nothing", "bytes=", 200],
  ["no equals sign", "bytes 0-1", 200],
  ["two equals signs", "bytes=0-1=2-3", 200],
  ["a blank before the equals sign", "bytes =0-1", 200],
  ["a blank inside", "bytes=0 -1", 200],
  ["a sign", "bytes=+1-2", 200],
  ["two dashes", "bytes=0--1", 200],
  ["a fraction", "bytes=1.5-2", 200],
  ["hexadecimal", "bytes=0x0-1", 200],
  ["another unit", "items=0-1", 200],
  ["no unit", "0-1", 200],
  [
    "two parts",
    "bytes=0-9,500-509",
    [
      [0, 9],
      [500, 509],
    ],
  ],
  [
    "parts in descending order",
    "bytes=900-909, 500-509, 0-9",
    [
      [900, 909],
      [500, 509],
      [0, 9],
    ],
  ],
  [
    "all three kinds of parts",
    "bytes=0-0, 800-, -1",
    [
      [0, 0],
      [800, 999],
    ],
  ],
  [
    "a part and a suffix",
    "bytes=0-9,-10",
    [
      [0, 9],
      [990, 999],
    ],
  ],
  [
    "parts with empty elements between",
    "bytes=0-9, ,,500-509,",
    [
      [0, 9],
      [500, 509],
    ],
  ],
  ["parts that overlap", "bytes=0-99,50-149", [[0, 149]]],
  ["parts that touch", "bytes=0-99,100-199", [[0, 199]]],
  ["parts with little between", "bytes=0-0,2-2", [[0, 2]]],
  [
    "one part in another",
    "bytes=0-99,10-19,500-509",
    [
      [0, 99],
      [500, 509],
    ],
  ],
  ["one part twice", "bytes=0-9,0-9", [[0, 9]]],
  [
    "one that cannot be among those that can",
    "bytes=0-9,1000-,500-509",
    [
      [0, 9],
      [500, 509],
    ],
  ],
  ["one that can among those that cannot", "bytes=1000-,2000-3000,500-509,-0", [[500, 509]]],
  ["several that cannot", "bytes=1000-,2000-3000", 416],
  ["one that is malformed among others", "bytes=0-9,x,500-509", 200],
  ["last before first among others", "bytes=0-9,9-5", 200],
  ["more bytes than there are", "bytes=0-,0-,0-", 200],
  ["many of the whole", `bytes=${"0-,".repeat(15)}0-`, 200],
  [
    "nine parts",
    `bytes=${Array.from({ length: 9 }, (_, index) => `${110 * index}-${110 * index + 9}`)}`,
    Array.from({ length: 9 }, (_, index) => [110 * index, 110 * index + 9]),
  ],
  ["16 parts", `bytes=${Array.from({ length: 16 }, (_, index) => `${index}-${index}`)}`, [[0, 15]]],
  ["17 parts", `bytes=${Array.from({ length: 17 }, (_, index) => `${index}-${index}`)}`, 200],
  ["1,000 parts", `bytes=${Array.from({ length: 1000 }, (_, index) => `${index}-${index}`)}`, 200],
  ["hundreds of empty elements", `bytes=0-1${",".repeat(500)}`, 200],
];

/** Conditions beside a range. */
const both: readonly (readonly [rule: string, fields: Fields, outcome: Outcome])[] = [
  ["If-Match: the tag", { "if-match": "TAG" }, [[0, 9]]],
  ["If-Match: another tag", { "if-match": '"x"' }, 412],
  ["If-None-Match: the tag", { "if-none-match": "TAG" }, 304],
  ["If-None-Match: another tag", { "if-none-match": '"x"' }, [[0, 9]]],
  ["If-Modified-Since: the date", { "if-modified-since": SAME }, 304],
  ["If-Modified-Since: earlier", { "if-modified-since": EARLIER }, [[0, 9]]],
  ["If-Unmodified-Since: the date", { "if-unmodified-since": SAME }, [[0, 9]]],
  ["If-Unmodified-Since: earlier", { "if-unmodified-since": EARLIER }, 412],
  ["If-Range: the tag", { "if-range": "TAG" }, [[0, 9]]],
  ["If-Range: another tag", { "if-range": '"x"' }, 200],
  ["If-Range: the tag made weak", { "if-range": "W/TAG" }, 200],
  ["If-Range: a list is none", { "if-range": 'TAG, "x"' }, 200],
  ["If-Range: any is none", { "if-range": "*" }, 200],
  ["If-Range: the date", { "if-range": SAME }, [[0, 9]]],
  ["If-Range: the date of RFC 850", { "if-range": SAME_RFC850 }, [[0, 9]]],
  ["If-Range: later", { "if-range": LATER }, 200],
  ["If-Range: earlier", { "if-range": EARLIER }, 200],
  ["If-Range: no date", { "if-range": "yesterday" }, 200],
  ["If-Match holds, If-Range does not", { "if-match": "TAG", "if-range": '"x"' }, 200],
  ["If-Match fails, If-Range holds", { "if-match": '"x"', "if-range": "TAG" }, 412],
  ["If-Range, a part behind the end", { range: "bytes=1000-", "if-range": "TAG" }, 416],
  ["If-Range of another version, a part behind the end", { range: "bytes=1000-", "if-range": '"x"' }, 200],
  ["If-Match fails, a part behind the end", { range: "bytes=1000-", "if-match": '"x"' }, 412],
  ["If-None-Match, a part behind the end", { range: "bytes=1000-", "if-none-match": "TAG" }, 304],
  ["If-Range, a suffix", { range: "bytes=-10", "if-range": "TAG" }, [[990, 999]]],
  [
    "If-Range, several parts",
    { range: "bytes=0-9,500-509", "if-range": "TAG" },
    [
      [0, 9],
      [500, 509],
    ],
  ],
  ["If-Range of another version, several parts", { range: "bytes=0-9,500-509", "if-range": '"x"' }, 200],
  ["If-None-Match, several parts", { range: "bytes=0-9,500-509", "if-none-match": "TAG" }, 304],
];

const emptyFile: readonly (readonly [rule: string, fields: Fields, outcome: Outcome])[] = [
  ["whole", {}, 200],
  ["all bytes", { range: "bytes=0-" }, 416],
  ["the first byte", { range: "bytes=0-0" }, 416],
  ["a suffix, which has no range to name", { range: "bytes=-5" }, 200],
  ["a suffix of nothing", { range: "bytes=-0" }, 416],
  ["several parts", { range: "bytes=0-0,5-9" }, 416],
  ["If-None-Match: the tag", { "if-none-match": "TAG", range: "bytes=0-" }, 304],
];

const noFile: readonly Fields[] = [
  {},
  { "if-match": "*" },
  { "if-match": '"x"' },
  { "if-none-match": "*" },
  { "if-modified-since": SAME },
  { "if-unmodified-since": EARLIER },
  { range: "bytes=0-9" },
  { range: "bytes=-9" },
];

/** All of them. */
export const readingRows: readonly ReadingRow[] = [
  ...conditions.flatMap(([rule, fields, outcome]) => [
    { rule, method: "GET", file: "data.bin", fields, outcome } as const,
    { rule, method: "HEAD", file: "data.bin", fields, outcome } as const,
  ]),
  ...ranges.map(([rule, range, outcome]) => ({
    ...({ rule: `Range: ${rule}`, method: "GET", file: "data.bin" } as const),
    fields: { range },
    outcome,
  })),
  ...["bytes=0-9", "bytes=-5", "bytes=0-9,500-509", "bytes=1000-"].map((range) => ({
    ...({ rule: "HEAD ignores Range", method: "HEAD", file: "data.bin", outcome: 200 } as const),
    fields: { range },
  })),
  ...both.map(([rule, fields, outcome]) => ({
    ...({ rule: `with Range, ${rule}`, method: "GET", file: "data.bin" } as const),
    fields: { range: "bytes=0-9", ...fields },
    outcome,
  })),
  ...emptyFile.map(([rule, fields, outcome]) => ({
    ...({ rule: `an empty file, ${rule}`, method: "GET", file: "empty.txt" } as const),
    fields,
    outcome,
  })),
  ...noFile.flatMap((fields) => [
    { rule: "no file", method: "GET", file: "missing", fields, outcome: 404 } as const,
    { rule: "no file", method: "HEAD", file: "missing", fields, outcome: 404 } as const,
  ]),
];

/** The bytes of a file of the table. */
export function contentOf(file: ReadingRow["file"]): Uint8Array {
  return file === "data.bin" ? CONTENT : new Uint8Array(0);
}

/** What a row's answer is to be, in a shape to compare with {@link describeAnswer}. */
export function expectedAnswer({ method, file, outcome }: ReadingRow): unknown {
  const size = contentOf(file).byteLength;
  if (typeof outcome === "number") {
    const isWhole = outcome === 200;
    const hasValidators = isWhole || outcome === 304;
    return {
      status: outcome,
      range: outcome === 416 ? `bytes */${size}` : null,
      hasValidators,
      ...(isWhole && { length: String(size), isAttachment: true }),
      ...(method === "HEAD" || outcome === 304 ? { bytes: 0 } : isWhole && { sent: [[0, size - 1]] }),
    };
  }
  const isOne = outcome.length === 1;
  const [first, last] = outcome[0] ?? [0, 0];
  return {
    status: 206,
    range: isOne ? `bytes ${first}-${last}/${SIZE}` : null,
    hasValidators: true,
    ...(isOne ? { length: String(last - first + 1) } : { hasExactLength: true }),
    isAttachment: true,
    sent: outcome,
  };
}

/** What is compared of an answer. */
export interface ReadingAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;
  header(name: string): string | null;
}

/** Describes an answer: its parts by what they contain, its fields by what they say. */
export function describeAnswer({ method, file }: ReadingRow, { status, bytes, header }: ReadingAnswer): unknown {
  const content = contentOf(file);
  const range = header("content-range");
  const hasValidators = header("etag") !== null && header("last-modified") === SAME;
  const isAttachment = header("content-disposition")?.startsWith("attachment;") && header("accept-ranges") === "bytes";
  const told = { status, range, hasValidators };
  const length = header("content-length");
  if (status === 200) {
    const body = method === "HEAD" ? { bytes: bytes.byteLength } : { sent: [describeBytes(content, bytes, 0)] };
    return { ...told, length, isAttachment, ...body };
  }
  if (status === 206) {
    const type = header("content-type") ?? "";
    if (!type.startsWith("multipart/")) {
      const first = Number(/^bytes (\d+)-/.exec(range ?? "")?.[1]);
      return { ...told, length, isAttachment, sent: [describeBytes(content, bytes, first)] };
    }
    const hasExactLength = length === String(bytes.byteLength);
    return { ...told, hasExactLength, isAttachment, sent: readParts(type, bytes, content) };
  }
  const hasContent = method === "HEAD" || status === 304;
  return { ...told, ...(hasContent && { bytes: bytes.byteLength }) };
}

/** First and last byte, where the bytes are those of the content. */
function describeBytes(content: Uint8Array, bytes: Uint8Array, first: number): unknown {
  const expected = content.subarray(first, first + bytes.byteLength);
  return Buffer.compare(expected, bytes) === 0 ? [first, first + bytes.byteLength - 1] : "other bytes";
}

/** The parts of a `multipart/byteranges` body, read as strictly as it is defined (RFC 2046 5.1.1). */
function readParts(type: string, bytes: Uint8Array, content: Uint8Array): readonly unknown[] {
  const boundary = /^multipart\/byteranges; boundary=([0-9a-f]{32})$/.exec(type)?.[1] ?? "none";
  const text = Buffer.from(bytes).toString("latin1");
  const [preamble, ...parts] = text.split(`\r\n--${boundary}`);
  if (preamble !== "" || parts.pop() !== "--\r\n") return ["no such parts"];
  return parts.map((part) => {
    const head = /^\r\nContent-Type: application\/octet-stream\r\nContent-Range: bytes (\d+)-(\d+)\/(\d+)\r\n\r\n/.exec(
      part,
    );
    if (head === null) return "no such head";
    const [first, last, size] = head.slice(1).map(Number) as [number, number, number];
    const part_ = Buffer.from(part.slice(head[0].length), "latin1");
    if (size !== content.byteLength || part_.byteLength !== last - first + 1) return "another length";
    return describeBytes(content, part_, first);
  });
}
