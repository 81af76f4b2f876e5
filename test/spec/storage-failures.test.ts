import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError, type StorageErrorCode } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { type CallOptions, createTestService, type TestService, variants } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

const SECRET = "EACCES: permission denied, open '/srv/data/alice' token=opensesame";

/** What a client must never see. */
const leak = /EACCES|srv|opensesame|token|\.ts\b|node_modules|\bat .*:\d+/;

/** A service whose storage does as it should until it is broken. */
async function createBreakable(): Promise<TestService & { break(error: () => unknown): void }> {
  const base = createMemoryStorage();
  let error: (() => unknown) | undefined;
  const fail = () => {
    if (error !== undefined) throw error();
  };
  const storage: StorageAdapter = overrideStorage(base, {
    async *list(path) {
      fail();
      yield* base.list(path);
    },
    async read(path, range) {
      fail();
      return base.read(path, range);
    },
    async write(path, content, options) {
      fail();
      return base.write(path, content, options);
    },
    async createFolder(path) {
      fail();
      return base.createFolder(path);
    },
    async remove(path) {
      fail();
      return base.remove(path);
    },
  });
  const test = await createTestService({ storage, files: { "/alice/a": "x", "/alice/f/": "" } });
  return {
    ...test,
    break: (next) => {
      error = next;
    },
  };
}

/** A request for each verb of a storage. */
const requests: readonly (readonly [verb: string, method: string, path: string, options: CallOptions])[] = [
  ["read", "GET", "/home/a", {}],
  ["read a part", "GET", "/home/a", { headers: { range: "bytes=0-0" } }],
  ["list", "GET", "/home/f/", {}],
  ["list for HEAD", "HEAD", "/home/f/", {}],
  ["write", "PUT", "/home/a", { body: "new" }],
  ["create a folder", "PUT", "/home/new/", {}],
  ["remove", "DELETE", "/home/a", {}],
];

describe("a storage that refuses", () => {
  it.each<readonly [code: StorageErrorCode, statuses: readonly [number, number, number]]>([
    ["not-found", [404, 404, 404]],
    ["already-exists", [422, 405, 400]],
    ["parent-missing", [422, 409, 400]],
    ["not-a-folder", [422, 409, 400]],
    ["not-a-file", [422, 409, 400]],
    ["precondition-failed", [412, 412, 412]],
    ["bad-name", [400, 400, 400]],
    ["incomplete", [400, 400, 400]],
    ["denied", [403, 403, 403]],
    ["no-space", [507, 507, 507]],
    ["too-large", [413, 413, 413]],
    ["unavailable", [503, 503, 503]],
  ])("a write with %s is answered by the status of the variant (CONTRACT 1)", async (code, statuses) => {
    const test = await createBreakable();
    test.break(() => new StorageError(code, SECRET, { cause: new Error(SECRET) }));
    const undescribed = code === "already-exists" ? "no storage says so of a file that is written" : undefined;
    const got: number[] = [];
    for (const variant of variants) {
      const answer = await test.call("PUT", "/home/a", { variant, body: "new", undescribed });
      got.push(answer.status);
      expect(answer.text).not.toMatch(leak);
      expect(JSON.stringify([...answer.headers])).not.toMatch(leak);
      expect(answer.header("content-type")).toContain(variant === "html" ? "text/html" : "application/json");
    }
    expect(got).toEqual(statuses);
    expect(await test.storage.stat("/alice/a")).toMatchObject({ size: 1 });
  });

  it.each(requests)(
    "to %s for now is answered 503, in every variant (CONTRACT 1)",
    async (_verb, method, path, options) => {
      const test = await createBreakable();
      test.break(() => new StorageError("unavailable", SECRET));
      for (const variant of variants) {
        const answer = await test.call(method, path, { variant, ...options });
        expect(answer.status).toBe(503);
        expect(answer.text).not.toMatch(leak);
        expect(answer.header("server-path")).toMatch(/^\//);
      }
      expect(test.log.text()).toContain("opensesame");
    },
  );

  it.each(requests)("to %s is answered 403 where it is denied (CONTRACT 1)", async (_verb, method, path, options) => {
    const test = await createBreakable();
    test.break(() => new StorageError("denied", SECRET));
    for (const variant of variants) {
      const answer = await test.call(method, path, { variant, ...options });
      expect(answer.status).toBe(403);
      expect(answer.text).not.toMatch(leak);
    }
    expect(test.log.text(), "the operator learns why").toContain("opensesame");
  });

  it("says when to try again (RFC 9110 10.2.3)", async () => {
    const test = await createBreakable();
    test.break(() => new StorageError("unavailable"));
    expect((await test.call("GET", "/home/a")).header("retry-after")).toMatch(/^\d+$/);
  });
});

describe("a storage that fails in an unknown way", () => {
  const unknown: readonly (readonly [what: string, error: () => unknown])[] = [
    ["an error", () => Object.assign(new Error(SECRET), { code: "EACCES", path: "/srv/data" })],
    ["a TypeError", () => new TypeError(SECRET)],
    ["a StorageError of an unknown code", () => Object.assign(new StorageError("denied", SECRET), { code: "EACCES" })],
    [
      "a StorageError of a code of the prototype",
      () => Object.assign(new StorageError("denied"), { code: "toString" }),
    ],
    ["a text", () => SECRET],
    ["nothing", () => undefined],
    ["null", () => null],
    ["a number", () => 404],
    ["an object with a status", () => ({ status: 200, statusCode: 200, message: SECRET })],
    ["an object that answers nothing", () => Object.create(null)],
  ];

  it.each(unknown)("is answered 500 with an id that the log has too: %s (SECURITY 14)", async (_what, error) => {
    const test = await createBreakable();
    test.break(error);
    for (const [, method, path, options] of requests) {
      const answer = await test.call(method, path, { variant: "json", ...options });
      expect(answer.status).toBe(500);
      if (method === "HEAD") continue;
      const [failure] = answer.json<{ errors: { message: string }[] }>().errors;
      const id = /[\da-f-]{36}/.exec(failure?.message ?? "")?.[0] ?? "none";
      expect(failure?.message).toContain("Internal error");
      expect(test.log.text()).toContain(id);
      expect(answer.text).not.toMatch(leak);
      expect(JSON.stringify([...answer.headers])).not.toMatch(leak);
    }
  });

  it("gives every answer an id of its own (SECURITY 14)", async () => {
    const test = await createBreakable();
    test.break(() => new Error(SECRET));
    const texts = await Promise.all([1, 2, 3].map(async () => (await test.call("GET", "/home/a")).text));
    expect(new Set(texts).size).toBe(3);
  });

  it("tells the log the cause, but not the credentials (SECURITY 14)", async () => {
    const test = await createBreakable();
    test.break(() => new Error("EIO: i/o error"));
    const id = await test.login();
    await test.call("GET", "/home/a");
    await test.call("GET", "/home/a", { as: null, headers: { authorization: `session ${id}` } });
    expect(test.log.text()).toContain("EIO: i/o error");
    expect(test.log.text()).not.toContain(id);
    expect(test.log.text()).not.toContain("YWxpY2U6c2VjcmV0");
    expect(test.log.text()).not.toMatch(/\bsecret\b/);
  });

  it("is answered as a page to browsers (4.6)", async () => {
    const test = await createBreakable();
    test.break(() => new Error(SECRET));
    const answer = await test.call("GET", "/home/f/", { variant: "html" });
    expect(answer.status).toBe(500);
    expect(answer.header("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.text).not.toMatch(leak);
  });

  it("leaves the service as it was for the next request (SECURITY 11)", async () => {
    const test = await createBreakable();
    test.break(() => new Error(SECRET));
    await test.call("PUT", "/home/a", { body: "new" });
    test.break(() => new StorageError("not-found"));
    expect((await test.call("GET", "/home/a")).status).toBe(404);
  });

  it("does not matter where a logger throws too (CONTRACT 8)", async () => {
    const broken = () => {
      throw new Error("the log's disk is full");
    };
    const base = createMemoryStorage();
    const storage = overrideStorage(base, { read: () => Promise.reject(new Error(SECRET)) });
    const logger = { info: broken, warn: broken, error: broken };
    const { call } = await createTestService({ storage, logger, files: { "/alice/a": "x" } });
    const answer = await call("GET", "/home/a");
    expect(answer.status).toBe(500);
    expect(answer.text).not.toMatch(leak);
  });
});

describe("a home folder that the storage fails to give", () => {
  it("is answered as any failure, at login and by Basic (CONTRACT 1)", async () => {
    const base = createMemoryStorage();
    let isBroken = false;
    const storage = overrideStorage(base, {
      async stat(path) {
        if (isBroken) throw new StorageError("unavailable", SECRET);
        return base.stat(path);
      },
    });
    const { call } = await createTestService({ storage });
    isBroken = true;
    const body = '{"username":"alice","password":"secret"}';
    const login = await call("POST", "/__svc__/login", {
      as: null,
      headers: { "content-type": "application/json" },
      body,
    });
    expect([login.status, leak.test(login.text)]).toEqual([503, false]);
    const read = await call("GET", "/home/a");
    expect([read.status, leak.test(read.text)]).toEqual([503, false]);
  });
});
