import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { recordedBody } from "../../support/bodies.ts";
import { fillStorage } from "../../support/storage.ts";
import { createUploadService, named, TUS_CONTENT, UPLOAD_URL } from "./calls.ts";

const HOUR = 3600;

/** A service whose storage has its clock. */
async function createTimed(options: Parameters<typeof createUploadService>[0] = {}) {
  let now = Date.now();
  const storage = createMemoryStorage({ clock: () => now });
  const service = await createUploadService({ storage, clock: () => now, ...options });
  function pass(seconds: number): void {
    now += 1000 * seconds;
  }
  return { ...service, pass, now: () => now };
}

describe("the expiry of an upload", () => {
  it("has an event for each upload that an aborted sweep has ended, and none for the others (R 7.2)", async () => {
    let now = Date.now();
    const stopping = new AbortController();
    const memory = createMemoryStorage({ clock: () => now });
    const storage = createFaultyStorage(memory, ({ verb }) => {
      if (verb === "uploads.discard") stopping.abort();
      return undefined;
    });
    const { createByTus, service, events } = await createUploadService({ storage, clock: () => now });
    for (const name of ["a", "b", "c"]) await createByTus(name, { "upload-length": "9" });
    now += 25 * HOUR * 1000;
    await expect(service.sweep({ signal: stopping.signal })).rejects.toThrow("aborted");
    const ended = (): number => events.filter(({ id }) => id === 40022).length;
    expect(ended()).toBe(1);
    expect(await service.sweep()).toBe(2);
    expect(ended()).toBe(3);
  });

  it("comes a day after the last byte, then it is 410, and 404 once swept (R 7.1, 3.10)", async () => {
    const { createByTus, patch, tus, draft, pass, service, events } = await createTimed();
    const url = await createByTus("a", { "upload-length": "9" });
    pass(23 * HOUR);
    await patch(url, 0, "abc");
    pass(23 * HOUR);
    expect((await tus("HEAD", url)).status).toBe(200);
    pass(HOUR);
    const body = recordedBody("def");
    const answers = [
      await tus("HEAD", url),
      await draft("HEAD", url),
      await patch(url, 3, body.stream),
      await tus("DELETE", url),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.header("upload-offset")]).toEqual([410, null]);
      expect(answer.header("server-path")).toBe("/a");
    }
    expect(body.pulls()).toBe(0);
    expect(events.map(({ id }) => id)).toEqual([40021]);
    expect(await service.sweep()).toBe(1);
    expect(await service.sweep()).toBe(0);
    const swept = await tus("HEAD", url);
    expect([swept.status, swept.header("upload-offset")]).toEqual([404, null]);
    expect(events[1]).toMatchObject({
      id: 40022,
      data: { path: "/a", real_path: "/alice/a", total_write: 3, details: "The upload has expired." },
      account: { name: "alice" },
    });
    expect(events[1]?.account?.peer).toBeUndefined();
  });

  it("is not renewed by requests without bytes, and comes a week after the creation at the latest (R 7.1, 8.3)", async () => {
    const { createByTus, patch, tus, pass } = await createTimed();
    const [idle, busy] = [
      await createByTus("a", { "upload-length": "9" }),
      await createByTus("b", { "upload-length": "99" }),
    ];
    for (let day = 0; day < 9; day++) {
      pass(20 * HOUR);
      if (day < 2) await patch(idle, 0, "");
      const answer = await patch(busy, day, "x");
      expect(answer.status, `${day}`).toBe(day < 8 ? 204 : 410);
    }
    expect((await tus("HEAD", idle)).status).toBe(410);
  });

  it("is what Upload-Expires and Upload-Limit tell (R 7.1)", async () => {
    const { createByTus, patch, tus, pass, now } = await createTimed({
      uploads: { idleSeconds: 100, maxSeconds: 150 },
    });
    const url = await createByTus("a", { "upload-length": "9" });
    const left = async () => {
      const answer = await tus("HEAD", url);
      const seconds = Math.round((Date.parse(answer.header("upload-expires") ?? "") - now()) / 1000);
      return [seconds, Number(answer.header("upload-limit")?.replace("max-age=", ""))];
    };
    expect((await left())[1]).toBe(100);
    pass(60);
    expect((await left())[1]).toBe(40);
    await patch(url, 0, "a");
    expect((await left())[1]).toBe(90);
    pass(90);
    expect((await tus("HEAD", url)).status).toBe(410);
  });

  it("of a complete one comes an hour later, at most at its expiry (R 7.3)", async () => {
    const { createByTus, patch, tus, pass, service, stored, events } = await createTimed();
    const url = await createByTus("a", { "upload-length": "3" });
    await patch(url, 0, "abc");
    pass(HOUR - 1);
    expect((await tus("HEAD", url)).header("upload-complete")).toBe("?1");
    pass(1);
    expect((await tus("HEAD", url)).status).toBe(410);
    expect(await service.sweep()).toBe(1);
    expect((await tus("HEAD", url)).status).toBe(404);
    expect(await stored("/alice/a")).toBe("abc");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("makes a creation sweep, at most once in ten minutes (R 7.2)", async () => {
    const { createByTus, pass, events } = await createTimed({ uploads: { idleSeconds: 60 } });
    const failed = () => events.filter(({ id }) => id === 40022).length;
    const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
    await createByTus("a", { "upload-length": "9" });
    await settle();
    pass(61);
    await createByTus("b", { "upload-length": "9" });
    await settle();
    expect(failed()).toBe(0);
    pass(540);
    await createByTus("c", { "upload-length": "9" });
    await settle();
    expect(failed()).toBe(2);
  });

  it("that cannot be swept is reported, and fails no request (R 7.2)", async () => {
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb, path }) =>
      verb === "uploads.list" && path === "" ? { fault: "error", error: "unavailable" } : undefined,
    );
    const { createByTus, service, log } = await createUploadService({ storage });
    expect(await createByTus("a", { "upload-length": "9" })).toMatch(UPLOAD_URL);
    await expect(service.sweep()).rejects.toMatchObject({ code: "unavailable" });
    expect(log.entries.length).toBeGreaterThan(0);
  });

  it("is swept by several processes, one of which emits its event (R 7.2)", async () => {
    let now = Date.now();
    const storage = createMemoryStorage({ clock: () => now });
    const one = await createUploadService({ storage, clock: () => now });
    const two = await createUploadService({ storage, clock: () => now });
    for (let count = 0; count < 10; count++) await one.createByTus(`${count}`, { "upload-length": "1" });
    now += 1000 * 25 * HOUR;
    const [first, second] = await Promise.all([one.service.sweep(), two.service.sweep()]);
    expect(first + second).toBe(10);
    const told = [...one.events, ...two.events].filter(({ id }) => id === 40022);
    expect(new Set(told.map(({ data }) => data.path)).size).toBe(10);
    expect(told).toHaveLength(10);
  });

  it("ends what the other storages of a tree have if one fails, and hides nothing", async () => {
    let now = Date.now();
    let isDown = false;
    const clock = (): number => now;
    const archive = createFaultyStorage(createMemoryStorage({ clock }), ({ step }) =>
      isDown && step === "call" ? { fault: "error", error: "unavailable" } : undefined,
    );
    const root = createMemoryStorage({ clock });
    await fillStorage(root, { "/alice/": "" });
    const storage = mountStorage({ "/": root, "/alice/archive": archive });
    const { createByDraft, service, call, events } = await createUploadService({ storage, clock });
    await createByDraft("/home/archive/a");
    await createByDraft("/home/b");
    isDown = true;
    expect((await call("GET", "/home/__svc__/uploads/")).status).toBe(503);
    now += 1000 * 25 * HOUR;
    await expect(service.sweep()).rejects.toMatchObject({ code: "unavailable" });
    const ended = (): unknown[] => events.filter(({ id }) => id === 40022).map(({ data }) => data.path);
    expect(ended()).toEqual(["/b"]);
    isDown = false;
    expect(await service.sweep()).toBe(1);
    expect(ended()).toEqual(["/b", "/archive/a"]);
  });

  it("leaves alone what belongs to others in the same storage", async () => {
    const storage = createMemoryStorage();
    const key = { owner: "link:x", id: "0".repeat(32) };
    await storage.uploads?.create(key, "/a", { note: "{}", expires: new Date(0) });
    const { service } = await createUploadService({ storage });
    expect(await service.sweep()).toBe(0);
    expect(await storage.uploads?.find(key)).toBeDefined();
  });
});

describe("limits.uploadsPerAccount", () => {
  it("refuses one more unfinished upload with 507, and says what to do (R 8.2)", async () => {
    const { createByTus, tus, patch, call, events } = await createUploadService({ limits: { uploadsPerAccount: 2 } });
    const headers = { "upload-length": "1" };
    const one = await createByTus("a", headers);
    await createByTus("b", headers);
    const refused = await tus("POST", "/home/c", headers);
    expect([refused.status, refused.header("error-code")]).toEqual([507, "too-many-uploads"]);
    expect(refused.json<{ errors: { message: string }[] }>().errors[0]?.message).toContain("end some of them");
    expect((await call("GET", "/home/__svc__/uploads/")).json<{ uploads: unknown[] }>().uploads).toHaveLength(2);
    expect((await tus("POST", "/home/c", headers, { as: "bob" })).status).toBe(201);
    await patch(one, 0, "a");
    const next = await createByTus("c", headers);
    expect((await tus("POST", "/home/d", headers)).status).toBe(507);
    await tus("DELETE", next);
    expect((await tus("POST", "/home/d", headers)).status).toBe(201);
    expect(events.filter(({ data }) => data.path === "/d").map(({ id }) => id)).toEqual([40021]);
  });

  it("lets neither more nor fewer through at the same moment (R 8.2)", async () => {
    const { tus, call } = await createUploadService({ limits: { uploadsPerAccount: 3 } });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => tus("POST", `/home/${index}`, { "upload-length": "1" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array(7).fill(507)]);
    const { uploads } = (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: unknown[] }>();
    expect(uploads).toHaveLength(3);
  });

  it("counts the uploads of an account a few times for hundreds of creations (R 8.2)", async () => {
    const storage = createMemoryStorage();
    const { uploads } = storage;
    if (uploads === undefined) throw new Error("The storage has no uploads.");
    let lists = 0;
    const list: typeof uploads.list = (owner) => {
      lists += 1;
      return uploads.list(owner);
    };
    const limits = { uploadsPerAccount: 100, uploadBytesPerAccount: 1000 };
    const { tus, createByTus } = await createUploadService({
      storage: { ...storage, uploads: { ...uploads, list } },
      limits,
    });
    const headers = { "upload-length": "1" };
    for (let count = 0; count < 100; count++) await createByTus(`${count}`, headers);
    expect((await tus("POST", "/home/more", headers)).status).toBe(507);
    expect(lists).toBeLessThan(40);
  });

  it("never lets more through in several processes at the same moment (R 8.2)", async () => {
    const storage = createMemoryStorage();
    const limits = { uploadsPerAccount: 3 };
    const services = [await createUploadService({ storage, limits }), await createUploadService({ storage, limits })];
    await Promise.all(
      services.flatMap(({ tus }, index) =>
        [1, 2, 3].map((number) => tus("POST", `/home/${index}-${number}`, { "upload-length": "1" })),
      ),
    );
    const answer = await services[0]?.call("GET", "/home/__svc__/uploads/");
    expect(answer?.json<{ uploads: unknown[] }>().uploads.length).toBeLessThanOrEqual(3);
  });

  it("is no limit if it is 0, and counts partial uploads (R 8.2)", async () => {
    const free = await createUploadService({ limits: { uploadsPerAccount: 0 } });
    for (let count = 0; count < 5; count++) await free.createByTus("a", { "upload-length": "1" });
    const { tus } = await createUploadService({ limits: { uploadsPerAccount: 1 } });
    const partial = { "upload-length": "1", "upload-concat": "partial" };
    expect((await tus("POST", "/home/", partial)).status).toBe(201);
    expect((await tus("POST", "/home/", partial)).status).toBe(507);
  });
});

describe("limits.uploadBytesPerAccount", () => {
  it("counts lengths, and offsets where the length is not known (R 8.2)", async () => {
    const { createByTus, tus, patch } = await createUploadService({ limits: { uploadBytesPerAccount: 10 } });
    const deferred = await createByTus("a", { "upload-defer-length": "1" });
    await patch(deferred, 0, "abcd");
    const refused = await tus("POST", "/home/b", { "upload-length": "7" });
    expect([refused.status, refused.header("error-code")]).toEqual([507, "upload-bytes-exceeded"]);
    expect((await tus("POST", "/home/b", { "upload-length": "6" })).status).toBe(201);
    expect((await tus("POST", "/home/c", { "upload-length": "1" })).status).toBe(507);
  });
});

describe("uploads.maxAppendBytes", () => {
  it("refuses more announced content in one request with 413, and tells the limit (R 8.3)", async () => {
    const { createByTus, patch, tus, draft } = await createUploadService({ uploads: { maxAppendBytes: 3 } });
    const url = await createByTus("a", { "upload-length": "6" });
    const refused = await patch(url, 0, "abcd");
    expect([refused.status, refused.header("error-code"), refused.header("upload-limit")]).toEqual([
      413,
      "upload-append-too-large",
      "max-append-size=3",
    ]);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("0");
    expect((await patch(url, 0, "abc")).status).toBe(204);
    const headers = { "upload-length": "6", "upload-metadata": named("b"), "content-type": TUS_CONTENT };
    expect((await tus("POST", "/home/", headers, { body: "abcd" })).status).toBe(413);
    expect((await draft("PUT", "/home/c", { "upload-complete": "?0" }, { body: "abcd" })).status).toBe(413);
  });
});

describe("limits.transfersPerAccount", () => {
  it("counts a PATCH and a creation with content, and refuses before the storage is asked (R 8.1)", async () => {
    let calls = 0;
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb }) => {
      if (verb.startsWith("uploads.")) calls += 1;
      return undefined;
    });
    const { createByTus, patch, tus } = await createUploadService({ storage, limits: { transfersPerAccount: 1 } });
    const url = await createByTus("a", { "upload-length": "6" });
    let end: () => void = () => undefined;
    const pending = new ReadableStream<Uint8Array>({
      start(controller) {
        end = () => controller.close();
      },
    });
    const running = patch(await createByTus("b", { "upload-length": "6" }), 0, pending);
    await new Promise((resolve) => setTimeout(resolve, 20));
    const before = calls;
    const body = recordedBody("abc");
    const refused = await patch(url, 0, body.stream);
    expect([refused.status, refused.header("retry-after"), body.pulls()]).toEqual([503, "5", 0]);
    const headers = { "upload-length": "6", "content-type": TUS_CONTENT };
    expect((await tus("POST", "/home/c", headers, { body: "abc" })).status).toBe(503);
    expect(calls).toBe(before);
    expect((await tus("POST", "/home/c", { "upload-length": "6" })).status).toBe(201);
    expect((await tus("HEAD", url)).status).toBe(200);
    end();
    expect((await running).status).toBe(204);
    expect((await patch(url, 0, "abc")).status).toBe(204);
  });
});
