import { parseFilename } from "../../../src/http/content-disposition.ts";
import { isHttpError } from "../../../src/http/http-error.ts";
import { isMemberName } from "../../../src/http/path-segment.ts";
import { agreeOnLength } from "../../../src/http/uploads/length.ts";
import { parseUploadMetadata } from "../../../src/http/uploads/metadata.ts";
import { asksForResumption, findCreationProtocol, toUploadMethod } from "../../../src/http/uploads/protocol.ts";
import type { UploadAppend, UploadCreation } from "../../../src/http/uploads/request-types.ts";
import { readUploadAccess, readUploadAppend, readUploadCreation } from "../../../src/http/uploads/requests.ts";
import { DIGEST_BYTES } from "../../../src/platform/incremental-digest.ts";
import { asHeaders, expect, expectSame, type FuzzTarget, readFields } from "../target.ts";

const MAX_BYTES = 1000;

/** Lines of the fields of resumable uploads, and `Method`. */
export const target: FuzzTarget = {
  sources: [
    "http/uploads/structured-fields.ts",
    "http/uploads/protocol.ts",
    "http/uploads/requests.ts",
    "http/uploads/tus.ts",
    "http/uploads/draft.ts",
    "http/uploads/metadata.ts",
    "http/uploads/checksum.ts",
    "http/uploads/concat.ts",
    "http/uploads/length.ts",
    "http/content-disposition.ts",
    "platform/text-encoding.ts",
  ],
  dictionary: [
    "Method: POST",
    "Method: PUT",
    "Tus-Resumable: 1.0.0",
    "Content-Type: application/offset+octet-stream",
    "Content-Type: application/partial-upload",
    "Content-Type: application/json",
    "Content-Length: 5",
    "Content-Encoding: gzip",
    "Upload-Length: 10",
    "Upload-Defer-Length: 1",
    "Upload-Offset: 5",
    "Upload-Complete: ?0",
    "Upload-Complete: ?1",
    "Upload-Draft-Interop-Version: 5",
    "Upload-Metadata: filename YS50eHQ=,relativePath eC95",
    "Upload-Checksum: sha1 qvTGHdzF6KLavt4PO0gs2a6pQ00=",
    "Upload-Concat: partial",
    "Upload-Concat: final;/home/__svc__/uploads/0f http://x/a?b#c",
    "Content-Digest: sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:",
    "Repr-Digest: md5=:YQ==:, sha-512=:YQ==:;a=1",
    "Content-Disposition: inline; filename=\"a.txt\"; filename*=UTF-8''%C3%A4",
    "X-HTTP-Method-Override: PATCH",
    "If-Match: *",
    "(1 2)",
    '"a\\"b"',
    "@1",
    '%"%c3%a4"',
    "1.5",
    "-0",
    ", ",
    ";q=0.5",
    "=",
    "*",
  ],
  separators: ["\n", ",", ";", " ", "=", ":", "'"],
  maxLength: 16 * 1024,
  run,
};

async function run(input: string): Promise<string> {
  const fields = readFields(input);
  const headers = asHeaders(fields);
  const method = fields.get("method") ?? "POST";
  const request = { method, headers, url: "http://files.example/home/folder/", body: null } as unknown as Request;
  const seen: string[] = [];
  for (const isFolder of [true, false]) {
    const protocol = findCreationProtocol(request, isFolder);
    expect(protocol !== "draft" || headers.has("upload-complete"), "a field makes a request one of the draft");
    if (protocol !== undefined) seen.push(await orRefusal(() => creation(request, protocol, isFolder)));
  }
  const readers = [() => append(request), () => access(request), () => override(request)];
  for (const read of [...readers, () => disposition(headers), () => metadata(headers)])
    seen.push(await orRefusal(read));
  return `${asksForResumption(headers)} ${seen.join()}`;
}

/** What a reader found, or the code of its refusal. */
async function orRefusal(read: () => string | Promise<string>): Promise<string> {
  try {
    return await read();
  } catch (error) {
    if (!isHttpError(error)) throw error;
    expect(error.code !== error.failure, "a refusal has a code of its own");
    return error.code;
  }
}

async function creation(request: Request, protocol: "tus" | "draft", isFolder: boolean): Promise<string> {
  const found = await readUploadCreation(request, protocol, isFolder);
  expectCommon(found);
  const { name } = found;
  const isPartial = found.protocol === "tus" && found.concat?.kind === "partial";
  expect((name !== undefined) === (isFolder && !isPartial), "what is made in a folder has a name");
  expect(name === undefined || isMemberName(name), "which may be that of a member");
  if (found.protocol === "draft") return `draft ${found.isComplete} ${found.interop} ${found.fileDigests.length}`;
  const { concat } = found;
  if (concat?.kind !== "final") return `tus ${concat?.kind} ${found.hasContent} ${found.length === undefined}`;
  expect(concat.paths.length >= 1 && concat.paths.length <= 1000, "there are some parts, and not too many");
  expect(
    concat.paths.every((path) => path.startsWith("/") || !/^(?:https?:|\/)/i.test(concat.value)),
    "of each there is a path",
  );
  expect(found.length === undefined && !(found.announced ?? 0), "what is joined has neither length nor content");
  return `joined ${Math.min(concat.paths.length, 3)}`;
}

function append(request: Request): string {
  const found = readUploadAppend(request);
  expectCommon(found);
  expect(Number.isSafeInteger(found.offset) && found.offset >= 0, "an offset is a whole number");
  return found.protocol === "tus" ? "append" : `append ${found.isComplete}`;
}

function expectCommon(found: UploadCreation | UploadAppend): void {
  for (const number of [found.length, found.announced]) {
    expect(number === undefined || (Number.isSafeInteger(number) && number >= 0), "a length is a whole number");
  }
  for (const { algorithm, bytes } of found.digests) {
    expect(bytes.byteLength === DIGEST_BYTES[algorithm], "a digest has its size");
  }
  const offset = "offset" in found ? found.offset : 0;
  for (const size of [undefined, 5, found.length]) {
    const length = agree(found, size);
    if (length === "refused") continue;
    expect(size === undefined || length === size, "a length stays");
    expect(offset + (found.announced ?? 0) <= (length ?? MAX_BYTES), "no content goes beyond it");
  }
}

function agree(found: UploadCreation | UploadAppend, size: number | undefined): number | undefined | "refused" {
  try {
    return agreeOnLength(found, { size, maxBytes: MAX_BYTES });
  } catch (error) {
    if (!isHttpError(error)) throw error;
    return "refused";
  }
}

function access(request: Request): string {
  const found = readUploadAccess(request);
  return found.protocol === "tus" ? "tus" : `draft ${found.interop}`;
}

function override(request: Request): string {
  const method = toUploadMethod(request);
  const isSame = method === request.method;
  expect(isSame || (request.method === "POST" && ["PATCH", "DELETE", "HEAD"].includes(method)), "few methods stand in");
  return isSame ? "own" : method;
}

function disposition(headers: Headers): string {
  const value = headers.get("content-disposition");
  if (value === null) return "no name";
  const name = parseFilename(value);
  expect(name === undefined || /filename/i.test(value), "a name has a parameter");
  return name === undefined ? "no name" : "name";
}

function metadata(headers: Headers): string {
  const value = headers.get("upload-metadata");
  if (value === null) return "no metadata";
  const pairs = parseUploadMetadata(value);
  const written = [...pairs].map(([key, bytes]) => `${key} ${Buffer.from(bytes).toString("base64")}`);
  expectSame(
    written,
    value.split(",").map((pair) => (pair.includes(" ") ? pair : `${pair} `)),
    "metadata is the same written again",
  );
  return `metadata ${Math.min(pairs.size, 3)}`;
}
