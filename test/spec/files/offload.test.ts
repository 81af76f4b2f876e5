import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { OffloadOptions } from "../../../src/config/offload.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

const NGINX: OffloadOptions = { type: "nginx", prefix: "/protected/" };
const files = { "/alice/a.txt": "0123456789", "/alice/empty": "", "/alice/folder/": "" };

interface SeenEvent {
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Offloading extends TestService {
  readonly root: string;
  readonly events: readonly SeenEvent[];
  /** Sends a request as the proxy passes it on. */
  byProxy(method: string, target: string, options?: CallOptions): Promise<Answer>;
  /** Reports the end of a download. */
  report(id: string | null, fields?: Readonly<Record<string, string>>, address?: string): Promise<number>;
}

function from(address: string): { readonly connection: Connection } {
  return { connection: { peer: { address, port: 4711, family: "IPv4", protocol: "TCP" } } };
}

async function makeDisk(links: "hidden" | "inside" = "hidden"): Promise<{ root: string; storage: StorageAdapter }> {
  const root = await mkdtemp(join(tmpdir(), "fileferry-offload-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  return { root, storage: createDiskStorage({ root, links, durability: "rename" }) };
}

async function open(offload: OffloadOptions = NGINX, options: TestServiceOptions = {}): Promise<Offloading> {
  const { root, storage } = await makeDisk();
  const events: SeenEvent[] = [];
  const test = await createTestService({
    storage,
    offload,
    files,
    isDescribed: false,
    ...options,
    onEvent: (event) => void events.push(event as unknown as SeenEvent),
  });

  function byProxy(method: string, target: string, call: CallOptions = {}): Promise<Answer> {
    return test.call(method, target, { ...from("127.0.0.1"), ...call });
  }

  return {
    ...test,
    root,
    events,
    byProxy,
    async report(id, fields = { "x-completed": "OK", "x-bytes": "10" }, address = "127.0.0.1") {
      const target = `/__svc__/offload/${id}`;
      return (await test.call("POST", target, { as: null, headers: fields, ...from(address) })).status;
    },
  };
}

/** The internal path of an answer; `undefined` if the service has sent the content, and said nothing of nginx. */
function targetOf(answer: Answer): string | undefined {
  const target = answer.header("x-accel-redirect");
  if (target === null) {
    expect([...answer.headers.keys()].filter((name) => /^x-(?:accel|sendfile|offload)/.test(name))).toEqual([]);
    return undefined;
  }
  expect([answer.status, answer.bytes.byteLength]).toEqual([200, 0]);
  return target;
}

describe("a download that nginx sends (WRAPPERS 5)", () => {
  it("has all headers of the answer, but for those that nginx sets, and no content", async () => {
    const { call, byProxy } = await open();
    const own = await call("GET", "/home/a.txt", from("192.0.2.1"));
    const handed = await byProxy("GET", "/home/a.txt");
    expect(own.text).toBe("0123456789");
    expect(targetOf(handed)).toBe("/protected/alice/a.txt");
    const expected = new Map(own.headers);
    for (const name of ["content-length", "accept-ranges"]) expect(expected.delete(name)).toBe(true);
    const found = new Map(handed.headers);
    expect(found.delete("x-accel-redirect")).toBe(true);
    expect(found).toEqual(expected);
  });

  it("is handed over with the headers of what is shown", async () => {
    const { byProxy } = await open();
    const answer = await byProxy("GET", "/home/a.txt?inline");
    expect(targetOf(answer)).toBe("/protected/alice/a.txt");
    expect(answer.header("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.header("content-disposition")).toMatch(/^inline; /);
    expect(answer.header("content-security-policy")).toMatch(/^sandbox; default-src 'none'; style-src/);
  });

  it.each([
    ["a plain one", {}, true],
    ["one range", { range: "bytes=2-5" }, true],
    ["a suffix", { range: "bytes=-4" }, true],
    ["the rest", { range: "bytes=2-" }, true],
    ["several ranges", { range: "bytes=0-0,5-5" }, false],
    ["a range that only this service reads", { range: "bytes=2 - 5" }, false],
    ["a range of another unit", { range: "lines=1-2" }, false],
    ["an empty range", { range: "" }, false],
    ["If-Range", { range: "bytes=2-5", "if-range": '"x"' }, false],
    ["If-Match", { "if-match": "*" }, false],
    ["If-None-Match of another version", { "if-none-match": '"x"' }, true],
    ["If-Unmodified-Since", { "if-unmodified-since": "Fri, 31 Dec 2100 23:59:59 GMT" }, true],
    ["headers that ask a proxy for something", { "x-accel-mapping": "/=/etc/", "x-sendfile-type": "X-Sendfile" }, true],
    ["a header of nginx", { "x-accel-redirect": "/protected/bob/secret" }, true],
  ])("is handed over, or not, for a request with %s", async (_what, headers, isHandedOver) => {
    const { byProxy } = await open();
    const target = targetOf(await byProxy("GET", "/home/a.txt", { headers: headers as Record<string, string> }));
    expect(target).toBe(isHandedOver ? "/protected/alice/a.txt" : undefined);
  });

  it("is sent by the service if the answer has a digest, which is of one version", async () => {
    const { byProxy } = await open(NGINX, { digests: {} });
    const answer = await byProxy("GET", "/home/a.txt", { headers: { "want-repr-digest": "sha-256=1" } });
    expect([answer.text, targetOf(answer)]).toEqual(["0123456789", undefined]);
    expect(answer.header("repr-digest")).toMatch(/^sha-256=/);
    expect(targetOf(await byProxy("GET", "/home/a.txt"))).toBeDefined();
  });

  it("is handed over if no digest of the file is known, whatever the client wants", async () => {
    const { byProxy } = await open(NGINX, { digests: { computeBytes: 1 } });
    const headers = { "want-repr-digest": "sha-256=1", "want-content-digest": "sha-256=1" };
    expect(targetOf(await byProxy("GET", "/home/a.txt", { headers }))).toBe("/protected/alice/a.txt");
  });

  it("leaves everything without content to the service", async () => {
    const { byProxy } = await open();
    const { headers } = await byProxy("HEAD", "/home/a.txt");
    expect([headers.get("content-length"), headers.get("x-accel-redirect")]).toEqual(["10", null]);
    const refusals: readonly [string, string, Record<string, string>, number][] = [
      ["GET", "/home/a.txt", { "if-none-match": headers.get("etag") ?? "" }, 304],
      ["GET", "/home/a.txt", { "if-modified-since": headers.get("last-modified") ?? "" }, 304],
      ["GET", "/home/a.txt", { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:01 GMT" }, 412],
      ["GET", "/home/a.txt", { range: "bytes=10-" }, 416],
      ["GET", "/home/never", {}, 404],
      ["GET", "/home/folder", {}, 302],
      ["GET", "/home/folder/", { accept: "application/zip" }, 200],
      ["GET", "/home/a.txt", { authorization: "Basic eDp5" }, 401],
    ];
    for (const [method, target, fields, status] of refusals) {
      const answer = await byProxy(method, target, { headers: fields });
      expect([target, answer.status]).toEqual([target, status]);
      expect(targetOf(answer)).toBeUndefined();
    }
  });

  it("is handed over to trusted peers only, whoever forwards the request", async () => {
    const trusted: OffloadOptions = { ...NGINX, trustedPeers: ["10.0.0.0/8", "::1"] };
    const { call } = await open(trusted, { clientForwardedHeader: "X-Forwarded-For" });
    const get = (connection: Connection, client = "192.0.2.1") =>
      call("GET", "/home/a.txt", { connection, headers: { "x-forwarded-for": client } });
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "::1"])
      expect(targetOf(await get(from(address).connection))).toBeDefined();
    for (const address of ["127.0.0.1", "192.0.2.1", "::2"])
      expect((await get(from(address).connection, "10.1.2.3")).text).toBe("0123456789");
    expect((await get({}, "10.1.2.3")).text).toBe("0123456789");
  });

  it("encodes every name, so that nginx takes it for nothing else", async () => {
    const names = ["50%", "a?b", "a#b", "%2e%2e", "a b+c&d;e", "über.txt", "日本", "(1)'*!~", "a:b", "..a", "a.."];
    const { byProxy } = await open(NGINX, { files: Object.fromEntries(names.map((name) => [`/alice/${name}`, name])) });
    for (const name of names) {
      const target = targetOf(await byProxy("GET", `/home/${encodeURIComponent(name)}`)) ?? "";
      expect(target).toMatch(/^\/protected\/alice\/[\w.~%-]+$/);
      expect(decodeURIComponent(target)).toBe(`/protected/alice/${name}`);
    }
    for (const name of ["a%0d%0aX-Accel-Redirect:%20%2fetc", "%2e%2e%2fbob", "..%2fbob%2fsecret"]) {
      const answer = await byProxy("GET", `/home/${name}`);
      expect(answer.status).toBe(400);
      expect(targetOf(answer)).toBeUndefined();
    }
  });

  it("has at least the configured size", async () => {
    const { byProxy } = await open({ ...NGINX, minBytes: 10 }, { files: { ...files, "/alice/small": "123456789" } });
    expect((await byProxy("GET", "/home/small")).text).toBe("123456789");
    expect(targetOf(await byProxy("GET", "/home/a.txt"))).toBeDefined();
    const whole = await open();
    expect(targetOf(await whole.byProxy("GET", "/home/empty"))).toBe("/protected/alice/empty");
  });

  it("opens no file", async () => {
    const { storage } = await makeDisk();
    const read = (): never => {
      throw new Error("The file was opened.");
    };
    const { byProxy } = await open(NGINX, { storage: { ...storage, read } });
    for (const headers of [{}, { range: "bytes=1-2" }] as Record<string, string>[])
      expect(targetOf(await byProxy("GET", "/home/a.txt", { headers }))).toBeDefined();
  });

  it("goes by Apache with the path below its root", async () => {
    const names = ["a?b#c", "é", "50%", "%2e%2e", "a "];
    const own = { files: Object.fromEntries(names.map((name) => [`/alice/${name}`, name])) };
    const { byProxy } = await open({ type: "apache", root: "/srv/my files/" }, own);
    const get = (name: string) => byProxy("GET", `/home/${encodeURIComponent(name)}`);
    const answer = await get("a?b#c");
    expect(answer.header("x-sendfile")).toBe("/srv/my files/alice/a?b#c");
    expect([answer.bytes.byteLength, answer.header("x-accel-redirect")]).toEqual([0, null]);
    expect((await get("é")).header("x-sendfile")).toBe("/srv/my files/alice/\u00c3\u00a9");
    // Some versions of the module decode the path, and Apache drops spaces at its end.
    for (const name of ["50%", "%2e%2e", "a "]) expect((await get(name)).text).toBe(name);
  });
});

describe("a storage that nginx does not have (WRAPPERS 5.1)", () => {
  it("is another one of a tree, or another folder of the same disk", async () => {
    const [disk, other] = [await makeDisk(), await makeDisk()];
    await disk.storage.createFolder("/alice");
    const mounted = mountStorage({
      "/": disk.storage,
      "/alice/other": other.storage,
      "/alice/mem": createMemoryStorage(),
    });
    const { byProxy } = await open(NGINX, {
      storage: createQuotaStorage(mounted),
      files: { ...files, "/alice/other/b.txt": "other", "/alice/mem/c.txt": "memory" },
    });
    expect(targetOf(await byProxy("GET", "/home/a.txt"))).toBe("/protected/alice/a.txt");
    expect((await byProxy("GET", "/home/other/b.txt")).text).toBe("other");
    expect((await byProxy("GET", "/home/mem/c.txt")).text).toBe("memory");
    const twice = await open(NGINX, { storage: mountStorage({ "/": disk.storage, "/alice/again": disk.storage }) });
    expect((await twice.byProxy("GET", "/home/again/alice/a.txt")).text).toBe("0123456789");
  });

  it("is one in memory, or one that changes the content", async () => {
    const memory = await open(NGINX, { storage: createMemoryStorage() });
    expect((await memory.byProxy("GET", "/home/a.txt")).text).toBe("0123456789");
    const { locateContent: _, ...wrapped } = (await makeDisk()).storage;
    const changed = await open(NGINX, { storage: wrapped });
    expect((await changed.byProxy("GET", "/home/a.txt")).text).toBe("0123456789");
  });

  it("has a virtual folder at its real path", async () => {
    const { byProxy, call, storage } = await open();
    await storage.createFolder("/shared");
    expect((await call("PUT", "/home/shared/x", { as: "root", body: "shared" })).status).toBe(201);
    expect(targetOf(await byProxy("GET", "/home/shared/x", { as: "root" }))).toBe("/protected/shared/x");
  });

  it.each(["hidden", "inside"] as const)("has no file behind a symlink: %s", async (links) => {
    const { root, storage } = await makeDisk(links);
    const { byProxy } = await open(NGINX, { storage });
    await symlink("a.txt", join(root, "alice/link"));
    await symlink(".", join(root, "alice/self"));
    await symlink("/etc/passwd", join(root, "alice/out"));
    const found = links === "inside" ? 200 : 404;
    for (const [path, status] of [
      ["link", found],
      ["folder/../link", found],
      ["out", 404],
      ["self/a.txt", 404],
    ] as const) {
      const answer = await byProxy("GET", `/home/${path.replace("folder/../", "")}`);
      expect([path, answer.status]).toEqual([path, status]);
      expect(targetOf(answer)).toBeUndefined();
    }
  });
});

describe("the events of a download that is handed over (WRAPPERS 5.6)", () => {
  const downloads = (events: readonly SeenEvent[]) =>
    events
      .filter(({ id }) => [40004, 40018, 40035, 40039, 40040].includes(id))
      .map(({ id, data }) => [id, data.path, data.total_read, data.handed_over]);

  it("come at once if nobody reports", async () => {
    const { byProxy, events } = await open();
    await byProxy("GET", "/home/a.txt", { headers: { range: "bytes=2-5" } });
    await byProxy("GET", "/home/never");
    expect(downloads(events)).toEqual([
      [40004, "/a.txt", undefined, undefined],
      [40039, "/a.txt", 4, "nginx"],
      [40035, "/never", undefined, undefined],
    ]);
  });

  it("come with the report, once, and only from the proxy", async () => {
    const { byProxy, events, report, call } = await open({ ...NGINX, report: true });
    const [one, two] = [await byProxy("GET", "/home/a.txt"), await byProxy("GET", "/home/a.txt")];
    const id = one.header("x-offload-id");
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(downloads(events).map(([event]) => event)).toEqual([40004, 40004]);
    expect(await report(id, undefined, "192.0.2.1")).toBe(404);
    expect(await report(id, { "x-completed": "OK" })).toBe(400);
    expect(await report(id, { "x-bytes": "-1" })).toBe(400);
    expect(await report("0".repeat(32))).toBe(404);
    expect(await report(id)).toBe(204);
    expect(await report(id)).toBe(404);
    expect(await report(two.header("x-offload-id"), { "x-bytes": "3" })).toBe(204);
    expect(downloads(events).slice(2)).toEqual([
      [40039, "/a.txt", 10, "nginx"],
      [40018, "/a.txt", 3, "nginx"],
    ]);
    const stranger = await call("POST", `/__svc__/offload/${id}`, { as: null, ...from("192.0.2.1") });
    const unknown = await call("POST", "/__svc__/never", { as: null, ...from("192.0.2.1") });
    expect([stranger.status, stranger.text]).toEqual([404, unknown.text]);
    expect(await (await open()).report(id)).toBe(404);
  });

  it("are reported by IDs of 128 random bits", async () => {
    const { byProxy, report } = await open({ ...NGINX, report: true });
    const all = 2n ** 128n - 1n;
    let [ones, zeros] = [0n, 0n];
    for (let count = 0; count < 200; count += 1) {
      const id = (await byProxy("GET", "/home/a.txt")).header("x-offload-id");
      ones |= BigInt(`0x${id}`);
      zeros |= all ^ BigInt(`0x${id}`);
      expect(await report(id)).toBe(204);
    }
    expect([ones, zeros]).toEqual([all, all]);
  });

  it("fail after a day without a report", async () => {
    const { byProxy, events, report, advance, service } = await open({ ...NGINX, report: true });
    const id = (await byProxy("GET", "/home/a.txt")).header("x-offload-id");
    advance(86_399);
    expect(await service.sweep()).toBe(0);
    advance(2);
    expect(await service.sweep()).toBe(1);
    expect(downloads(events).at(-1)).toEqual([40040, "/a.txt", 0, "nginx"]);
    expect(await report(id)).toBe(404);
  });

  it("hold a place among the transfers until the report, for ten minutes at most", async () => {
    const limits = { transfersPerAccount: 1, transfersPerAddress: 0 };
    const { byProxy, report, advance } = await open({ ...NGINX, report: true }, { limits });
    const first = await byProxy("GET", "/home/a.txt");
    expect((await byProxy("GET", "/home/a.txt")).status).toBe(503);
    expect((await byProxy("GET", "/home/a.txt", { headers: { "if-none-match": '"x"' } })).status).toBe(503);
    await report(first.header("x-offload-id"));
    expect((await byProxy("GET", "/home/a.txt")).status).toBe(200);
    expect((await byProxy("GET", "/home/a.txt")).status).toBe(503);
    advance(601);
    expect((await byProxy("GET", "/home/a.txt")).status).toBe(200);
    const free = await open(NGINX, { limits });
    for (let count = 0; count < 3; count += 1) expect((await free.byProxy("GET", "/home/a.txt")).status).toBe(200);
  });

  it("end if the proxy is gone before it has the answer", async () => {
    const { open: openAnswer, events, report } = await open({ ...NGINX, report: true });
    const answer = await openAnswer("GET", "/home/a.txt", from("127.0.0.1"));
    await answer.body?.cancel();
    expect(downloads(events).at(-1)).toEqual([40018, "/a.txt", 0, "nginx"]);
    expect(await report(answer.headers.get("x-offload-id"))).toBe(404);
  });
});

describe("a link whose downloads are handed over (WRAPPERS 5.1, SHARING 7)", () => {
  async function openLink(offload: OffloadOptions, maxUses?: number) {
    const test = await open(offload, { links: { secret: LINK_SECRET, store: createMemoryKeyValueStore() } });
    const link = { username: "alice", path: "/a.txt", ...(maxUses !== undefined && { maxUses }) };
    const { filePath = "" } = await test.service.links.create(link);
    const uses = async () => (await test.service.links.list("alice"))[0]?.uses;
    const get = (headers: Readonly<Record<string, string>> = {}) =>
      test.byProxy("GET", filePath, { as: null, headers });
    return { ...test, get, uses };
  }

  it("hands over, with the headers of links", async () => {
    const { get } = await openLink(NGINX);
    const answer = await get();
    expect(targetOf(answer)).toBe("/protected/alice/a.txt");
    expect([answer.header("referrer-policy"), answer.header("server-path")]).toEqual(["no-referrer", "/a.txt"]);
  });

  it("sends the content of a link with uses itself, unless the proxy reports", async () => {
    const { get, uses } = await openLink(NGINX, 3);
    expect((await get()).text).toBe("0123456789");
    expect(await uses()).toBe(1);
  });

  it("takes a use, and gives it back if the proxy reports that it was cut", async () => {
    const { get, uses, report, call } = await openLink({ ...NGINX, report: true }, 2);
    const first = await get();
    expect(targetOf(first)).toBeDefined();
    expect((await get({ range: "bytes=0-1" })).text).toBe("0123456789");
    expect(await uses()).toBe(2);
    expect((await get()).status).toBe(410);
    await report(first.header("x-offload-id"), { "x-bytes": "4" });
    await expect.poll(uses).toBe(1);
    const again = await get();
    expect(targetOf(again)).toBeDefined();
    await report(again.header("x-offload-id"));
    expect(await uses()).toBe(2);
    expect((await call("GET", "/home/a.txt")).status).toBe(200);
  });
});

async function signNothing(): Promise<undefined> {
  return undefined;
}

describe("the option offload", () => {
  it.each([
    [{ type: "lighttpd" }, "offload.type"],
    [{ type: "nginx" }, "offload.prefix"],
    [{ type: "nginx", prefix: "protected/" }, "offload.prefix"],
    [{ type: "nginx", prefix: "/protected" }, "offload.prefix"],
    [{ type: "nginx", prefix: "/" }, "offload.prefix"],
    [{ type: "nginx", prefix: "/a/../b/" }, "offload.prefix"],
    [{ type: "nginx", prefix: "/a%2f/" }, "offload.prefix"],
    [{ type: "apache", root: "files" }, "offload.root"],
    [{ type: "apache", root: "/a\r\nb" }, "offload.root"],
    [{ ...NGINX, minBytes: -1 }, "offload.minBytes"],
    [{ ...NGINX, trustedPeers: ["localhost"] }, "offload.trustedPeers"],
    [{ ...NGINX, report: "yes" }, "offload.report"],
    [{ ...NGINX, root: "/srv" }, "offload.root"],
    [{ type: "presigned" }, "offload.presign"],
    [{ type: "presigned", presign: signNothing, seconds: 0 }, "offload.seconds"],
    [{ type: "presigned", presign: signNothing, report: true }, "offload.report"],
  ])("names what is wrong: %j", async (offload, option) => {
    await expect(createTestService({ offload: offload as OffloadOptions })).rejects.toThrow(option);
  });
});
