import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readUploadAppend, readUploadCreation } from "../../../../src/http/uploads/requests.ts";
import { base64, refusalOf, toRequest } from "./refusals.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const PART = { "Content-Type": "application/offset+octet-stream" };
const NAMED = { ...TUS, "Upload-Metadata": `filename ${base64("a.txt")}` };
const CREATION = { ...NAMED, "Upload-Length": "5" };
const APPEND = { ...TUS, ...PART, "Upload-Offset": "0" };
const MD5 = createHash("md5").update("hello").digest();

interface Sent {
  readonly body?: string;
  readonly isFolder?: boolean;
}

function create(headers: HeadersInit, { body, isFolder = true }: Sent = {}) {
  return readUploadCreation(toRequest("POST", headers, body === undefined ? {} : { body }), "tus", isFolder);
}

function append(headers: HeadersInit, body?: string) {
  return readUploadAppend(toRequest("PATCH", headers, body === undefined ? {} : { body }));
}

/** Without the fields of a request whose value is undefined. */
function but(
  headers: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>>,
): HeadersInit {
  const all = Object.entries({ ...headers, ...changes });
  return all.filter((pair): pair is [string, string] => pair[1] !== undefined);
}

describe("a creation by tus (R 3.2, 3.3)", () => {
  it("tells the length, the name and the metadata as they came", async () => {
    const metadata = `${CREATION["Upload-Metadata"]},relativePath ${base64("x/y")}`;
    expect(await create({ ...CREATION, "Upload-Metadata": metadata })).toEqual({
      protocol: "tus",
      name: "a.txt",
      length: 5,
      announced: 0,
      digests: [],
      hasContent: false,
      metadata,
      concat: undefined,
    });
  });

  it("may defer the length", async () => {
    expect(await create({ ...NAMED, "Upload-Defer-Length": "1" })).toMatchObject({ length: undefined });
    expect(await create({ ...CREATION, "Upload-Length": "999999999999999" })).toMatchObject({
      length: 999999999999999,
    });
  });

  it("on the URL of a file has its name there", async () => {
    expect(await create({ ...TUS, "Upload-Length": "0" }, { isFolder: false })).toMatchObject({
      name: undefined,
      metadata: undefined,
      length: 0,
    });
  });

  it("may have the first bytes, and their checksum", async () => {
    const headers = { ...CREATION, ...PART, "Content-Length": "5", "Upload-Checksum": `md5 ${base64(MD5)}` };
    expect(await create(headers, { body: "hello" })).toMatchObject({
      hasContent: true,
      announced: 5,
      digests: [{ algorithm: "md5", bytes: Uint8Array.from(MD5) }],
    });
    expect(await create({ ...CREATION, ...PART }, { body: "hello" })).toMatchObject({ announced: undefined });
  });

  it.each<[refusal: string, changes: Record<string, string | undefined>, sent?: Sent]>([
    ["412 upload-version-unsupported", { "Tus-Resumable": "0.2.2", "Upload-Length": "x" }],
    ["415 content-encoding-unsupported", { "Content-Encoding": "gzip", "Upload-Length": "x" }],
    [
      "415 upload-media-type",
      { "Content-Type": "text/plain", "Content-Length": "5", "Upload-Length": "x" },
      { body: "hello" },
    ],
    ["415 upload-media-type", { "Content-Type": undefined, "Content-Length": "5" }, { body: "hello" }],
    ["415 upload-media-type", { "Content-Type": "application/partial-upload" }, { body: "hello" }],
    ["400 upload-length-missing", { "Upload-Length": undefined }],
    ["400 upload-length-missing", { "Upload-Defer-Length": "1" }],
    ["400 upload-length-missing", { "Upload-Length": undefined, "Upload-Defer-Length": "0" }],
    ["400 upload-length-missing", { "Upload-Length": undefined, "Upload-Defer-Length": "1, 1" }],
    ["400 upload-length-invalid", { "Upload-Length": "5, 5" }],
    ["400 upload-length-invalid", { "Upload-Length": "" }],
    ["400 upload-length-invalid", { "Upload-Length": "-1" }],
    ["400 upload-length-invalid", { "Upload-Length": "+5" }],
    ["400 upload-length-invalid", { "Upload-Length": "5.0" }],
    ["400 upload-length-invalid", { "Upload-Length": "1000000000000000" }],
    ["400 upload-metadata-invalid", { "Upload-Metadata": "filename !" }],
    ["400 upload-metadata-invalid", { "Upload-Metadata": "filename !" }, { isFolder: false }],
    ["400 upload-name-missing", { "Upload-Metadata": undefined }],
    ["400 name-invalid", { "Upload-Metadata": `filename ${base64("../a")}` }],
    ["400 upload-checksum-invalid", { "Upload-Checksum": "md5" }],
    ["400 content-length-invalid", { ...PART, "Content-Length": "-5" }, { body: "hello" }],
    ["400 upload-concat-invalid", { "Upload-Concat": "final" }],
  ])("is %s with %j", async (refusal, changes, sent) => {
    expect(await refusalOf(() => create(but(CREATION, changes), sent))).toBe(refusal);
  });

  it("of a partial upload needs no name, but a length (R 3.13)", async () => {
    const partial = { ...TUS, "Upload-Concat": "partial" };
    expect(await create({ ...partial, "Upload-Length": "5" })).toMatchObject({
      name: undefined,
      length: 5,
      concat: { kind: "partial" },
    });
    expect(await refusalOf(() => create(partial))).toBe("400 upload-length-missing");
  });

  it("that joins uploads has a name, no length and no content (R 3.13)", async () => {
    const final = { ...NAMED, "Upload-Concat": "final;/a" };
    expect(await create(final)).toMatchObject({ name: "a.txt", length: undefined, concat: { paths: ["/a"] } });
    expect(await create({ ...final, ...PART, "Content-Length": "0" })).toMatchObject({ announced: 0 });
    for (const field of ["Upload-Length", "Upload-Defer-Length"]) {
      expect(await refusalOf(() => create({ ...final, [field]: "1" }))).toBe("400 upload-length-missing");
    }
    expect(await refusalOf(() => create({ ...TUS, "Upload-Concat": "final;/a" }))).toBe("400 upload-name-missing");
    expect(await refusalOf(() => create({ ...final, ...PART }, { body: "hello" }))).toBe("403 upload-concat-content");
  });
});

describe("an append by tus (R 3.5, 3.6)", () => {
  it("tells its offset, and what it announces", () => {
    expect(append({ ...APPEND, "Content-Length": "5", "Upload-Length": "10" }, "hello")).toEqual({
      protocol: "tus",
      offset: 0,
      length: 10,
      announced: 5,
      digests: [],
    });
    expect(append({ ...APPEND, "Upload-Offset": "070" })).toMatchObject({
      offset: 70,
      length: undefined,
      announced: 0,
    });
    expect(append(APPEND, "hello")).toMatchObject({ announced: undefined });
  });

  it.each<[refusal: string, changes: Record<string, string | undefined>]>([
    ["415 upload-media-type", { "Content-Type": undefined, "Upload-Offset": undefined }],
    ["415 upload-media-type", { "Content-Type": "application/octet-stream" }],
    ["415 upload-media-type", { "Content-Type": "application/partial-upload" }],
    ["415 content-encoding-unsupported", { "Content-Encoding": "gzip", "Upload-Offset": undefined }],
    ["400 upload-offset-invalid", { "Upload-Offset": undefined }],
    ["400 upload-offset-invalid", { "Upload-Offset": "" }],
    ["400 upload-offset-invalid", { "Upload-Offset": "1, 1" }],
    ["400 upload-offset-invalid", { "Upload-Offset": "-0" }],
    ["400 upload-offset-invalid", { "Upload-Offset": "?1" }],
    ["400 upload-length-invalid", { "Upload-Length": "10 " + "0" }],
    ["400 upload-checksum-invalid", { "Upload-Checksum": "sha1 x" }],
    ["400 content-length-invalid", { "Content-Length": "5, 5" }],
  ])("is %s with %j", async (refusal, changes) => {
    expect(await refusalOf(() => append(but(APPEND, changes)))).toBe(refusal);
  });
});
