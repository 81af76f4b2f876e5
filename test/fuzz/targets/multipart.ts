import { isHttpError } from "../../../src/http/http-error.ts";
import { parseBoundary } from "../../../src/http/multipart/part-headers.ts";
import { type FormPart, readMultipart } from "../../../src/http/multipart.ts";
import { FORM_ACTIONS, receiveForm } from "../../../src/uploads/form.ts";
import { createFormFiles } from "../../../src/uploads/form-files.ts";
import { createRandom, seedOf } from "../random.ts";
import { asHeaders, cutLine, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";

/** A line with the `Content-Type`, and the body. */
export const target: FuzzTarget = {
  sources: [
    "http/multipart.ts",
    "http/multipart/part-headers.ts",
    "http/multipart/delimiter-search.ts",
    "http/optional-whitespace.ts",
    "uploads/form.ts",
    "uploads/form-files.ts",
  ],
  dictionary: [
    "--B",
    "\r\n--B",
    "\r\n--B\r\n",
    "\r\n--B--\r\n",
    "--B--",
    "--",
    "\r\n\r\n",
    "\r",
    'Content-Disposition: form-data; name="action"\r\n\r\nupload-file',
    'Content-Disposition: form-data; name="upload-file"; filename="a.txt"\r\n\r\nx',
    'Content-Disposition: form-data; name="upload-file"; filename=""\r\n\r\n',
    "Content-Disposition: form-data; name=new-folder\r\n\r\nx",
    "Content-Type: text/plain\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Content-Transfer-Encoding: 8bit\r\n",
    "; filename*=UTF-8''x",
    '; filename="C:\\\\x\\\\b.txt"',
    '; filename="../a"',
    "%22",
    "%0D%0A",
    "create-folder",
    "delete-members",
    "selected-members",
    "multipart/form-data; boundary=B",
    '; boundary="B"',
    ";",
    "=",
    '"',
  ],
  separators: ["\r\n", "--B", ";", ":", "\r\n\r\n"],
  maxLength: 48 * 1024,
  run,
};

/** What a form came to: its whole parts, and how it ended. */
interface Reading {
  readonly parts: readonly { readonly head: unknown; readonly content: string }[];
  readonly end: string;
}

async function run(input: string): Promise<string> {
  const [type, body] = cutLine(input);
  const bytes = toBytes(body);
  const whole = await read(type, [bytes]);
  const random = createRandom(seedOf(input));
  const most = 1 + random.below(body.length < 2048 ? 4 : 4096);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const length = random.below(most + 1);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  expectSame(await read(type, chunks), whole, "a form is the same however it is cut into chunks");
  expectSame(
    await read(type, chunks, false),
    { ...whole, parts: whole.parts.map(({ head }) => ({ head, content: "" })) },
    "and when nobody reads its parts",
  );
  expectPlain(whole, type, body);
  const form = await receive(type, bytes);
  return `${Math.min(whole.parts.length, 5)} ${whole.end}; ${form}`;
}

function requestOf(type: string, chunks: readonly Uint8Array[]): Request {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  return { body: body(), bodyUsed: false, headers: asHeaders(new Map([["content-type", type]])) } as unknown as Request;
}

async function read(type: string, chunks: readonly Uint8Array[], readsParts = true): Promise<Reading> {
  const parts: { head: unknown; content: string }[] = [];
  /** The last one may have been cut. */
  let open: { head: unknown; content: string } | undefined;
  try {
    for await (const { body, ...head } of readMultipart(requestOf(type, chunks))) {
      if (open !== undefined) parts.push(open);
      open = { head, content: "" };
      if (readsParts) for await (const chunk of body) open.content += Buffer.from(chunk).toString("latin1");
    }
    if (open !== undefined) parts.push(open);
    return { parts, end: "whole" };
  } catch (error) {
    return { parts, end: toRefusal(error) };
  }
}

/** A refusal's own words; anything else that is thrown is a defect. */
function toRefusal(error: unknown): string {
  if (!isHttpError(error) || error.failure === "internal") throw error;
  return error.message;
}

/** Finds the same parts by looking for the delimiter in the whole. */
function expectPlain({ parts, end }: Reading, type: string, body: string): void {
  let boundary: string;
  try {
    boundary = parseBoundary(type);
  } catch {
    expect(parts.length === 0 && end !== "whole", "nothing is read without a boundary");
    return;
  }
  const delimiter = `\r\n--${boundary}`;
  const text = `\r\n${body}`;
  const contents: string[] = [];
  let isClosed = false;
  for (let at = text.indexOf(delimiter); at >= 0; ) {
    at += delimiter.length;
    isClosed = text.startsWith("--", at);
    const head = text.indexOf("\r\n\r\n", at);
    // The line break that ends the head may be the one that begins the next delimiter (RFC 2046 5.1.1).
    const next = head < 0 ? -1 : text.indexOf(delimiter, head + 2);
    if (isClosed || next < 0) break;
    contents.push(text.slice(head + 4, next));
    at = next;
  }
  const found = parts.map(({ content }) => content);
  if (end === "whole") expect(isClosed, "a form is whole that ends at its last boundary");
  expectSame(
    found,
    contents.slice(0, end === "whole" ? undefined : found.length),
    "the parts stand between boundaries",
  );
}

/** Reads the same as a folder's form: nothing is stored but by the one action, and only under names. */
async function receive(type: string, bytes: Uint8Array): Promise<string> {
  const stored = new Set<string>();
  const permits = { holdFiles: () => undefined, holdBytes: () => undefined };
  const files = createFormFiles({
    permits,
    signal: undefined,
    async write(name, content) {
      expect(name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name), "a file of a form has a name");
      for await (const _ of content);
      expect(!stored.has(name), "no file of a form replaces another");
      stored.add(name);
    },
  });
  const parts: AsyncIterable<FormPart> = readMultipart(requestOf(type, [bytes]));
  try {
    const { action } = await receiveForm(parts, files, {
      isAction: (name) => (FORM_ACTIONS as readonly string[]).includes(name),
      maxFieldBytes: 1024 * 1024,
      permits,
    });
    expect(stored.size === 0 || action === "upload-file", "files are stored by the one action");
    const kept = files.outcomes().filter(({ error }) => error === undefined);
    expect(kept.length === stored.size, "what is told as stored is");
    return `${action} ${Math.min(stored.size, 3)}`;
  } catch (error) {
    return toRefusal(error);
  }
}
