import type { Readable } from "node:stream";
import busboy from "busboy";
import { isHttpError } from "../../../src/http/http-error.ts";
import { readMultipart } from "../../../src/http/multipart.ts";
import { asHeaders } from "../target.ts";

/*
 * The same form, read by fileferry and by busboy.
 */

/** A form as it comes: the value of its `Content-Type`, and the body in chunks. */
export interface Form {
  readonly type: string;
  readonly chunks: readonly Uint8Array[];
}

/** A complete part, as far as both readers can report it. */
export interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  /** Type and subtype in lower case; `text/plain` if the part has none. */
  readonly type: string;
  /** The bytes, a character each. */
  readonly content: string;
}

/** What a reader makes of a form: its complete parts in order, and whether the form is accepted. */
export interface Reading {
  readonly parts: readonly Part[];
  readonly isAccepted: boolean;
}

export async function readByFileferry({ type, chunks }: Form): Promise<Reading> {
  const parts: Part[] = [];
  async function* body(): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }
  const headers = asHeaders(new Map([["content-type", type]]));
  const request = { body: body(), bodyUsed: false, headers } as unknown as Request;
  try {
    for await (const { name, filename, contentType, body: content } of readMultipart(request)) {
      const bytes: Uint8Array[] = [];
      for await (const chunk of content) bytes.push(chunk);
      parts.push({ name, filename, type: toEssence(contentType), content: Buffer.concat(bytes).toString("latin1") });
    }
    return { parts, isAccepted: true };
  } catch (error) {
    if (!isHttpError(error) || error.failure === "internal") throw error;
    return { parts, isAccepted: false };
  }
}

function toEssence(contentType = "text/plain"): string {
  const [essence = ""] = contentType.split(";", 1);
  return essence.trim().toLowerCase();
}

/** Paths stay in file names, names are UTF-8, and the bytes of fields stay as they are: as fileferry has them. */
const LIKE_FILEFERRY = { preservePath: true, defParamCharset: "utf8", defCharset: "latin1" };

export async function readByBusboy({ type, chunks }: Form): Promise<Reading> {
  const parts: (Part | undefined)[] = [];
  const contents: Promise<void>[] = [];
  let parser: busboy.Busboy;
  try {
    parser = busboy({ ...LIKE_FILEFERRY, headers: { "content-type": type } });
  } catch {
    return { parts: [], isAccepted: false };
  }
  // Its types do not know that a name may be missing.
  parser.on("field", (name: string | undefined, content, { mimeType }) => {
    parts.push({ name: name ?? "", filename: undefined, type: mimeType, content });
  });
  parser.on("file", (name: string | undefined, stream, { filename, mimeType }) => {
    const at = parts.push(undefined) - 1;
    const reading = readStream(stream).then((content) => {
      if (content !== undefined) parts[at] = { name: name ?? "", filename, type: mimeType, content };
    });
    contents.push(reading);
  });
  const isAccepted = await new Promise<boolean>((resolve) => {
    let hasFailed = false;
    parser.on("error", () => {
      hasFailed = true;
    });
    parser.on("close", () => resolve(!hasFailed));
    for (const chunk of chunks) parser.write(chunk);
    parser.end();
  });
  await Promise.all(contents);
  return { parts: parts.filter((part) => part !== undefined), isAccepted };
}

/** The bytes of a stream, a character each; `undefined` if it fails before its end. */
async function readStream(stream: Readable): Promise<string | undefined> {
  try {
    return Buffer.concat(await stream.toArray()).toString("latin1");
  } catch {
    return undefined;
  }
}
