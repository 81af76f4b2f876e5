import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readUploadAppend, readUploadCreation } from "../../../../src/http/uploads/requests.ts";
import { base64, refusalOf, toRequest } from "./refusals.ts";

const SHA256 = createHash("sha256").update("hello").digest();
const DIGEST = { algorithm: "sha256", bytes: Uint8Array.from(SHA256) };
const DIGEST_VALUE = `sha-256=:${base64(SHA256)}:`;
const PART = "application/partial-upload";
const APPEND = { "Upload-Offset": "5", "Upload-Complete": "?0", "Content-Type": PART };

interface Sent {
  readonly body?: string;
  readonly isFolder?: boolean;
}

function create(headers: HeadersInit, { body, isFolder = false }: Sent = {}) {
  return readUploadCreation(toRequest("POST", headers, body === undefined ? {} : { body }), "draft", isFolder);
}

function append(headers: HeadersInit, body?: string) {
  return readUploadAppend(toRequest("PATCH", headers, body === undefined ? {} : { body }));
}

describe("a creation by the draft (R 4.1, 4.3)", () => {
  it("may be empty, and tell the length or not", async () => {
    const headers = { "Upload-Complete": "?0", "Upload-Draft-Interop-Version": "6", "Upload-Length": "10" };
    expect(await create(headers)).toEqual({
      protocol: "draft",
      interop: 6,
      name: undefined,
      isComplete: false,
      length: 10,
      announced: 0,
      digests: [],
      fileDigests: [],
    });
    expect(await create({ "Upload-Complete": "?0" })).toMatchObject({ interop: undefined, length: undefined });
  });

  it("with the complete content tells the length by Content-Length", async () => {
    const complete = { "Upload-Complete": "?1", "Content-Length": "5" };
    expect(await create(complete, { body: "hello" })).toMatchObject({ isComplete: true, length: 5, announced: 5 });
    expect(await create({ ...complete, "Upload-Length": "5" }, { body: "hello" })).toMatchObject({ length: 5 });
    expect(await create({ "Upload-Complete": "?1" }, { body: "hello" })).toMatchObject({
      length: undefined,
      announced: undefined,
    });
    expect(await create({ ...complete, "Upload-Complete": "?0" }, { body: "hello" })).toMatchObject({
      length: undefined,
      announced: 5,
    });
    for (const length of ["4", "6"]) {
      const headers = { ...complete, "Upload-Length": length };
      expect(await refusalOf(() => create(headers, { body: "hello" }))).toBe("400 upload-length-inconsistent");
    }
  });

  it("ignores a length that cannot be parsed (R 2.3)", async () => {
    for (const length of ["-1", "1.0", "ten", "5, 5", ""]) {
      expect(await create({ "Upload-Complete": "?0", "Upload-Length": length })).toMatchObject({ length: undefined });
    }
  });

  it.each<[name: string, headers: Record<string, string>]>([
    ["a.txt", { "Content-Disposition": "inline; filename=a.txt" }],
    ["ä.txt", { "Content-Disposition": `inline; filename="a.txt"; filename*=UTF-8''%C3%A4.txt` }],
    ["a.txt", { "Content-Disposition": 'attachment; filename="a.txt"', "Upload-Metadata": "malformed !" }],
    ["m.txt", { "Upload-Metadata": `filename ${base64("m.txt")}` }],
    ["m.txt", { "Content-Disposition": "inline", "Upload-Metadata": `filename ${base64("m.txt")}` }],
  ])("on the URL of a folder names %s with %j (R 1.4)", async (name, headers) => {
    expect(await create({ "Upload-Complete": "?0", ...headers }, { isFolder: true })).toMatchObject({ name });
    expect(await create({ "Upload-Complete": "?0", ...headers })).toMatchObject({ name: undefined });
  });

  it.each<[refusal: string, headers: Record<string, string>]>([
    ["400 upload-name-missing", {}],
    ["400 upload-name-missing", { "Content-Disposition": "inline" }],
    ["400 name-invalid", { "Content-Disposition": "inline; filename=.." }],
    ["400 name-invalid", { "Content-Disposition": "inline; filename*=UTF-8''a%2Fb" }],
    ["400 name-invalid", { "Content-Disposition": 'inline; filename=""' }],
    ["400 upload-disposition-invalid", { "Content-Disposition": "inline; filename=a; filename=b" }],
    ["400 upload-metadata-invalid", { "Upload-Metadata": "filename !" }],
    ["415 content-encoding-unsupported", { "Content-Encoding": "gzip" }],
    ["400 upload-complete-invalid", { "Upload-Complete": "?2" }],
    ["400 upload-digest-invalid", { "Content-Disposition": "inline; filename=a", "Content-Digest": "sha-256=x" }],
  ])("is %s with %j", async (refusal, headers) => {
    expect(await refusalOf(() => create({ "Upload-Complete": "?0", ...headers }, { isFolder: true }))).toBe(refusal);
  });

  it("has digests of its content, and of the file if it has all of it (R 4.8)", async () => {
    const digests = { "Content-Digest": DIGEST_VALUE, "Repr-Digest": DIGEST_VALUE };
    expect(await create({ "Upload-Complete": "?1", ...digests })).toMatchObject({
      digests: [DIGEST],
      fileDigests: [DIGEST],
    });
    expect(await create({ "Upload-Complete": "?0", ...digests, "Repr-Digest": "malformed!" })).toMatchObject({
      digests: [DIGEST],
      fileDigests: [],
    });
    const malformed = { "Upload-Complete": "?1", "Repr-Digest": "malformed!" };
    expect(await refusalOf(() => create(malformed))).toBe("400 upload-digest-invalid");
  });
});

describe("an append by the draft (R 4.4)", () => {
  it("tells its offset, and whether the file is complete with it", () => {
    expect(append({ ...APPEND, "Content-Length": "5", "Content-Digest": DIGEST_VALUE }, "hello")).toEqual({
      protocol: "draft",
      interop: undefined,
      offset: 5,
      isComplete: false,
      length: undefined,
      announced: 5,
      digests: [DIGEST],
      fileDigests: [],
    });
    const last = { ...APPEND, "Upload-Complete": "?1", "Upload-Length": "5", "Upload-Draft-Interop-Version": "8" };
    expect(append(last)).toMatchObject({ interop: 8, isComplete: true, length: 5, announced: 0 });
    expect(append({ ...APPEND, "Upload-Draft-Interop-Version": "99" })).toMatchObject({ interop: undefined });
  });

  it("needs its media type, except by version 5, which had none", async () => {
    const typed = (type: string | undefined, version: string) =>
      refusalOf(() =>
        append({
          "Upload-Offset": "5",
          "Upload-Complete": "?0",
          "Upload-Draft-Interop-Version": version,
          ...(type !== undefined && { "Content-Type": type }),
        }),
      );
    expect(await typed(undefined, "5")).toBeUndefined();
    expect(await typed(PART.toUpperCase(), "5")).toBeUndefined();
    for (const [type, version] of [
      [undefined, "6"],
      ["application/octet-stream", "5"],
      ["application/octet-stream", "8"],
    ] as const) {
      expect(await typed(type, version)).toBe("415 upload-media-type");
    }
  });

  it.each<[refusal: string, changes: Record<string, string>]>([
    ["400 upload-offset-invalid", { "Upload-Offset": "five" }],
    ["400 upload-offset-invalid", { "Upload-Offset": "5.0" }],
    ["400 upload-offset-invalid", { "Upload-Offset": "5, 5" }],
    ["400 upload-complete-invalid", { "Upload-Complete": "true" }],
    ["400 upload-complete-invalid", { "Upload-Complete": "?1, ?1" }],
    ["400 upload-digest-invalid", { "Content-Digest": "sha-256" }],
    ["400 content-length-invalid", { "Content-Length": "0x5" }],
    ["415 content-encoding-unsupported", { "Content-Encoding": "br", "Upload-Offset": "five" }],
  ])("is %s with %j", async (refusal, changes) => {
    expect(await refusalOf(() => append({ ...APPEND, ...changes }))).toBe(refusal);
  });

  it("lacks a field that is not there", async () => {
    const refusal = (headers: HeadersInit) => refusalOf(() => append(headers));
    expect(await refusal({ "Content-Type": PART, "Upload-Complete": "?0" })).toBe("400 upload-offset-invalid");
    expect(await refusal({ "Content-Type": PART, "Upload-Offset": "0" })).toBe("400 upload-complete-invalid");
  });
});
