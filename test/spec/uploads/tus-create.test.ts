import { describe, expect, it } from "vitest";
import { brokenBody, recordedBody, streamOf } from "../../support/bodies.ts";
import { base64, createUploadService, named, TUS_CONTENT, UPLOAD_URL } from "./calls.ts";

describe("POST /home/<folder>/ by tus", () => {
  it("creates an upload for the file that the metadata name, which is no file yet (R 3.2, 3.3)", async () => {
    const { tus, call, stored } = await createUploadService({ files: { "/alice/docs/": "" } });
    const answer = await tus("POST", "/home/docs/", { "upload-length": "5", "upload-metadata": named("a.txt") });
    expect(answer.status).toBe(201);
    expect(answer.header("location")).toMatch(UPLOAD_URL);
    expect(answer.header("tus-resumable")).toBe("1.0.0");
    expect(answer.header("server-path")).toBe("/docs/a.txt");
    expect(answer.header("upload-offset")).toBeNull();
    const left = Date.parse(answer.header("upload-expires") ?? "") - Date.now();
    expect(left / 1000).toBeGreaterThan(86_390);
    expect(left / 1000).toBeLessThanOrEqual(86_400);
    expect(await stored("/alice/docs/a.txt")).toBeUndefined();
    expect((await call("GET", "/home/docs/", { variant: "json" })).json()).toEqual({ content: [] });
  });

  it("takes the first bytes with the creation, and tells how many are kept (R 3.3)", async () => {
    const { tus } = await createUploadService();
    const headers = { "upload-length": "5", "upload-metadata": named("a.txt"), "content-type": TUS_CONTENT };
    const answer = await tus("POST", "/home/", headers, { body: "abc" });
    expect([answer.status, answer.header("upload-offset"), answer.header("etag")]).toEqual([201, "3", null]);
  });

  it("makes the file with the creation if all of it is there, or there is nothing of it (R 3.3)", async () => {
    const { tus, stored, events } = await createUploadService();
    const headers = { "upload-length": "3", "upload-metadata": named("a.txt"), "content-type": TUS_CONTENT };
    const answer = await tus("POST", "/home/", headers, { body: "abc" });
    expect([answer.status, answer.header("upload-offset")]).toEqual([201, "3"]);
    expect(answer.header("etag")).toMatch(/^"/);
    expect(answer.header("last-modified")).not.toBeNull();
    expect(await stored("/alice/a.txt")).toBe("abc");
    const empty = await tus("POST", "/home/", { "upload-length": "0", "upload-metadata": named("empty") });
    expect([empty.status, empty.header("etag")]).toEqual([201, expect.any(String)]);
    expect(await stored("/alice/empty")).toBe("");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017, 40021, 40017]);
  });

  it("takes `name` where there is no `filename`, and keeps other keys without acting on them (R 3.2)", async () => {
    const { tus, stored } = await createUploadService();
    const metadata = `relativePath ${base64("../b/c")},name ${base64("ä.txt")},filetype ${base64("text/plain")},flag`;
    const answer = await tus("POST", "/home/", { "upload-length": "0", "upload-metadata": metadata });
    expect([answer.status, answer.header("server-path")]).toEqual([201, "/%C3%A4.txt"]);
    expect(await stored("/alice/ä.txt")).toBe("");
    const shown = await tus("HEAD", answer.header("location") ?? "");
    expect(shown.header("upload-metadata")).toBe(metadata);
  });

  it("leaves the upload with what came if the body breaks off (R 3.3)", async () => {
    // The light request drops what it has when its stream fails.
    const { tus, call } = await createUploadService({ requestClass: Request });
    const headers = { "upload-length": "9", "upload-metadata": named("a.txt"), "content-type": TUS_CONTENT };
    expect((await tus("POST", "/home/", headers, { body: brokenBody("abc") })).status).toBe(400);
    const { uploads } = (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: { offset: number }[] }>();
    expect(uploads).toEqual([expect.objectContaining({ path: "/a.txt", offset: 3, length: 9 })]);
  });

  it.each([
    ["no length", { "upload-metadata": named("a") }, "upload-length-missing"],
    ["both lengths", { "upload-length": "1", "upload-defer-length": "1" }, "upload-length-missing"],
    ["a deferred length that is not 1", { "upload-defer-length": "2" }, "upload-length-missing"],
    ["a length with a sign", { "upload-length": "+1" }, "upload-length-invalid"],
    ["a negative length", { "upload-length": "-1" }, "upload-length-invalid"],
    ["a length of 16 digits", { "upload-length": "1000000000000000" }, "upload-length-invalid"],
    ["two lengths", { "upload-length": "1, 1" }, "upload-length-invalid"],
    ["no name", { "upload-length": "1", "upload-metadata": "" }, "upload-metadata-invalid"],
    ["metadata without a name", { "upload-length": "1", "upload-metadata": "a" }, "upload-name-missing"],
    ["a path as a name", { "upload-length": "1", "upload-metadata": named("../a") }, "name-invalid"],
    ["a dot as a name", { "upload-length": "1", "upload-metadata": named("..") }, "name-invalid"],
    ["a name with NUL", { "upload-length": "1", "upload-metadata": named("a\0b") }, "name-invalid"],
    ["an empty name", { "upload-length": "1", "upload-metadata": "filename" }, "name-invalid"],
    [
      "a name that is not canonical",
      { "upload-length": "1", "upload-metadata": "filename YR==" },
      "upload-metadata-invalid",
    ],
    [
      "a key twice",
      { "upload-length": "1", "upload-metadata": "filename YQ==,filename Yg==" },
      "upload-metadata-invalid",
    ],
    [
      "too much metadata",
      { "upload-length": "1", "upload-metadata": `filename ${"A".repeat(8192)}` },
      "upload-metadata-too-large",
    ],
    ["a malformed checksum", { "upload-length": "1", "upload-checksum": "sha1" }, "upload-checksum-invalid"],
    ["an unknown checksum", { "upload-length": "1", "upload-checksum": "crc32 AAAAAA==" }, "upload-checksum-invalid"],
    ["malformed entity-tags", { "upload-length": "1", "if-match": "a" }, "entity-tags-invalid"],
  ])("refuses %s with 400, without reading the body (R 2.3, 3.2, 3.11)", async (_, headers, code) => {
    const { tus, events } = await createUploadService();
    const body = recordedBody("abc");
    const own = { "upload-metadata": named("a"), "content-type": TUS_CONTENT, ...headers };
    const answer = await tus("POST", "/home/", own, { body: body.stream });
    expect([answer.status, answer.header("error-code")]).toEqual([400, code]);
    expect(answer.header("tus-resumable")).toBe("1.0.0");
    expect(body.pulls()).toBe(0);
    expect(events).toEqual([]);
  });

  it("refuses another version with 412 and tells its own (R 3.12)", async () => {
    const { tus } = await createUploadService();
    for (const version of ["0.2.2", "1.0.1", "1", "1.0.0, 1.0.0", " "]) {
      const headers = { "tus-resumable": version, "upload-length": "1", "upload-metadata": named("a") };
      const answer = await tus("POST", "/home/", headers);
      expect([answer.status, answer.header("tus-version")], version).toEqual([412, "1.0.0"]);
      expect(answer.header("tus-resumable")).toBe("1.0.0");
    }
  });

  it("refuses content of another type, or with a content coding, with 415 (R 2.5, 3.3)", async () => {
    const { tus } = await createUploadService();
    const headers = { "upload-length": "3", "upload-metadata": named("a") };
    const plain = await tus("POST", "/home/", { ...headers, "content-type": "text/plain" }, { body: "abc" });
    expect([plain.status, plain.header("error-code")]).toEqual([415, "upload-media-type"]);
    const coded = { ...headers, "content-type": TUS_CONTENT, "content-encoding": "gzip" };
    expect((await tus("POST", "/home/", coded, { body: "abc" })).status).toBe(415);
    const type = { ...headers, "content-type": "text/plain" };
    expect((await tus("POST", "/home/", type)).status).toBe(201);
  });

  it("refuses header fields of more than 15 KiB in total with 400 (R 6.2)", async () => {
    const { tus, call } = await createUploadService({ metadataFields: "X-Labels" });
    const fields = (bytes: number) => ({
      "upload-length": "1",
      "upload-metadata": named("a"),
      "x-labels": `tag=${"x".repeat(bytes)}`,
    });
    const refused = await tus("POST", "/home/", fields(15 * 1024));
    expect([refused.status, refused.header("error-code")]).toEqual([400, "upload-fields-too-large"]);
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect((await tus("POST", "/home/", fields(14 * 1024))).status).toBe(201);
  });

  it("refuses a wrong checksum with 460, and keeps nothing of the content (R 3.11)", async () => {
    const { tus, call } = await createUploadService();
    const headers = { "upload-length": "3", "upload-metadata": named("a"), "content-type": TUS_CONTENT };
    const wrong = { ...headers, "upload-checksum": `sha1 ${"A".repeat(26)}A=` };
    const answer = await tus("POST", "/home/", wrong, { body: "abc" });
    expect([answer.status, answer.header("error-code")]).toEqual([460, "upload-checksum-mismatch"]);
    const { uploads } = (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: { offset: number }[] }>();
    expect(uploads.map(({ offset }) => offset)).toEqual([0]);
    const right = { ...headers, "upload-checksum": "sha1 qZk+NkcGgWq6PiVxeFDCbJzQ2J0=" };
    expect((await tus("POST", "/home/", right, { body: "abc" })).status).toBe(201);
  });

  it("asks for no permission on the folder, but for `write` on the file (R 5.2)", async () => {
    const permissions = [["allow-full-control"], ["/no/*", "allow-read", "allow-list"]];
    const { tus, events } = await createUploadService({
      files: { "/bob/no/": "" },
      groups: { DEFAULT_GROUP: { permissions } },
    });
    const headers = { "upload-length": "3", "upload-metadata": named("a") };
    const denied = await tus("POST", "/home/no/", headers, { as: "bob" });
    expect([denied.status, denied.header("error-code"), denied.header("server-path")]).toEqual([
      403,
      "denied",
      "/no/a",
    ]);
    expect((await tus("POST", "/home/", headers, { as: "bob" })).status).toBe(201);
    expect(events.map(({ id }) => id)).toEqual([40021]);
  });

  it("refuses the reserved name with 403 (R 9.1)", async () => {
    const { tus } = await createUploadService();
    const answer = await tus("POST", "/home/", { "upload-length": "0", "upload-metadata": named("__svc__") });
    expect([answer.status, answer.header("error-code")]).toEqual([403, "name-reserved"]);
  });

  it("refuses a folder that is not there, and one in the place of the file (R 9.1)", async () => {
    const { tus } = await createUploadService({ files: { "/alice/a/": "" } });
    const headers = { "upload-length": "3", "upload-metadata": named("a") };
    expect((await tus("POST", "/home/missing/", headers)).status).toBe(409);
    expect((await tus("POST", "/home/missing/", headers, { variant: "json" })).status).toBe(422);
    const kind = await tus("POST", "/home/", headers);
    expect([kind.status, kind.header("error-code")]).toEqual([409, "not-a-file"]);
  });

  it("judges conditions before it makes anything (R 5.3)", async () => {
    const { tus, call } = await createUploadService({ files: { "/alice/a": "old" } });
    const headers = { "upload-length": "3", "upload-metadata": named("a") };
    for (const condition of [
      { "if-none-match": "*" },
      { "if-match": '"other"' },
      { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" },
    ]) {
      const answer = await tus("POST", "/home/", { ...headers, ...condition });
      expect([answer.status, answer.header("error-code")]).toEqual([412, "precondition-failed"]);
    }
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
  });

  it("refuses more than the largest file with 413, which it tells (R 5.4)", async () => {
    const { tus } = await createUploadService({ limits: { maxFileBytes: 4 } });
    const headers = { "upload-metadata": named("a"), "content-type": TUS_CONTENT };
    const body = recordedBody("abcde");
    const answer = await tus("POST", "/home/", { ...headers, "upload-length": "5" }, { body: body.stream });
    expect([answer.status, answer.header("tus-max-size"), body.pulls()]).toEqual([413, "4", 0]);
    const deferred = await tus(
      "POST",
      "/home/",
      { ...headers, "upload-defer-length": "1" },
      { body: streamOf("abc", "de") },
    );
    expect([deferred.status, deferred.header("tus-max-size")]).toEqual([413, "4"]);
  });

  it("refuses content beyond the length with 413 (R 3.7)", async () => {
    const { tus, call, events } = await createUploadService();
    const headers = { "upload-length": "2", "upload-metadata": named("a"), "content-type": TUS_CONTENT };
    const answer = await tus("POST", "/home/", headers, { body: "abc" });
    expect([answer.status, answer.header("error-code")]).toEqual([413, "upload-too-long"]);
    expect(events).toEqual([]);
    const unannounced = await tus("POST", "/home/", headers, { body: streamOf("ab", "c") });
    expect([unannounced.status, unannounced.header("error-code")]).toEqual([413, "upload-too-long"]);
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect(events.map(({ id }) => id)).toEqual([40021, 40022]);
  });

  it("needs a login, and does not come from another site (R 5.1, 5.7)", async () => {
    const { tus } = await createUploadService();
    const headers = { "upload-length": "2", "upload-metadata": named("a") };
    const anonymous = await tus("POST", "/home/", headers, { as: null });
    expect([anonymous.status, anonymous.header("tus-resumable")]).toEqual([401, "1.0.0"]);
    const other = await tus("POST", "/home/", { ...headers, origin: "https://evil.example" });
    expect([other.status, other.header("error-code")]).toEqual([403, "cross-site"]);
  });
});

describe("POST /home/<file> by tus", () => {
  it("creates an upload for this file, and needs no metadata (R 1.4)", async () => {
    const { tus, stored } = await createUploadService();
    const answer = await tus(
      "POST",
      "/home/a.txt",
      { "upload-length": "3", "content-type": TUS_CONTENT },
      { body: "abc" },
    );
    expect([answer.status, answer.header("server-path")]).toEqual([201, "/a.txt"]);
    expect(await stored("/alice/a.txt")).toBe("abc");
  });

  it("is 405 without tus and without the draft, as before (R 2.1)", async () => {
    const { call } = await createUploadService();
    expect((await call("POST", "/home/a.txt", { undescribed: "no such request" })).status).toBe(405);
  });
});

describe("commands, forms and triggers beside uploads", () => {
  it("are told apart by their media type, also with `Upload-Complete: ?1` (R 2.1)", async () => {
    const { call, storage } = await createUploadService();
    const body = JSON.stringify({ commands: [{ command: "create-folder", target: "new" }] });
    const headers = { "content-type": "application/json", "upload-complete": "?1" };
    expect((await call("POST", "/home/", { headers, body })).status).toBe(200);
    expect((await storage.stat("/alice/new"))?.kind).toBe("folder");
  });
});
