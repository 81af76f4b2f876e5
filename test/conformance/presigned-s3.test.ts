import { beforeAll, describe, expect, it } from "vitest";
import type { PresignedOffload } from "../../src/config/offload.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { mountStorage } from "../../src/storage/mount.ts";
import type { S3Storage } from "../../src/storage/s3.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { LINK_SECRET } from "../support/links.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import { type Answer, createTestService, type TestServiceOptions } from "../support/service.ts";

let bucket: S3Bucket;
let prefixes = 0;

describe.skipIf(s3Missing !== undefined)(
  `downloads that a store sends × S3${s3Missing ? ` (${s3Missing})` : ""}`,
  () => {
    beforeAll(async () => {
      bucket = await createBucket();
    }, 120_000);

    interface SeenEvent {
      readonly id: number;
      readonly data: object;
    }

    async function open(
      options: Partial<PresignedOffload> = {},
      own: (storage: S3Storage) => TestServiceOptions = () => ({}),
    ) {
      prefixes += 1;
      const storage = bucket.storage({ prefix: `presigned-${prefixes}` });
      const events: SeenEvent[] = [];
      const test = await createTestService({
        storage,
        files: { "/alice/a.txt": "0123456789", "/alice/é 50%.html": "<script>" },
        offload: { type: "presigned", presign: storage.presignRead, minBytes: 1, ...options },
        onEvent: (event) => void events.push(event as SeenEvent),
        ...own(storage),
      });
      return { ...test, s3: storage, events };
    }

    function follow(answer: Answer, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
      expect([answer.status, answer.bytes.byteLength]).toEqual([307, 0]);
      return fetch(answer.header("location") ?? "", { headers });
    }

    it("redirects to a URL that needs no login, fixes the headers, and is nowhere else", async () => {
      const { call, events, log } = await open();
      const answer = await call("GET", "/home/%C3%A9%2050%25.html", { variant: "json" });
      expect(answer.header("cache-control")).toBe("no-store");
      expect(answer.header("referrer-policy")).toBe("no-referrer");
      expect(answer.header("etag")).toMatch(/^"/);
      const got = await follow(answer);
      expect(await got.text()).toBe("<script>");
      expect(got.headers.get("content-type")).toBe("text/html");
      expect(got.headers.get("content-disposition")).toMatch(/^attachment; /);
      expect(got.headers.get("cache-control")).toBe("private, no-cache");
      expect(got.headers.get("etag")).toBe(answer.header("etag"));
      const location = new URL(answer.header("location") ?? "");
      expect(location.searchParams.get("X-Amz-Expires")).toBe("60");
      const signature = location.searchParams.get("X-Amz-Signature") ?? "none";
      expect(JSON.stringify([events, log])).not.toContain(signature);
      expect(events.filter(({ id }) => id === 40039).map(({ data }) => data)).toEqual([
        expect.objectContaining({ handed_over: "presigned", total_read: 8 }),
      ]);
      const changed = await fetch(
        location.href.replace("response-content-type=text%2Fhtml", "response-content-type=text%2Fx"),
      );
      expect(changed.status).toBe(403);
      await changed.arrayBuffer();
      const put = await fetch(location, { method: "PUT", body: "x" });
      expect(put.status).toBe(403);
      await put.arrayBuffer();
    });

    it("lets the client send its range again", async () => {
      const { call } = await open();
      const range = { range: "bytes=2-4" };
      const part = await follow(await call("GET", "/home/a.txt", { variant: "json", headers: range }), range);
      expect([part.status, await part.text()]).toEqual([206, "234"]);
      expect((await call("GET", "/home/a.txt", { variant: "json", headers: { range: "bytes=10-" } })).status).toBe(416);
    });

    it("answers conditions, and decides on permissions, itself", async () => {
      const { call } = await open();
      const head = await call("HEAD", "/home/a.txt", { variant: "json" });
      expect([head.status, head.header("content-length")]).toEqual([200, "10"]);
      const headers = { "if-none-match": head.header("etag") ?? "" };
      expect((await call("GET", "/home/a.txt", { variant: "json", headers })).status).toBe(304);
      expect((await call("GET", "/home/a.txt", { variant: "json", as: null })).status).toBe(401);
      expect((await call("GET", "/home/never", { variant: "json" })).status).toBe(404);
      for (const fields of [{ "if-match": "*" }, { "if-range": '"x"', range: "bytes=1-2" }] as Record<string, string>[])
        expect((await call("GET", "/home/a.txt", { variant: "json", headers: fields })).text).toBe("0123456789");
    });

    it("sends small files itself, and what WebDAV clients read unless it is allowed", async () => {
      const small = await open({ minBytes: 11 });
      expect((await small.call("GET", "/home/a.txt", { variant: "json" })).text).toBe("0123456789");
      const { call } = await open();
      expect((await call("GET", "/home/a.txt", { variant: "webdav" })).text).toBe("0123456789");
      expect((await call("GET", "/home/a.txt", { variant: "html" })).status).toBe(307);
      const webdav = await open({ webdav: true, seconds: 5 });
      const answer = await webdav.call("GET", "/home/a.txt", { variant: "webdav" });
      expect(await (await follow(answer)).text()).toBe("0123456789");
      expect(new URL(answer.header("location") ?? "").searchParams.get("X-Amz-Expires")).toBe("5");
    });

    it("is asked for files of its storage only, by their paths there", async () => {
      const { call } = await open({}, (storage) => ({
        storage: mountStorage({ "/": createMemoryStorage(), "/s3": storage }),
        files: { "/alice/own.txt": "memory", "/s3/stored.txt": "bucket" },
      }));
      expect((await call("GET", "/home/own.txt", { variant: "json" })).text).toBe("memory");
      const stored = await call("GET", "/home/s3/stored.txt", { variant: "json", as: "root" });
      expect(await (await follow(stored)).text()).toBe("bucket");
    });

    it("has no URL of a version that was replaced meanwhile", async () => {
      const { s3, call } = await open();
      const request = { seconds: 60, contentType: "text/plain", contentDisposition: "attachment" };
      const etag = (await s3.stat("/alice/a.txt"))?.etag ?? "";
      expect(await s3.presignRead("/alice/a.txt", { ...request, etag })).toMatch(/^http/);
      expect(await s3.presignRead("/alice/a.txt", { ...request, etag: '"other"' })).toBeUndefined();
      expect(await s3.presignRead("/alice/never", request)).toBeUndefined();
      const own = await open({ presign: async () => undefined });
      expect((await own.call("GET", "/home/a.txt", { variant: "json" })).text).toBe("0123456789");
      expect((await call("GET", "/home/a.txt", { variant: "json" })).status).toBe(307);
    });

    it("redirects to the version that was asked for, also after it was replaced, if the bucket keeps versions", async () => {
      const versioned = await createBucket();
      const configuration = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
      const set = await versioned.ask("PUT", "?versioning", { body: configuration });
      expect([set.status, await set.text()]).toEqual([200, ""]);
      const storage = versioned.storage();
      const files = { "/alice/a": "first" };
      const { call } = await open({ presign: storage.presignRead }, () => ({ storage, files }));
      const redirect = await call("GET", "/home/a", { variant: "json" });
      expect((await call("PUT", "/home/a", { variant: "json", body: "second" })).status).toBe(201);
      expect(await (await follow(redirect)).text()).toBe("first");
      expect(await (await follow(await call("GET", "/home/a", { variant: "json" }))).text()).toBe("second");
    });

    it("redirects the visitors of a link, but not those of one with uses", async () => {
      const links = { secret: LINK_SECRET, store: createMemoryKeyValueStore() };
      const { call, service } = await open({}, () => ({ links }));
      const make = async (maxUses?: number) =>
        (await service.links.create({ username: "alice", path: "/a.txt", ...(maxUses && { maxUses }) })).filePath ?? "";
      const answer = await call("GET", await make(), { as: null, variant: "html" });
      expect(answer.header("x-robots-tag")).toBe("noindex, nofollow");
      expect(await (await follow(answer)).text()).toBe("0123456789");
      expect((await call("GET", await make(1), { as: null, variant: "html" })).text).toBe("0123456789");
    });
  },
);
