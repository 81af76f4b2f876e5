import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import { brokenBody, recordedBody, streamOf } from "../../support/bodies.ts";
import { createUploadService, DRAFT_CONTENT, named, UNKNOWN_UPLOAD, UPLOAD_URL } from "./calls.ts";

const TYPES = "https://iana.org/assignments/http-problem-types#";
const undescribed = "not in the description";

/** A connection that records its interim responses. */
function recordingConnection() {
  const interim: { status: number; headers: Readonly<Record<string, string>> }[] = [];
  const connection: Connection = { sendInterim: (status, headers) => void interim.push({ status, headers }) };
  return { connection, interim };
}

function sha256(text: string): string {
  return `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;
}

describe("PUT /home/<file> with Upload-Complete: ?0", () => {
  it("creates an upload, with or without first bytes (R 4.3)", async () => {
    const { draft, stored } = await createUploadService();
    const empty = await draft("PUT", "/home/a.txt", { "upload-complete": "?0" });
    expect([empty.status, empty.header("upload-offset"), empty.header("upload-complete")]).toEqual([201, "0", "?0"]);
    expect(empty.header("location")).toMatch(UPLOAD_URL);
    expect(empty.header("server-path")).toBe("/a.txt");
    expect(empty.header("tus-resumable")).toBeNull();
    const some = await draft("PUT", "/home/b.txt", { "upload-complete": "?0", "upload-length": "9" }, { body: "abc" });
    expect([some.status, some.header("upload-offset"), some.header("upload-limit")]).toEqual([
      201,
      "3",
      expect.stringMatching(/^max-age=86(?:400|399)$/),
    ]);
    expect(await stored("/alice/b.txt")).toBeUndefined();
  });

  it("sends 104 first, with the version of the request, where the runtime can (R 4.1)", async () => {
    const { draft, call } = await createUploadService();
    for (const version of ["5", "6", "7", "8"]) {
      const { connection, interim } = recordingConnection();
      const headers = { "upload-complete": "?0", "upload-draft-interop-version": version };
      const answer = await draft("PUT", "/home/a.txt", headers, { connection });
      const [first, ...others] = interim;
      expect([first?.status, others]).toEqual([104, []]);
      expect(first?.headers.Location).toBe(answer.header("location"));
      expect(first?.headers["Upload-Draft-Interop-Version"]).toBe(version);
      expect(first?.headers["Upload-Limit"]).toMatch(Number(version) < 7 ? /^expires=\d+$/ : /^max-age=\d+$/);
    }
    const { connection, interim } = recordingConnection();
    const headers = { "upload-complete": "?0" };
    expect((await call("PUT", "/home/a.txt", { headers, connection })).status).toBe(201);
    expect(interim).toEqual([]);
  });

  it("is a plain request for versions 3 and 4, and unknown ones, whose parts are no files: 501 or as it came (R 4.1, 1.6)", async () => {
    const { draft, stored } = await createUploadService();
    for (const version of ["3", "4", "9"]) {
      const headers = { "upload-draft-interop-version": version, "upload-complete": "?1" };
      const answer = await draft("PUT", "/home/a.txt", headers, { body: version });
      expect([answer.status, answer.header("upload-complete")], version).toEqual([201, null]);
      expect(await stored("/alice/a.txt")).toBe(version);
    }
  });

  it("refuses what a PUT is refused for (R 9.1)", async () => {
    const { draft } = await createUploadService({
      files: { "/alice/a": "old", "/alice/b/": "" },
      limits: { maxFileBytes: 9 },
    });
    const status = async (target: string, headers: Readonly<Record<string, string>> = {}, own = {}) => {
      const body = recordedBody("abc");
      const answer = await draft("PUT", target, { "upload-complete": "?0", ...headers }, { body: body.stream, ...own });
      expect(body.pulls()).toBe(0);
      return answer.status;
    };
    expect(await status("/home/a", {}, { as: null })).toBe(401);
    expect(await status("/home/a", { origin: "https://evil.example" })).toBe(403);
    expect(await status("/home/a", { "content-encoding": "gzip" })).toBe(415);
    expect(await status("/home/__svc__/x")).toBe(403);
    expect(await status("/home/a", { "if-none-match": "*" })).toBe(412);
    expect(await status("/home/a", { "upload-length": "10" })).toBe(413);
    expect(await status("/home/missing/a")).toBe(409);
    expect(await status("/home/b")).toBe(409);
    expect(await status("/home/a", { "content-digest": "sha-256=abc" })).toBe(400);
  });

  it("tells how large a file may be with 413 (R 5.4)", async () => {
    const { draft } = await createUploadService({ limits: { maxFileBytes: 9 } });
    const answer = await draft("PUT", "/home/a", { "upload-complete": "?0", "upload-length": "10" });
    expect([answer.status, answer.header("upload-limit")]).toEqual([413, "max-size=9"]);
  });

  it("ignores fields that do not parse (R 2.3)", async () => {
    const { draft, stored } = await createUploadService();
    for (const value of ["0", "false", "?2", "?0, ?0", "?0 a", ""]) {
      const answer = await draft("PUT", "/home/a.txt", { "upload-complete": value }, { body: "abc" });
      expect([answer.status, answer.header("upload-complete")], value).toEqual([201, null]);
    }
    expect(await stored("/alice/a.txt")).toBe("abc");
    const headers = { "upload-complete": "?0", "upload-length": "-5" };
    expect((await draft("PUT", "/home/a.txt", headers, { body: "abc" })).status).toBe(201);
  });
});

describe("PUT /home/<file> with Upload-Complete: ?1", () => {
  const large = "x".repeat(1024 * 1024);

  it("becomes resumable if it is large and 104 can be sent: the answer is that of a PUT (R 4.2)", async () => {
    const { draft, call, stored, events } = await createUploadService();
    const { connection, interim } = recordingConnection();
    const answer = await draft("PUT", "/home/a.txt", { "upload-complete": "?1" }, { body: large, connection });
    expect([answer.status, answer.header("upload-complete"), answer.header("location")]).toEqual([201, "?1", null]);
    expect(answer.header("etag")).toBe((await call("HEAD", "/home/a.txt")).header("etag"));
    expect((await stored("/alice/a.txt"))?.length).toBe(large.length);
    expect(interim.map(({ status }) => status)).toEqual([104]);
    const shown = await draft("HEAD", interim[0]?.headers.Location ?? "");
    expect([shown.status, shown.header("upload-complete")]).toEqual([204, "?1"]);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("is a plain PUT without 104, for small files, and without the version (R 4.2)", async () => {
    const { draft, call, stored } = await createUploadService();
    const { connection, interim } = recordingConnection();
    const headers = { "upload-complete": "?1" };
    const plain = [
      await draft("PUT", "/home/a.txt", headers, { body: "abc", connection }),
      await draft("PUT", "/home/a.txt", headers, { body: large }),
      await call("PUT", "/home/a.txt", { headers, body: large, connection }),
    ];
    for (const answer of plain) expect([answer.status, answer.header("upload-complete")]).toEqual([201, null]);
    expect(interim).toEqual([]);
    expect((await stored("/alice/a.txt"))?.length).toBe(large.length);
    expect((await call("GET", "/home/__svc__/uploads/")).json()).toEqual({ uploads: [] });
  });

  it.each(["Forwarded", "Via", "X-Forwarded-For", "X-Real-IP"])(
    "is a plain PUT behind a proxy, which %s names: nginx takes 104 for the final response (R 11.2)",
    async (name) => {
      const { draft } = await createUploadService();
      const { connection, interim } = recordingConnection();
      const headers = { "upload-complete": "?1", [name]: "192.0.2.1" };
      const answer = await draft("PUT", "/home/a.txt", headers, { body: large, connection });
      expect([answer.status, answer.header("upload-complete")]).toEqual([201, null]);
      const careful = { ...headers, "upload-complete": "?0" };
      const created = await draft("PUT", "/home/b.txt", careful, { connection });
      expect([created.status, created.header("upload-complete")]).toEqual([201, "?0"]);
      expect(interim).toEqual([]);
    },
  );

  it("keeps what came if it breaks off, and goes on from there (R 4.2)", async () => {
    const { draft, stored, events } = await createUploadService({ requestClass: Request });
    const { connection, interim } = recordingConnection();
    const body = brokenBody("abc");
    await draft("PUT", "/home/a.txt", { "upload-complete": "?1" }, { body, connection });
    const url = interim[0]?.headers.Location ?? "";
    const shown = await draft("HEAD", url);
    expect([shown.header("upload-offset"), shown.header("upload-complete"), shown.header("upload-length")]).toEqual([
      "3",
      "?0",
      null,
    ]);
    const headers = { "upload-offset": "3", "upload-complete": "?1", "content-type": DRAFT_CONTENT };
    const answer = await draft("PATCH", url, headers, { body: "def" });
    expect([answer.status, answer.header("upload-complete"), answer.header("upload-offset")]).toEqual([201, "?1", "6"]);
    expect(await stored("/alice/a.txt")).toBe("abcdef");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("sends no 104 for what is refused (R 4.2)", async () => {
    const { draft } = await createUploadService();
    const { connection, interim } = recordingConnection();
    const headers = { "upload-complete": "?1", "if-match": '"other"' };
    expect((await draft("PUT", "/home/a.txt", headers, { body: large, connection })).status).toBe(412);
    expect((await draft("PUT", "/home/b/a.txt", { "upload-complete": "?1" }, { body: large, connection })).status).toBe(
      409,
    );
    expect(interim).toEqual([]);
  });

  it("verifies digests, and keeps nothing of a body with another one (R 4.8)", async () => {
    const { draft, stored } = await createUploadService();
    const { connection } = recordingConnection();
    const body = `${large}abc`;
    const put = (headers: Readonly<Record<string, string>>) =>
      draft("PUT", "/home/a.txt", { "upload-complete": "?1", ...headers }, { body, connection });
    for (const field of ["content-digest", "repr-digest"]) {
      const wrong = await put({ [field]: sha256("other") });
      expect([wrong.status, wrong.header("error-code")], field).toEqual([400, "upload-digest-mismatch"]);
      expect(await stored("/alice/a.txt")).toBeUndefined();
    }
    expect((await put({ "content-digest": sha256(body), "repr-digest": `md5=:AAAA:, ${sha256(body)}` })).status).toBe(
      201,
    );
  });

  it("refuses lengths that contradict each other (R 4.3)", async () => {
    const { draft } = await createUploadService();
    const { connection } = recordingConnection();
    const headers = { "upload-complete": "?1", "upload-length": "5" };
    const answer = await draft("PUT", "/home/a.txt", headers, { body: large, connection });
    expect([answer.status, answer.header("content-type")]).toEqual([400, "application/problem+json"]);
    expect(answer.json()).toMatchObject({
      type: `${TYPES}inconsistent-upload-length`,
      errors: [{ message: expect.any(String) }],
    });
  });
});

describe("POST /home/<folder>/ by the draft", () => {
  it("creates an upload for the name of Content-Disposition, else of Upload-Metadata (R 1.4)", async () => {
    const { draft, stored } = await createUploadService();
    const disposition = "inline; filename=\"x\"; filename*=UTF-8''%C3%A4.txt";
    const careful = { "upload-complete": "?0", "content-disposition": disposition };
    const answer = await draft("POST", "/home/", careful);
    expect([answer.status, answer.header("server-path")]).toEqual([201, "/%C3%A4.txt"]);
    const whole = { "upload-complete": "?1", "upload-metadata": named("b.txt") };
    const done = await draft("POST", "/home/", whole, { body: "abc" });
    expect([done.status, done.header("upload-complete"), done.header("etag")]).toEqual([201, "?1", expect.any(String)]);
    expect(await stored("/alice/b.txt")).toBe("abc");
  });

  it("refuses a request without a name, or with a path in it (R 1.4)", async () => {
    const { draft } = await createUploadService();
    const code = async (headers: Readonly<Record<string, string>>) => {
      const answer = await draft("POST", "/home/", { "upload-complete": "?0", ...headers });
      return [answer.status, answer.header("error-code")];
    };
    expect(await code({})).toEqual([400, "upload-name-missing"]);
    expect(await code({ "content-disposition": 'inline; filename="../a"' })).toEqual([400, "name-invalid"]);
    expect(await code({ "content-disposition": "inline; filename=" })).toEqual([400, "upload-disposition-invalid"]);
  });

  it("is possible on a file's URL as well (R 1.4)", async () => {
    const { draft, stored } = await createUploadService();
    expect((await draft("POST", "/home/a.txt", { "upload-complete": "?1" }, { body: "abc" })).status).toBe(201);
    expect(await stored("/alice/a.txt")).toBe("abc");
  });
});

describe("PATCH of an upload by the draft", () => {
  const part = (offset: number, isComplete: boolean) => ({
    "upload-offset": String(offset),
    "upload-complete": isComplete ? "?1" : "?0",
    "content-type": DRAFT_CONTENT,
  });

  it("adds content with ?0, and makes the file with ?1 (R 4.4)", async () => {
    const { draft, createByDraft, stored, call } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const first = await draft("PATCH", url, part(0, false), { body: "abc" });
    expect([first.status, first.header("upload-offset"), first.header("upload-complete")]).toEqual([204, "3", "?0"]);
    expect(await stored("/alice/a.txt")).toBeUndefined();
    const last = await draft("PATCH", url, part(3, true), { body: streamOf("d", "ef") });
    expect([last.status, last.header("upload-offset"), last.header("upload-complete")]).toEqual([201, "6", "?1"]);
    expect(last.header("etag")).toBe((await call("HEAD", "/home/a.txt")).header("etag"));
    expect(last.header("last-modified")).not.toBeNull();
    expect(await stored("/alice/a.txt")).toBe("abcdef");
  });

  it("needs offset and completeness, and its media type, which version 5 may leave out (R 4.4, 2.3)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await draft("PATCH", url, headers, { body: "a", undescribed })).status;
    const { "upload-offset": _, ...withoutOffset } = part(0, false);
    const { "upload-complete": __, ...withoutComplete } = part(0, false);
    const { "content-type": ___, ...withoutType } = part(0, false);
    expect(await status(withoutOffset)).toBe(400);
    expect(await status({ ...part(0, false), "upload-offset": "a" })).toBe(400);
    expect(await status({ ...part(0, false), "upload-offset": "0, 0" })).toBe(400);
    expect(await status({ ...part(0, false), "upload-offset": "-1" })).toBe(400);
    expect(await status({ ...part(0, false), "upload-offset": "0.0" })).toBe(400);
    expect(await status(withoutComplete)).toBe(400);
    expect(await status({ ...part(0, false), "upload-complete": "1" })).toBe(400);
    expect(await status(withoutType)).toBe(415);
    expect(await status({ ...part(0, false), "content-type": "application/octet-stream" })).toBe(415);
    expect(await status({ ...withoutType, "upload-draft-interop-version": "5" })).toBe(204);
  });

  it("refuses another offset with a problem that has both (R 4.4, 4.9)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    await draft("PATCH", url, part(0, false), { body: "abc" });
    const body = recordedBody("x");
    const answer = await draft("PATCH", url, part(2, false), { body: body.stream });
    expect([answer.status, answer.header("upload-offset"), body.pulls()]).toEqual([409, "3", 0]);
    expect(answer.header("content-type")).toBe("application/problem+json");
    expect(answer.json()).toEqual({
      type: `${TYPES}mismatching-upload-offset`,
      title: expect.any(String),
      "expected-offset": 3,
      "provided-offset": 2,
      errors: [{ message: expect.any(String) }],
    });
  });

  it("holds to a length that was told once (R 4.5)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt", { "upload-length": "5" });
    const problem = async (headers: Readonly<Record<string, string>>, body: string) => {
      const answer = await draft("PATCH", url, headers, { body });
      return [answer.status, answer.json<{ type?: string }>().type];
    };
    const inconsistent = [400, `${TYPES}inconsistent-upload-length`];
    expect(await problem({ ...part(0, false), "upload-length": "6" }, "a")).toEqual(inconsistent);
    expect(await problem(part(0, true), "abcd")).toEqual(inconsistent);
    expect(await problem(part(0, false), "abcdef")).toEqual(inconsistent);
    expect((await draft("HEAD", url)).header("upload-offset")).toBe("0");
    expect((await draft("PATCH", url, part(0, false), { body: "abcde" })).status).toBe(204);
    const shown = await draft("HEAD", url);
    expect([shown.header("upload-offset"), shown.header("upload-complete")]).toEqual(["5", "?0"]);
    expect((await draft("PATCH", url, part(5, true))).status).toBe(201);
  });

  it("ends the upload at content beyond the length that was not announced (R 4.5)", async () => {
    const { draft, createByDraft, events } = await createUploadService();
    const url = await createByDraft("/home/a.txt", { "upload-length": "3" });
    const answer = await draft("PATCH", url, part(0, false), { body: streamOf("abc", "d") });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-length-inconsistent"]);
    expect((await draft("HEAD", url)).status).toBe(404);
    expect(events.map(({ id }) => id)).toEqual([40021, 40022]);
  });

  it("answers the completion again to an empty request, and refuses content (R 4.5)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const done = await draft("PATCH", url, part(0, true), { body: "abc" });
    const again = await draft("PATCH", url, part(3, true));
    expect([
      again.status,
      again.header("etag"),
      again.header("upload-complete"),
      again.header("upload-offset"),
    ]).toEqual([201, done.header("etag"), "?1", "3"]);
    const more = await draft("PATCH", url, part(3, true), { body: "d" });
    expect([more.status, more.json<{ type: string }>().type]).toEqual([400, `${TYPES}completed-upload`]);
    expect((await draft("PATCH", url, part(3, false))).status).toBe(400);
    expect((await draft("PATCH", url, part(0, true))).status).toBe(409);
  });

  it("verifies Content-Digest (R 4.8)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const wrong = await draft("PATCH", url, { ...part(0, false), "content-digest": sha256("abd") }, { body: "abc" });
    expect([wrong.status, wrong.header("error-code")]).toEqual([400, "upload-digest-mismatch"]);
    const malformed = await draft("PATCH", url, { ...part(0, false), "content-digest": "sha-256=1" }, { body: "abc" });
    expect(malformed.status).toBe(400);
    const unknown = { ...part(0, false), "content-digest": "crc32c=:AAAA:" };
    expect((await draft("PATCH", url, unknown, { body: "abc" })).status).toBe(204);
    const right = { ...part(3, true), "content-digest": sha256("def") };
    expect((await draft("PATCH", url, right, { body: "def" })).status).toBe(201);
  });

  it("verifies Repr-Digest where the request has all of the content, else not (R 4.8)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const digest = { "repr-digest": sha256("abc") };
    const wrong = await draft("PATCH", url, { ...part(0, true), ...digest }, { body: "abd" });
    expect([wrong.status, wrong.header("error-code")]).toEqual([400, "upload-digest-mismatch"]);
    expect((await draft("PATCH", url, { ...part(0, false), ...digest }, { body: "a" })).status).toBe(204);
    expect((await draft("PATCH", url, { ...part(1, true), ...digest }, { body: "yz" })).status).toBe(201);
    const other = await createByDraft("/home/b.txt");
    expect((await draft("PATCH", other, { ...part(0, true), ...digest }, { body: "abc" })).status).toBe(201);
  });

  it("is not for an upload of tus (R 2.2)", async () => {
    const { draft, createByTus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    const answer = await draft("PATCH", url, part(0, false), { body: "abc" });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-protocol-mismatch"]);
  });
});

describe("HEAD of an upload by the draft", () => {
  it("tells offset, completeness, length and limits (R 4.6)", async () => {
    const { draft, createByDraft } = await createUploadService({
      limits: { maxFileBytes: 100 },
      uploads: { maxAppendBytes: 50 },
    });
    const url = await createByDraft("/home/a.txt", { "upload-length": "9" }, { body: "abc" });
    const answer = await draft("HEAD", url);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect([answer.header("upload-offset"), answer.header("upload-complete"), answer.header("upload-length")]).toEqual([
      "3",
      "?0",
      "9",
    ]);
    expect(answer.header("upload-limit")).toMatch(
      /^max-size=100, max-append-size=50, max-age=863\d\d$|^max-size=100, max-append-size=50, max-age=86400$/,
    );
    expect([answer.header("cache-control"), answer.header("tus-resumable")]).toEqual(["no-store", null]);
    const old = await draft("HEAD", url, { "upload-draft-interop-version": "6" });
    expect(old.header("upload-limit")).toMatch(/, expires=86\d\d\d$/);
  });

  it("has the validators of the file when it is complete (R 4.6)", async () => {
    const { draft, createByDraft } = await createUploadService();
    const url = await createByDraft("/home/a.txt");
    const headers = { "upload-offset": "0", "upload-complete": "?1", "content-type": DRAFT_CONTENT };
    const done = await draft("PATCH", url, headers, { body: "abc" });
    const answer = await draft("HEAD", url);
    expect([answer.header("upload-complete"), answer.header("upload-offset"), answer.header("upload-length")]).toEqual([
      "?1",
      "3",
      "3",
    ]);
    expect([answer.header("etag"), answer.header("content-location")]).toEqual([done.header("etag"), "/home/a.txt"]);
    expect(answer.header("last-modified")).toBe(done.header("last-modified"));
  });

  it("works for uploads of the other protocol, and not for unknown ones (R 2.2)", async () => {
    const { draft, tus, createByTus, createByDraft } = await createUploadService();
    expect((await draft("HEAD", await createByTus("a", { "upload-length": "3" }))).status).toBe(204);
    expect((await tus("HEAD", await createByDraft("/home/b"))).status).toBe(200);
    expect((await draft("HEAD", UNKNOWN_UPLOAD)).status).toBe(404);
  });
});
