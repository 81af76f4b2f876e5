import { describe, expect, it } from "vitest";
import { createUploadService, named, UNKNOWN_UPLOAD } from "./calls.ts";

describe("HEAD of an upload by tus", () => {
  it("tells offset, length, metadata, expiry and limits, and may not be cached (R 3.4)", async () => {
    const { createByTus, patch, tus } = await createUploadService({ limits: { maxFileBytes: 100 } });
    const url = await createByTus("a.txt", { "upload-length": "6" });
    await patch(url, 0, "abc");
    const answer = await tus("HEAD", url);
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect(answer.header("upload-offset")).toBe("3");
    expect(answer.header("upload-length")).toBe("6");
    expect(answer.header("upload-defer-length")).toBeNull();
    expect(answer.header("upload-metadata")).toBe(named("a.txt"));
    expect(answer.header("upload-concat")).toBeNull();
    expect(answer.header("upload-complete")).toBe("?0");
    expect(answer.header("upload-limit")).toMatch(/^max-size=100, max-age=86(?:3\d\d|400)$/);
    expect(Date.parse(answer.header("upload-expires") ?? "")).toBeGreaterThan(Date.now());
    expect(answer.header("cache-control")).toBe("no-store");
    expect(answer.header("content-length") ?? "0").toBe("0");
    expect(answer.header("tus-resumable")).toBe("1.0.0");
    expect(answer.header("server-path")).toBe("/a.txt");
  });

  it("shows the file after completion, also if it was replaced or removed since (R 7.3)", async () => {
    const { createByTus, patch, tus, call } = await createUploadService();
    const url = await createByTus("ä b.txt", { "upload-length": "3" });
    const done = await patch(url, 0, "abc");
    await call("PUT", "/home/%C3%A4%20b.txt", { body: "other" });
    const answer = await tus("HEAD", url);
    expect([answer.header("upload-offset"), answer.header("upload-length"), answer.header("upload-complete")]).toEqual([
      "3",
      "3",
      "?1",
    ]);
    expect(answer.header("etag")).toBe(done.header("etag"));
    expect(answer.header("content-location")).toBe("/home/%C3%A4%20b.txt");
    await call("DELETE", "/home/%C3%A4%20b.txt");
    expect((await tus("HEAD", url)).header("upload-complete")).toBe("?1");
  });

  it("refuses GET with 405 (R 4.6)", async () => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    const answer = await tus("GET", url, {}, { undescribed: "no such method" });
    expect([answer.status, answer.header("allow")]).toEqual([405, "HEAD, PATCH, DELETE, POST, OPTIONS"]);
  });

  it("refuses other versions with 412 (R 3.12)", async () => {
    const { createByTus, tus } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    expect((await tus("HEAD", url, { "tus-resumable": "2.0.0" })).status).toBe(412);
    expect((await tus("DELETE", url, { "tus-resumable": "2.0.0" })).status).toBe(412);
  });
});

describe("DELETE of an upload", () => {
  it("ends it, for both protocols: afterwards there is none (R 3.9, 4.7, 2.2)", async () => {
    const { createByTus, createByDraft, tus, draft, patch, events } = await createUploadService();
    const [one, two] = [await createByTus("a", { "upload-length": "3" }), await createByDraft("/home/b")];
    await patch(one, 0, "a");
    const answer = await draft("DELETE", one);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await tus("DELETE", two)).status).toBe(204);
    for (const url of [one, two]) {
      expect((await tus("HEAD", url)).status).toBe(404);
      expect((await tus("DELETE", url)).status).toBe(404);
      expect((await draft("HEAD", url)).status).toBe(404);
    }
    expect((await patch(one, 1, "b")).status).toBe(404);
    expect(events.map(({ id }) => id)).toEqual([40021, 40021, 40022, 40022]);
    expect(events[2]?.data).toMatchObject({ path: "/a", total_write: 1, details: "The upload was cancelled." });
  });

  it("leaves the file of a complete upload (R 3.9)", async () => {
    const { createByTus, patch, tus, stored, events } = await createUploadService();
    const url = await createByTus("a.txt", { "upload-length": "3" });
    await patch(url, 0, "abc");
    expect((await tus("DELETE", url)).status).toBe(204);
    expect(await stored("/alice/a.txt")).toBe("abc");
    expect((await tus("HEAD", url)).status).toBe(404);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("is 404 for an unknown upload", async () => {
    const { tus } = await createUploadService();
    expect((await tus("DELETE", UNKNOWN_UPLOAD)).status).toBe(404);
  });
});

describe("GET /home/__svc__/uploads/", () => {
  it("lists the unfinished uploads of the account, whatever `Accept` says (R 1.3)", async () => {
    const { createByTus, createByDraft, patch, call, tus } = await createUploadService({
      files: { "/alice/ä/": "" },
    });
    const url = await createByTus("a.txt", { "upload-length": "6" }, { folder: "/home/%C3%A4/" });
    await patch(url, 0, "abc");
    const other = await createByDraft("/home/b.txt");
    const done = await createByTus("c.txt", { "upload-length": "1" });
    await patch(done, 0, "c");
    for (const variant of ["json", "html", "webdav"] as const) {
      const answer = await call("GET", "/home/__svc__/uploads/", { variant });
      expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
      const { uploads } = answer.json<{ uploads: { created: number; expires: number }[] }>();
      expect(uploads).toEqual([
        expect.objectContaining({ url, path: "/ä/a.txt", offset: 3, length: 6 }),
        expect.objectContaining({ url: other, path: "/b.txt", offset: 0, length: null }),
      ]);
      for (const { created, expires } of uploads) {
        expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(60);
        expect(Math.abs(expires - created - 86_400)).toBeLessThan(60);
      }
    }
    expect((await call("HEAD", "/home/__svc__/uploads/")).status).toBe(200);
    expect((await tus("GET", "/home/__svc__/uploads/")).status).toBe(200);
    const refused = await tus("GET", "/home/__svc__/uploads/", { "tus-resumable": "0.2.2" });
    expect([refused.status, refused.header("tus-version")]).toEqual([412, "1.0.0"]);
    expect((await call("GET", "/home/__svc__/uploads/", { as: "bob" })).json()).toEqual({ uploads: [] });
    expect((await call("GET", "/home/__svc__/uploads/", { as: null })).status).toBe(401);
  });
});
