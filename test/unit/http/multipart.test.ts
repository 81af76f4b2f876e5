import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type HttpError, isHttpError } from "../../../src/http/http-error.ts";
import { parsePartHeaders } from "../../../src/http/multipart/part-headers.ts";
import { type MultipartLimits, readMultipart } from "../../../src/http/multipart.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { areMutants } from "../../support/timed.ts";
import { amount } from "../../support/trust.ts";

const TYPE = "multipart/form-data; boundary=B";
const encoder = new TextEncoder();

/** A part as a test sees it. */
interface Read {
  readonly name: string;
  readonly filename?: string | undefined;
  readonly contentType?: string | undefined;
  readonly text: string;
}

function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Cuts bytes into chunks of these lengths, over and over. */
function chunked(bytes: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.byteLength; turn++) {
    const length = lengths[turn % lengths.length] as number;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

function requestOf(chunks: readonly Uint8Array[], type = TYPE, headers: Record<string, string> = {}): Request {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  return { body: body(), headers: new Headers({ "content-type": type, ...headers }) } as unknown as Request;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  for await (const chunk of body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

async function readAll(request: Request, limits?: MultipartLimits): Promise<Read[]> {
  const parts: Read[] = [];
  for await (const { name, filename, contentType, body } of readMultipart(request, limits)) {
    parts.push({ name, filename, contentType, text: await textOf(body) });
  }
  return parts;
}

function read(text: string, type?: string, headers?: Record<string, string>): Promise<Read[]> {
  return readAll(requestOf([bytesOf(text)], type, headers));
}

function part(head: string, content: string): string {
  return `--B\r\n${head}\r\n\r\n${content}\r\n`;
}

function field(name: string, value: string): string {
  return part(`Content-Disposition: form-data; name="${name}"`, value);
}

/** A part without content, and without a line break of its own before the next boundary. */
function emptyField(name: string): string {
  return `--B\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
}

function fileHead(parameters: string): string {
  return `--B\r\nContent-Disposition: form-data; name="f"; ${parameters}\r\n\r\nx\r\n--B--\r\n`;
}

async function errorOf(reading: Promise<unknown>): Promise<HttpError | undefined> {
  try {
    await reading;
    return undefined;
  } catch (error) {
    if (!isHttpError(error)) throw error;
    return error;
  }
}

async function failureOf(reading: Promise<unknown>): Promise<string | undefined> {
  return (await errorOf(reading))?.failure;
}

function malformed(message: string): object {
  return { failure: "malformed", message };
}

describe("readMultipart", () => {
  it("reads fields and files in their order, with names, file names and types (RFC 7578)", async () => {
    const file = 'Content-Disposition: form-data; name="upload-file"; filename="a b.txt"\r\nContent-Type: text/plain';
    expect(await read(`${field("action", "upload-file")}${part(file, "line\r\nline\r\n")}--B--\r\n`)).toEqual([
      { name: "action", text: "upload-file" },
      { name: "upload-file", filename: "a b.txt", contentType: "text/plain", text: "line\r\nline\r\n" },
    ]);
  });

  it("reads a form without any part", async () => {
    expect(await read("--B--\r\n")).toEqual([]);
    expect(await read("--B--")).toEqual([]);
  });

  it("reads an empty part whose boundary directly follows its headers (RFC 2046 5.1.1)", async () => {
    const parts = `${emptyField("a")}${field("b", "1")}${emptyField("c")}${emptyField("d")}`;
    expect(await read(`${parts}--B--`)).toEqual([
      { name: "a", text: "" },
      { name: "b", text: "1" },
      { name: "c", text: "" },
      { name: "d", text: "" },
    ]);
  });

  it("refuses a part whose content begins with its boundary and more text", async () => {
    const text = part('Content-Disposition: form-data; name="a"', "--Bx\r\n\r\n");
    expect(await errorOf(read(`${text}--B--`))).toMatchObject(
      malformed("The form has unexpected text after a boundary."),
    );
  });

  it("skips a preamble, an epilogue, and blanks after a boundary (RFC 2046 5.1.1)", async () => {
    const parts = field("a", "1").replace("--B\r\n", "--B \t\r\n");
    expect(await read(`preamble\r\n--A\r\n\r\n${parts}--B-- \r\nepilogue\r\n--B\r\n`)).toEqual([
      { name: "a", text: "1" },
    ]);
  });

  it.each([
    "multipart/form-data; boundary=B",
    'multipart/form-data; boundary="B"',
    "Multipart/Form-Data;BOUNDARY=B",
    "multipart/form-data ; charset=utf-8 ; boundary=B ; ",
    "multipart/form-data;; boundary=B",
    `multipart/form-data${Array.from({ length: 15 }, (_, index) => `;p${index}=x`).join("")}; boundary=B`,
  ])("finds the boundary in %s", async (type) => {
    expect(await read(`${field("a", "1")}--B--`, type)).toHaveLength(1);
  });

  it("takes each character that a boundary may have, up to 70 (RFC 2046 5.1.1)", async () => {
    for (const boundary of ["'()+_,-./:=? x", "x".repeat(70), "----WebKitFormBoundary7MA4YWxkTrZu0gW"]) {
      const text = `--${boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--${boundary}--`;
      expect(await read(text, `multipart/form-data; boundary="${boundary}"`)).toHaveLength(1);
    }
  });

  it.each([
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary=""',
    'multipart/form-data; boundary="x "',
    'multipart/form-data; boundary="a\\"b"',
    'multipart/form-data; boundary="ü"',
    `multipart/form-data; boundary=${"x".repeat(71)}`,
    "multipart/form-data; boundary=a; boundary=a",
    "multipart/form-data; boundary=a, multipart/form-data; boundary=b",
    "multipart/form-data; boundary=a b",
    "multipart/form-datax; boundary=B",
    "multipart/mixed; boundary=B",
    "multipart/form+data; boundary=B",
    `multipart/form-data${Array.from({ length: 16 }, (_, index) => `;p${index}=x`).join("")}; boundary=B`,
    `multipart/form-data;${Array.from({ length: 30 }, (_, index) => `;p${index}=x`).join("")}; boundary=B`,
  ])("refuses %s", async (type) => {
    expect(await errorOf(read("--B--", type))).toMatchObject(malformed("The form has no valid boundary."));
  });

  it("refuses a body with a content encoding", async () => {
    expect(await read("--B--", TYPE, { "content-encoding": "Identity" })).toEqual([]);
    expect(await errorOf(read("--B--", TYPE, { "content-encoding": "gzip" }))).toMatchObject({
      failure: "unsupported-media-type",
      message: "Content-Encoding is not supported.",
      headers: { "Accept-Encoding": "identity" },
    });
  });

  it("reads what follows the last boundary to its end, so that the client is heard out", async () => {
    let isRead = false;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield bytesOf("--B--\r\n");
      yield bytesOf("epilogue");
      isRead = true;
    }
    const request = { body: body(), headers: new Headers({ "content-type": TYPE }) } as unknown as Request;
    expect(await readAll(request)).toEqual([]);
    expect(isRead).toBe(true);
  });
});

describe("names in a part's head", () => {
  it.each([
    ['filename="a.txt"', "a.txt"],
    ["filename=a.txt", "a.txt"],
    ['filename=""', ""],
    ['filename="%22quoted%22.txt"', '"quoted".txt'],
    ['filename="a%0D%0Ab"', "a\r\nb"],
    ['filename="100%.txt"', "100%.txt"],
    ['filename="%41%2e%2e%2f"', "%41%2e%2e%2f"],
    ['filename="C:\\dir\\a.txt"', "C:\\dir\\a.txt"],
    ['filename="a\\"', "a\\"],
    ['filename="a;b=c.txt"', "a;b=c.txt"],
    ['filename="نص.txt"', "نص.txt"],
    ['filename="👩‍🚀.txt"', "👩‍🚀.txt"],
    ['filename="\ufeffbom.txt"', "\ufeffbom.txt"],
    ['filename="a\u202eb.txt"', "a\u202eb.txt"],
    ['FILENAME="a.txt"; size=3', "a.txt"],
  ])("are taken as browsers send them: %s", async (parameters, filename) => {
    expect(await read(fileHead(parameters))).toEqual([{ name: "f", filename, text: "x" }]);
  });

  it.each([
    ["a name of the file in extended form", "filename*=utf-8''a"],
    ["an extended name beside the plain one", "filename=\"a\"; filename*=utf-8''b"],
    ["a file name given twice", 'filename="a"; filename="b"'],
    ["a quote inside quotes", 'filename="a\\"b.txt"'],
    ["quotes that do not end", 'filename="a'],
    ["something behind the quotes", 'filename="a"b'],
    ["no semicolon", 'filename="a" name2="b"'],
    ["a line break inside quotes", 'filename="a\nb"'],
    ["NUL inside quotes", 'filename="a\0b"'],
  ])("are refused: %s", async (_what, parameters) => {
    expect(await failureOf(read(fileHead(parameters)))).toBe("malformed");
  });

  it("are refused when they are not valid UTF-8", async () => {
    const bytes = bytesOf(fileHead('filename="?"'));
    bytes[bytes.indexOf(0x3f)] = 0xff;
    expect(await errorOf(readAll(requestOf([bytes])))).toMatchObject(
      malformed("The form has a part whose headers are not valid UTF-8."),
    );
  });

  it.each([
    ["no field at all", ""],
    ["no Content-Disposition", "Content-Type: text/plain"],
    ["another disposition", 'Content-Disposition: attachment; name="a"'],
    ["a disposition that only begins so", 'Content-Disposition: form-datax; name="a"'],
    ["no name", "Content-Disposition: form-data"],
    ["two names", 'Content-Disposition: form-data; name="a"; name="b"'],
    ["two dispositions", 'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="b"'],
    ["a folded line", 'Content-Disposition: form-data;\r\n name="a"'],
    ["a line without a colon", 'Content-Disposition: form-data; name="a"\r\nhello'],
    ["a blank before the colon", 'Content-Disposition : form-data; name="a"'],
    [
      "a Kelvin sign in a field's name, which is a k in lower case",
      'X-Mar\u212a: y\r\nContent-Disposition: form-data; name="a"',
    ],
    ["a no-break space before the disposition", 'Content-Disposition:\u00a0form-data; name="a"'],
    ["a byte order mark before the disposition", 'Content-Disposition: \ufeffform-data; name="a"'],
    ["a byte order mark after the disposition", 'Content-Disposition: form-data; name="a"\ufeff'],
    ["a bare line feed", 'Content-Disposition: form-data; name="a"\nX: y'],
    ["a boundary in it", 'Content-Disposition: form-data; name="a"\r\n--B'],
    ["coded content", 'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64'],
    ["thousands of parameters", `Content-Disposition: form-data; name="a"${";x".repeat(9)}${'; y="z"'.repeat(20)}`],
    [
      "a semicolon behind as many parameters as there may be",
      `Content-Disposition: form-data; name="a"${Array.from({ length: 15 }, (_, index) => `; x${index}=y`).join("")};`,
    ],
    ["semicolons without parameters", `Content-Disposition: form-data; name="a"${";".repeat(9)}`],
    [
      "more than 32 fields",
      `Content-Disposition: form-data; name="a"${Array.from({ length: 32 }, (_, index) => `\r\nX-${index}: y`).join("")}`,
    ],
  ])("make no head with %s", async (_what, head) => {
    expect(await failureOf(read(`${part(head, "x")}--B--`))).toBe("malformed");
  });

  it.each([
    ["Content-Type: text/plain", "a part without a valid Content-Disposition"],
    ['Content-Disposition: form-data; name="a"; name="b"', "a part without a valid Content-Disposition"],
    ['Content-Disposition: form-data; filename="a"', "a part without a name"],
    [
      "Content-Disposition: form-data; name=\"a\"; filename*=utf-8''a",
      "a part with a filename* parameter (RFC 7578 4.2)",
    ],
    [
      'Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: base64',
      "a part with a Content-Transfer-Encoding",
    ],
    ['Content-Disposition: form-data; name="a"\r\nhello', "a part with malformed headers"],
    [
      `Content-Disposition: form-data; name="a"${Array.from({ length: 32 }, (_, index) => `\r\nX-${index}: y`).join("")}`,
      "a part with malformed headers",
    ],
  ])("are told what is wrong with them: %.60j", async (head, what) => {
    expect(await errorOf(read(`${part(head, "x")}--B--`))).toMatchObject(malformed(`The form has ${what}.`));
  });

  it.each(["7bit", "8BIT", "binary"])("stand beside content that is %s, which is no coding", async (encoding) => {
    const head = `Content-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: ${encoding}`;
    expect(await read(`${part(head, "x")}--B--`)).toEqual([{ name: "a", text: "x" }]);
  });

  it.each([
    [" \ttext/plain\t ", "text/plain"],
    ["\ufefftext/plain\u00a0", "\ufefftext/plain\u00a0"],
  ])("lose only the spaces and tabs around a value (RFC 9110 5.6.3): %j", async (value, contentType) => {
    const head = `Content-Disposition: form-data; name="a"\r\nContent-Type:${value}`;
    expect(await read(`${part(head, "x")}--B--`)).toEqual([{ name: "a", contentType, text: "x" }]);
  });

  it("stand alone where the part has no more to say", () => {
    const head = parsePartHeaders(bytesOf('\r\nContent-Disposition: form-data; name="a"'));
    expect(head).toStrictEqual({ name: "a" });
  });

  it("may have further fields, which mean nothing", async () => {
    const head = 'X-Any: thing\r\ncontent-disposition:form-data;name="a"\r\nContent-Transfer-Encoding: Binary';
    expect(await read(`${part(head, "x")}--B--`)).toEqual([{ name: "a", text: "x" }]);
  });
});

describe("a form that is cut or odd", () => {
  const form = `${field("a", "1")}${part('Content-Disposition: form-data; name="f"; filename="x"', "content")}--B--`;

  it("is refused wherever it is cut before its last boundary, and its parts are whole or refused", async () => {
    for (let end = 0; end < form.length; end++) {
      const whole: string[] = [];
      const reading = (async () => {
        for await (const { body } of readMultipart(requestOf([bytesOf(form.slice(0, end))]))) {
          whole.push(await textOf(body));
        }
      })();
      expect(await errorOf(reading), form.slice(0, end)).toMatchObject(
        malformed("The form is incomplete: it ends before its last boundary."),
      );
      expect(["1", "content"].slice(0, whole.length)).toEqual(whole);
    }
  });

  it.each([
    ["a dash and another text behind a boundary", "--B -\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"],
    ["a byte order mark behind a boundary", "--B\ufeff\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"],
    ["another text behind a boundary", "--Bx\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"],
    ["one dash behind a boundary", "--B-\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--B--"],
    ["no boundary", "hello"],
    ["boundaries inside lines", "x--B\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\nx--B--"],
    ["line feeds alone", "--B\nContent-Disposition: form-data; name=a\n\n1\n--B--"],
    ["nothing", ""],
  ])("is refused: %s", async (_what, text) => {
    expect(await failureOf(read(text))).toBe("malformed");
  });

  it("is told what stands behind a boundary of it", async () => {
    expect(await errorOf(read("--Bx\r\n\r\n"))).toMatchObject(
      malformed("The form has unexpected text after a boundary."),
    );
  });

  it("is refused when its body breaks off with an error", async () => {
    async function* body(): AsyncGenerator<Uint8Array> {
      yield bytesOf(form.slice(0, 90));
      throw new Error("the client went away");
    }
    const request = { body: body(), headers: new Headers({ "content-type": TYPE }) } as unknown as Request;
    expect(await failureOf(readAll(request))).toBe("malformed");
  });

  it("may hold 1,000 parts, and no more (SECURITY 12)", async () => {
    expect(await read(`${field("a", "1").repeat(1000)}--B--`)).toHaveLength(1000);
    expect(await failureOf(read(`${field("a", "1").repeat(1001)}--B--`))).toBe("malformed");
    expect(await errorOf(readAll(requestOf([bytesOf(form)]), { maxParts: 1 }))).toMatchObject(
      malformed("The form has more than 1 parts."),
    );
  });

  it("may have heads of 16 KiB, and no more (SECURITY 12)", async () => {
    const withHead = (length: number) => {
      const head = 'Content-Disposition: form-data; name="a"\r\nX: ';
      return `${part(head + "x".repeat(length - head.length - 6), "1")}--B--`;
    };
    expect(await read(withHead(16 * 1024))).toHaveLength(1);
    expect(await errorOf(read(withHead(16 * 1024 + 1)))).toMatchObject(
      malformed("The form has a part with headers of more than 16384 bytes."),
    );
    expect(await failureOf(read(withHead(17 * 1024)))).toBe("malformed");
    expect(await failureOf(read(`--B\r\nX: ${"x".repeat(1024 * 1024)}`))).toBe("malformed");
  });
});

describe("parts", () => {
  const form = `${field("a", "first\r\n-".repeat(500))}${field("b", "second")}--B--`;

  it("that are left are passed over", async () => {
    const names: string[] = [];
    for await (const { name, body } of readMultipart(requestOf(chunked(bytesOf(form), [7])))) {
      names.push(name);
      for await (const _chunk of body) break;
    }
    expect(names).toEqual(["a", "b"]);
  });

  it("never end well for a reader that comes too late", async () => {
    const bodies: AsyncIterable<Uint8Array>[] = [];
    for await (const { body } of readMultipart(requestOf(chunked(bytesOf(form), [7])))) bodies.push(body);
    for (const body of bodies) {
      expect(await errorOf(textOf(body))).toMatchObject(malformed("The part was skipped."));
    }
  });

  it("does not mix with what a late reader of the previous part still waits for", async () => {
    const parts = readMultipart(requestOf(chunked(bytesOf(form), [7])));
    const first = await parts.next();
    const reader = first.value?.body[Symbol.asyncIterator]();
    const left = reader?.next();
    const second = await parts.next();
    expect(await textOf(second.value?.body as AsyncIterable<Uint8Array>)).toBe("second");
    expect((await left)?.done).toBe(false);
    await expect(reader?.next()).rejects.toThrow();
  });

  it("are read no faster than they are asked for, a chunk at a time", async () => {
    let pulled = 0;
    let isReleased = false;
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        yield bytesOf('--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n');
        for (;;) {
          pulled++;
          yield new Uint8Array(1000);
        }
      } finally {
        isReleased = true;
      }
    }
    const request = { body: body(), headers: new Headers({ "content-type": TYPE }) } as unknown as Request;
    let taken = 0;
    for await (const { body: content } of readMultipart(request)) {
      for await (const chunk of content) {
        expect(chunk.byteLength).toBe(1000);
        expect(pulled).toBe(++taken);
        if (taken === 5) break;
      }
      break;
    }
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(isReleased).toBe(true);
  });

  it("are handed out as views of the chunks, without a copy", async () => {
    const bytes = bytesOf(form);
    for await (const { body } of readMultipart(requestOf([bytes]))) {
      for await (const chunk of body) expect(chunk.buffer).toBe(bytes.buffer);
    }
  });
});

describe("for any chunks", () => {
  const piece = fc.constantFrom(
    "\r\n--B",
    "\r\n--",
    "\r\n-",
    "\r\n",
    "\r",
    "\n",
    "--",
    "B",
    "--B",
    "\r\r\n--b",
    "x",
    "é",
    "\0",
  );
  const content = fc
    .array(piece, { maxLength: 30 })
    .map((pieces) => pieces.join(""))
    .filter((text) => !`\r\n${text}\r\n`.includes("\r\n--B"));

  it("the parts are the same", async () => {
    const contents = fc.array(fc.option(content, { nil: undefined }), { maxLength: 6 });
    const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(contents, lengths, async (texts, cuts) => {
        const written = texts.map((text, index) => (text === undefined ? emptyField : field)(`f${index}`, text ?? ""));
        const bytes = bytesOf(`${written.join("")}--B--\r\n`);
        const parts = await readAll(requestOf(chunked(bytes, cuts)));
        expect(parts).toEqual(texts.map((text, index) => ({ name: `f${index}`, text: text ?? "" })));
      }),
      { numRuns: amount({ short: 50, ci: 100, long: 300 }) },
    );
  });

  // A content that begins like the rest of the delimiter, after the line break that ends the headers.
  const beginnings = ["", "-", "--A", "\r\n", "-\r\n--"];
  it.each<[what: string, part: string, text: string]>([
    ["no content, and no line break before the boundary", emptyField("a"), ""],
    ...beginnings.map<[string, string, string]>((text) => [
      `the content ${JSON.stringify(text)}`,
      field("a", text),
      text,
    ]),
  ])("the parts are the same in any two or three chunks: %s", async (_what, part, text) => {
    const bytes = bytesOf(`${part}${part}--B--`);
    const expected = [
      { name: "a", text },
      { name: "a", text },
    ];
    const unlike: string[] = [];
    for (let first = 0; first <= bytes.byteLength; first++) {
      for (let second = first; second <= bytes.byteLength; second++) {
        const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        const parts = await readAll(requestOf(chunks.filter(({ byteLength }) => byteLength > 0)));
        if (JSON.stringify(parts) !== JSON.stringify(expected)) unlike.push(`${first}, ${second}`);
      }
    }
    expect(unlike).toEqual([]);
  });

  it("the parts are the same byte by byte, and in chunks that end after each byte of a boundary", async () => {
    const texts = ["", "\r", "\r\n", "\r\n-", "\r\n--", "\r\n--A", "\r\r\n--", "\r\n\r\n--\r\n--C"];
    const bytes = bytesOf(`${texts.map((text, index) => field(`f${index}`, text)).join("")}--B--\r\n`);
    const expected = texts.map((text, index) => ({ name: `f${index}`, text }));
    expect(await readAll(requestOf(chunked(bytes, [1])))).toEqual(expected);
    for (let cut = 1; cut < bytes.byteLength; cut++) {
      expect(await readAll(requestOf([bytes.subarray(0, cut), new Uint8Array(0), bytes.subarray(cut)]))).toEqual(
        expected,
      );
    }
  });

  it("any bytes come out as they went in", async () => {
    const head = bytesOf('--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n');
    const bytes = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.integer({ min: 1, max: 50 }), async (data, length) => {
        const whole = Buffer.concat([head, data, bytesOf("\r\n--B--")]);
        const found: Uint8Array[] = [];
        for await (const { body } of readMultipart(requestOf(chunked(whole, [length])))) {
          for await (const chunk of body) {
            expect(chunk.byteLength).toBeGreaterThan(0);
            found.push(chunk);
          }
        }
        expect(Buffer.concat(found).equals(data)).toBe(true);
      }),
      { numRuns: amount({ short: 30, ci: 60, long: 200 }) },
    );
  });
});

describe.skipIf(areMutants)("hostile content", () => {
  const long = `${"a".repeat(69)}b`;
  const MIB = 1024 * 1024;

  /** A flood of `unit`, in one part of a form whose boundary is `boundary`. */
  function flood(unit: string, boundary: string, size = 8 * MIB): Uint8Array {
    const before = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n`;
    return bytesOf(`${before}${unit.repeat(Math.ceil(size / unit.length))}\r\n--${boundary}--`);
  }

  async function timeOf(bytes: Uint8Array, boundary: string, length: number): Promise<number> {
    const request = requestOf(chunked(bytes, [length]), `multipart/form-data; boundary=${boundary}`);
    const elapsed = startProcessorTime();
    let size = 0;
    for await (const { body } of readMultipart(request)) for await (const chunk of body) size += chunk.byteLength;
    expect(size).toBeGreaterThan(bytes.byteLength - 300);
    return elapsed();
  }

  it.each([
    ["CRLF", "\r\n", "B"],
    ["CR", "\r", "B"],
    ["beginnings of the boundary", `\r\n--${"a".repeat(69)}`, long],
    ["beginnings of a boundary that repeats itself", `\r\n--${"a".repeat(60)}`, "a".repeat(70)],
    ["the boundary without its line break", `${"a".repeat(70)}--`, "a".repeat(70)],
    ["the boundary's last byte", "a", "a".repeat(70)],
    ["boundaries behind line feeds alone", `\n--${long}`, long],
  ])("costs no more than other content, by the byte: %s (SECURITY 12)", async (_what, unit, boundary) => {
    const bytes = flood(unit, boundary);
    expect(await timeOf(bytes, boundary, 64 * 1024)).toBeLessThan(1000);
    expect(await timeOf(flood(unit, boundary, MIB / 4), boundary, 1)).toBeLessThan(3000);
  });

  it("costs no more before the first boundary, after the last one, or in part headers", async () => {
    const elapsed = startProcessorTime();
    expect(await readAll(requestOf(chunked(bytesOf(`${"\r\n".repeat(MIB)}--B--`), [4096])))).toEqual([]);
    expect(await readAll(requestOf(chunked(bytesOf(`--B--${"\r\n--B".repeat(MIB)}`), [4096])))).toEqual([]);
    const heads = part(`Content-Disposition: form-data; name="a"${"; ".repeat(4000)}x${" ".repeat(4000)};`, "1");
    expect(await failureOf(read(heads.repeat(900)))).toBe("malformed");
    const blanks = part(`Content-Disposition: form-data; name="a"${" ".repeat(16_000)}`, "1");
    expect(await read(`${blanks.repeat(900)}--B--`)).toHaveLength(900);
    expect(elapsed()).toBeLessThan(5000);
  });
});
