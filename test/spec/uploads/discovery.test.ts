import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { recordedBody } from "../../support/bodies.ts";
import { createUploadService, UNKNOWN_UPLOAD } from "./calls.ts";

const URLS = ["/home/a.txt", "/home/missing/", "/home/", "/home/__svc__/uploads/", UNKNOWN_UPLOAD];
const undescribed = "there are none";

describe("OPTIONS", () => {
  it.each(URLS)("of %s tells what uploads can do, without a login (R 10.1, 3.1)", async (url) => {
    const { call } = await createUploadService();
    const answer = await call("OPTIONS", url, { as: null });
    expect(answer.status).toBe(204);
    expect(answer.header("tus-resumable")).toBe("1.0.0");
    expect(answer.header("tus-version")).toBe("1.0.0");
    expect(answer.header("tus-extension")).toBe(
      "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum,concatenation",
    );
    expect(answer.header("tus-checksum-algorithm")).toBe("sha1,sha256,sha512,md5");
    expect(answer.header("tus-max-size")).toBeNull();
    expect(answer.header("accept-patch")).toBe("application/partial-upload");
    expect(answer.header("upload-limit")).toBe("min-size=0");
  });

  it("tells the limits of the service (R 10.1)", async () => {
    const { call } = await createUploadService({ limits: { maxFileBytes: 99 }, uploads: { maxAppendBytes: 9 } });
    const answer = await call("OPTIONS", "/home/", { as: null });
    expect(answer.header("tus-max-size")).toBe("99");
    expect(answer.header("upload-limit")).toBe("max-size=99, max-append-size=9");
  });

  it("lists the methods as before, and those of an upload (R 10.1)", async () => {
    const { call } = await createUploadService();
    const { call: before } = await createUploadService({ uploads: false });
    for (const url of ["/home/a.txt", "/home/"]) {
      expect((await call("OPTIONS", url)).header("allow")).toBe((await before("OPTIONS", url)).header("allow"));
    }
    expect((await call("OPTIONS", UNKNOWN_UPLOAD)).header("allow")).toBe("HEAD, PATCH, DELETE, POST, OPTIONS");
    expect((await call("OPTIONS", "/home/__svc__/uploads/")).header("allow")).toBe("GET, HEAD, OPTIONS");
  });

  it("says the same beside WebDAV (R 10.1)", async () => {
    const { call } = await createUploadService({ webdav: {} });
    const answer = await call("OPTIONS", "/home/", { as: null });
    expect([answer.status, answer.header("dav"), answer.header("tus-version")]).toEqual([200, "1, 2, 3", "1.0.0"]);
  });
});

describe.each([
  ["a service with uploads: false", { uploads: false as const }],
  ["a storage without uploads", { storage: withoutUploads() }],
])("%s", (_, options) => {
  it("announces nothing, and has no URLs of uploads (R 1.6)", async () => {
    const { call } = await createUploadService(options);
    const { headers } = await call("OPTIONS", "/home/", { as: null });
    expect([...headers.keys()].filter((name) => /^(?:tus|upload|accept-patch)/.test(name))).toEqual([]);
    for (const url of [UNKNOWN_UPLOAD, "/home/__svc__/uploads/"]) {
      for (const method of ["GET", "HEAD", "DELETE", "POST"])
        expect((await call(method, url, { undescribed })).status).toBe(404);
    }
  });

  it("refuses creations with 501, and does not take a part for the whole (R 1.6)", async () => {
    const { call, tus, draft, stored } = await createUploadService(options);
    const body = recordedBody("abc");
    expect((await tus("POST", "/home/", { "upload-length": "3" }, { undescribed })).status).toBe(501);
    expect((await tus("POST", "/home/a", { "upload-length": "3" }, { undescribed, as: null })).status).toBe(501);
    expect(
      (await draft("PUT", "/home/a", { "upload-complete": "?0" }, { body: body.stream, undescribed })).status,
    ).toBe(501);
    expect(body.pulls()).toBe(0);
    const whole = await draft("PUT", "/home/a", { "upload-complete": "?1" }, { body: "abc", undescribed });
    expect([whole.status, whole.header("upload-complete")]).toEqual([201, null]);
    expect(await stored("/alice/a")).toBe("abc");
    expect((await call("PATCH", "/home/a", { undescribed })).status).toBe(501);
  });
});

describe("PATCH", () => {
  it("stays 501 on every URL but that of an upload (R 1.7)", async () => {
    const { call } = await createUploadService({ files: { "/alice/a": "abc" } });
    for (const url of ["/home/a", "/home/", "/home/__svc__/uploads/", "/__svc__/login", "/"]) {
      expect((await call("PATCH", url, { undescribed })).status, url).toBe(501);
    }
  });
});

describe("a single API", () => {
  it.each(["rest", "webdav"] as const)("of %s has uploads (R 1.7)", async (api) => {
    const { tus, call, patch, stored } = await createUploadService();
    const created = await tus("POST", "/home/", { "upload-length": "3", "upload-metadata": "filename YQ==" }, { api });
    expect(created.status).toBe(201);
    expect((await patch(created.header("location") ?? "", 0, "abc", {}, { api })).status).toBe(204);
    expect(await stored("/alice/a")).toBe("abc");
    expect((await call("GET", "/home/__svc__/uploads/", { api })).status).toBe(200);
    expect((await call("OPTIONS", "/home/", { api })).header("tus-version")).toBe("1.0.0");
  });

  it("of pages has none (R 1.7)", async () => {
    const { tus, call } = await createUploadService();
    const own = { api: "browser", undescribed } as const;
    expect((await tus("POST", "/home/", { "upload-length": "3" }, own)).status).toBe(501);
    expect((await call("GET", "/home/__svc__/uploads/", own)).status).toBe(404);
    expect((await call("HEAD", UNKNOWN_UPLOAD, own)).status).toBe(404);
    expect((await call("OPTIONS", "/home/", own)).header("tus-version")).toBeNull();
  });
});

describe("a base path", () => {
  it("is in Location, which has no scheme and host (R 1.5)", async () => {
    const { tus, call } = await createUploadService({ basePath: "/files/%C3%A4" });
    const target = "/files/%C3%A4/home/a";
    const created = await tus("POST", target, { "upload-length": "3" });
    expect(created.header("location")).toMatch(/^\/files\/%C3%A4\/home\/__svc__\/uploads\/[0-9a-f]{32}$/);
    expect((await tus("HEAD", created.header("location") ?? "")).status).toBe(200);
    const { uploads } = (await call("GET", "/files/%C3%A4/home/__svc__/uploads/")).json<{
      uploads: { url: string }[];
    }>();
    expect(uploads[0]?.url).toBe(created.header("location"));
  });
});

describe("the options", () => {
  it.each([
    [{ uploads: true as never }, "uploads must be an object, or false"],
    [{ uploads: { idleSeconds: 0 } }, "uploads.idleSeconds must be a positive number"],
    [{ uploads: { maxSeconds: Number.NaN } }, "uploads.maxSeconds must be a positive number"],
    [{ uploads: { keepSeconds: -1 } }, "uploads.keepSeconds must be a positive number"],
    [{ uploads: { maxAppendBytes: 1.5 } }, "uploads.maxAppendBytes must be a whole number of bytes, or 0"],
    [
      { uploads: { idleSecond: 1 } as never },
      "uploads.idleSecond must be left out: it is not a known option (did you mean uploads.idleSeconds?)",
    ],
    [{ limits: { uploadsPerAccount: -1 } }, "limits.uploadsPerAccount must be a whole number"],
    [{ limits: { uploadBytesPerAccount: 0.5 } }, "limits.uploadBytesPerAccount must be a whole number"],
  ])("%j are refused with their name", async (options, message) => {
    await expect(createUploadService(options)).rejects.toThrow(message);
  });
});

function withoutUploads() {
  const { uploads: _, ...plain } = createMemoryStorage();
  return plain;
}

describe("a folder whose storage has no uploads, beside others", () => {
  it("takes a PUT with Upload-Complete: ?1 as a plain one, and no part (R 1.6, 4.2)", async () => {
    const storage = mountStorage({ "/": createMemoryStorage(), "/alice/plain": withoutUploads() });
    const { draft, tus, stored, events } = await createUploadService({ storage });
    const connection = { sendInterim: () => expect.unreachable("There is no upload.") };
    const body = "x".repeat(1024 * 1024);
    const answer = await draft("PUT", "/home/plain/a", { "upload-complete": "?1" }, { body, connection });
    expect([answer.status, answer.header("upload-complete"), answer.header("error-code")]).toEqual([201, null, null]);
    expect((await stored("/alice/plain/a"))?.length).toBe(body.length);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
    expect((await draft("PUT", "/home/plain/b", { "upload-complete": "?0" }, { body: "abc" })).status).toBe(501);
    expect((await tus("POST", "/home/plain/b", { "upload-length": "3" })).status).toBe(501);
  });
});
