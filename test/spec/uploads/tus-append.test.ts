import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { brokenBody, recordedBody, streamOf } from "../../support/bodies.ts";
import { createUploadService, TUS_CONTENT, UNKNOWN_UPLOAD } from "./calls.ts";

describe("PATCH of an upload by tus", () => {
  it("adds content, renews the expiry, and makes the file at the length (R 3.5)", async () => {
    const { createByTus, patch, stored, call, advance } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const first = await patch(url, 0, "abc");
    expect([first.status, first.header("upload-offset"), first.header("etag")]).toEqual([204, "3", null]);
    expect(first.header("server-path")).toBe("/a.txt");
    expect(first.header("tus-resumable")).toBe("1.0.0");
    expect(Date.parse(first.header("upload-expires") ?? "")).toBeGreaterThan(Date.now() + 86_000_000);
    expect(await stored("/alice/a.txt")).toBeUndefined();
    advance(10);
    const last = await patch(url, 3, "def");
    expect([last.status, last.header("upload-offset")]).toEqual([204, "6"]);
    expect(await stored("/alice/a.txt")).toBe("abcdef");
    const file = await call("HEAD", "/home/a.txt");
    expect(last.header("etag")).toBe(file.header("etag"));
    expect(last.header("last-modified")).toBe(file.header("last-modified"));
  });

  it("takes content whose length is not announced (R 2.5)", async () => {
    const { createByTus, patch, stored } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    expect((await patch(url, 0, streamOf("abc", "def"))).status).toBe(204);
    expect(await stored("/alice/a.txt")).toBe("abcdef");
  });

  it("refuses another offset with 409 and the right one, without reading the body (R 3.5)", async () => {
    const { createByTus, patch, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    await patch(url, 0, "abc");
    for (const offset of [0, 2, 4, 6, 999_999_999_999_999]) {
      const body = recordedBody("x");
      const answer = await patch(url, offset, body.stream);
      expect([answer.status, answer.header("error-code")]).toEqual([409, "upload-offset-mismatch"]);
      expect([answer.header("upload-offset"), body.pulls()]).toEqual(["3", 0]);
      expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
    }
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("3");
  });

  it.each([
    ["no offset", {}],
    ["a negative offset", { "upload-offset": "-1" }],
    ["an offset with a sign", { "upload-offset": "+0" }],
    ["an offset with a blank", { "upload-offset": "0 0" }],
    ["an offset that comes twice", { "upload-offset": "0, 0" }],
    ["an offset in hexadecimal", { "upload-offset": "0x0" }],
    ["an offset of 16 digits", { "upload-offset": "0000000000000000" }],
    ["an empty offset", { "upload-offset": "" }],
  ])("refuses %s with 400 (R 2.3)", async (_, headers) => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const body = recordedBody("x");
    const answer = await tus("PATCH", url, { "content-type": TUS_CONTENT, ...headers }, { body: body.stream });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-offset-invalid"]);
    expect([answer.header("upload-offset"), body.pulls()]).toEqual([null, 0]);
  });

  it("refuses another media type, or none, with 415 (R 3.5)", async () => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    for (const type of ["application/octet-stream", "application/partial-upload"]) {
      const headers = { "upload-offset": "0", "content-type": type };
      expect((await tus("PATCH", url, headers, { body: "x" })).status, type).toBe(415);
    }
    expect((await tus("PATCH", url, { "upload-offset": "0" }, { body: "x" })).status).toBe(415);
    const coded = { "upload-offset": "0", "content-type": TUS_CONTENT, "content-encoding": "br" };
    expect((await tus("PATCH", url, coded, { body: "x" })).status).toBe(415);
  });

  it("refuses content of tus without a version, and other versions, with 412 (R 3.12)", async () => {
    const { createByTus, call } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const headers = { "content-type": TUS_CONTENT, "upload-offset": "0" };
    for (const version of [{}, { "tus-resumable": "0.2.2" }]) {
      const answer = await call("PATCH", url, { headers: { ...headers, ...version }, body: "x" });
      expect([answer.status, answer.header("tus-version"), answer.header("tus-resumable")]).toEqual([
        412,
        "1.0.0",
        "1.0.0",
      ]);
    }
  });

  it("keeps what came of a body that breaks off, and goes on from there (R 3.5)", async () => {
    const { createByTus, patch, tus, stored, events } = await createUploadService({ requestClass: Request });
    const url = await createByTus("a.txt", { "upload-length": "6" });
    expect((await patch(url, 0, brokenBody("abc"))).status).toBe(400);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("3");
    expect((await patch(url, 3, "def")).status).toBe(204);
    expect(await stored("/alice/a.txt")).toBe("abcdef");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("answers an empty request at the offset with 204, also at the end (R 3.5, 3.8)", async () => {
    const { createByTus, patch } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    expect((await patch(url, 0, "")).header("upload-offset")).toBe("0");
    const done = await patch(url, 0, "abc");
    const again = await patch(url, 3, "");
    expect([again.status, again.header("upload-offset"), again.header("etag")]).toEqual([
      204,
      "3",
      done.header("etag"),
    ]);
    const more = await patch(url, 3, "d");
    expect([more.status, more.header("error-code")]).toEqual([413, "upload-too-long"]);
    expect((await patch(url, 0, "")).status).toBe(409);
  });

  it("learns a deferred length once, and holds to it (R 3.6)", async () => {
    const { createByTus, patch, tus, stored } = await createUploadService({ limits: { maxFileBytes: 9 } });
    const url = await createByTus("a.txt", { "upload-defer-length": "1" });
    const shown = await tus("HEAD", url);
    expect([shown.header("upload-defer-length"), shown.header("upload-length")]).toEqual(["1", null]);
    expect((await patch(url, 0, "abc")).status).toBe(204);
    const codes = async (length: string, body: string) => {
      const answer = await patch(url, 3, body, { "upload-length": length });
      return [answer.status, answer.header("error-code")];
    };
    expect(await codes("2", "")).toEqual([400, "upload-length-inconsistent"]);
    expect(await codes("4", "de")).toEqual([400, "upload-length-inconsistent"]);
    expect(await codes("a", "")).toEqual([400, "upload-length-invalid"]);
    expect(await codes("10", "")).toEqual([413, "too-large"]);
    expect(await codes("5", "")).toEqual([204, null]);
    expect(await codes("5", "d")).toEqual([204, null]);
    expect((await patch(url, 4, "", { "upload-length": "6" })).status).toBe(400);
    expect((await tus("HEAD", url)).header("upload-length")).toBe("5");
    expect((await patch(url, 4, "e")).header("etag")).not.toBeNull();
    expect(await stored("/alice/a.txt")).toBe("abcde");
  });

  it("refuses announced content beyond the length with 413, and changes nothing (R 3.7)", async () => {
    const { createByTus, patch, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    const body = recordedBody("abcd");
    const answer = await patch(url, 0, body.stream, { "content-length": "4" });
    expect([answer.status, answer.header("error-code"), body.pulls()]).toEqual([413, "upload-too-long", 0]);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
  });

  it("ends the upload at content beyond the length that was not announced (R 3.7)", async () => {
    const { createByTus, patch, tus, stored, events } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    const answer = await patch(url, 0, streamOf("abc", "d"));
    expect([answer.status, answer.header("error-code")]).toEqual([413, "upload-too-long"]);
    const gone = await tus("HEAD", url);
    expect([gone.status, gone.header("upload-offset")]).toEqual([404, null]);
    expect(await stored("/alice/a.txt")).toBeUndefined();
    expect(events.map(({ id }) => id)).toEqual([40021, 40022]);
  });

  it("ends the upload at content beyond the largest file, and tells how large that is (R 5.4)", async () => {
    const { createByTus, patch, tus } = await createUploadService({ limits: { maxFileBytes: 3 } });
    const url = await createByTus("a.txt", { "upload-defer-length": "1" });
    const announced = await patch(url, 0, "abcd");
    expect([announced.status, announced.header("tus-max-size")]).toEqual([413, "3"]);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
    const unannounced = await patch(url, 0, streamOf("ab", "cd"));
    expect([unannounced.status, unannounced.header("tus-max-size")]).toEqual([413, "3"]);
    expect((await tus("HEAD", url)).status).toBe(404);
  });

  it.each(["sha1", "sha256", "sha512", "md5"])("verifies a checksum by %s (R 3.11)", async (algorithm) => {
    const { createByTus, patch, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const digest = (text: string) => `${algorithm} ${createHash(algorithm).update(text).digest("base64")}`;
    const wrong = await patch(url, 0, "abc", { "upload-checksum": digest("abd") });
    expect([wrong.status, wrong.header("error-code")]).toEqual([460, "upload-checksum-mismatch"]);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
    expect((await patch(url, 0, "abc", { "upload-checksum": digest("abc") })).status).toBe(204);
    const last = await patch(url, 3, streamOf("d", "ef"), { "upload-checksum": digest("def") });
    expect([last.status, last.header("upload-offset")]).toEqual([204, "6"]);
  });

  it("keeps nothing of a checked body that breaks off (R 3.11)", async () => {
    const { createByTus, patch, tus } = await createUploadService({ requestClass: Request });
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const checksum = `sha1 ${createHash("sha1").update("abc").digest("base64")}`;
    expect((await patch(url, 0, brokenBody("abc"), { "upload-checksum": checksum })).status).toBe(400);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
  });

  it("refuses a malformed or unknown checksum before it reads the body (R 3.11)", async () => {
    const { createByTus, patch } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    for (const checksum of [
      "",
      "sha1",
      "sha1 abc",
      "crc32 AAAAAA==",
      "SHA1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
      "md5 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
    ]) {
      const body = recordedBody("abc");
      const answer = await patch(url, 0, body.stream, { "upload-checksum": checksum });
      expect([answer.status, answer.header("error-code"), body.pulls()], checksum).toEqual([
        400,
        "upload-checksum-invalid",
        0,
      ]);
    }
  });

  it("refuses conditions with 400: they would be about the upload (R 5.3)", async () => {
    const { createByTus, patch, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const conditions = {
      "if-match": "*",
      "if-none-match": "*",
      "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
    };
    for (const [name, value] of Object.entries(conditions)) {
      const answer = await patch(url, 0, "a", { [name]: value }, { undescribed: "no such header here" });
      expect([answer.status, answer.header("error-code")], name).toEqual([400, "upload-condition-unexpected"]);
      const own = { undescribed: "no such header here" };
      expect((await tus("HEAD", url, { [name]: value }, own)).status).toBe(400);
      expect((await tus("DELETE", url, { [name]: value }, own)).status).toBe(400);
    }
  });

  it("is 404 for an upload that nobody has created (R 5.1)", async () => {
    const { patch } = await createUploadService();
    const body = recordedBody("abc");
    const answer = await patch(UNKNOWN_UPLOAD, 0, body.stream);
    expect([answer.status, answer.header("upload-offset"), body.pulls()]).toEqual([404, null, 0]);
    expect(answer.header("server-path")).toBe(UNKNOWN_UPLOAD.slice("/home".length));
  });

  it("is not for an upload of the draft (R 2.2)", async () => {
    const { createByDraft, patch } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const answer = await patch(url, 0, "abc");
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-protocol-mismatch"]);
  });
});

describe("X-HTTP-Method-Override of tus", () => {
  const override = (method: string) => ({ "x-http-method-override": method });

  it("makes a POST on an upload a PATCH, HEAD or DELETE in every respect (R 2.4)", async () => {
    const { createByTus, tus, stored } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const headers = { "content-type": TUS_CONTENT, "upload-offset": "0", ...override("PATCH") };
    const patched = await tus("POST", url, headers, { body: "abc" });
    expect([patched.status, patched.header("upload-offset")]).toEqual([204, "3"]);
    const shown = await tus("POST", url, override("HEAD"));
    expect([shown.status, shown.header("upload-offset"), shown.text]).toEqual([200, "3", ""]);
    expect((await tus("POST", url, override("DELETE"))).status).toBe(204);
    const own = { undescribed: "it is no HEAD on the wire" };
    const gone = await tus("POST", url, override("HEAD"), own);
    expect([gone.status, gone.text, gone.header("error-code")]).toEqual([404, "", "not-found"]);
    expect([gone.header("content-length"), gone.header("content-type")]).toEqual([null, null]);
    expect(await stored("/alice/a.txt")).toBeUndefined();
  });

  it("is checked for other sites by the overriding method (R 2.4, 5.7)", async () => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    const evil = { origin: "https://evil.example" };
    expect((await tus("POST", url, { ...override("DELETE"), ...evil })).status).toBe(403);
    expect((await tus("POST", url, { ...override("HEAD"), ...evil })).status).toBe(200);
  });

  it("is 400 for any other method, and 405 where no method overrides (R 2.4)", async () => {
    const { createByTus, tus, call } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "6" });
    for (const method of ["GET", "PUT", "patch", "Delete", "", "PATCH, PATCH", "POST"]) {
      const answer = await tus("POST", url, override(method));
      expect([answer.status, answer.header("error-code")], method).toEqual([400, "upload-method-override-invalid"]);
    }
    const plain = await tus("POST", url);
    expect([plain.status, plain.header("allow")]).toEqual([405, "HEAD, PATCH, DELETE, POST, OPTIONS"]);
    expect((await call("POST", url, { headers: override("DELETE") })).status).toBe(405);
  });

  it("is ignored everywhere else (R 2.4)", async () => {
    const { call, tus, stored } = await createUploadService({ files: { "/alice/a.txt": "abc" } });
    const undescribed = "ignored";
    expect((await call("POST", "/home/a.txt", { headers: override("DELETE"), undescribed })).status).toBe(405);
    expect(
      (await tus("POST", "/home/b.txt", { "upload-length": "0", ...override("DELETE") }, { undescribed })).status,
    ).toBe(201);
    expect(await stored("/alice/a.txt")).toBe("abc");
  });
});
