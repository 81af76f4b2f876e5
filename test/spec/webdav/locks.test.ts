import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { AtomicKeyValueStore } from "../../../src/contracts/atomic-store.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { sendForm } from "../../support/forms.ts";
import { startProcessorTime } from "../../support/processor-time.ts";
import { type Answer, basic, type CallOptions, type TestService } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";
import { call, createDav, hrefsOf, prop, set, undescribed } from "./calls.ts";

const owner = `<D:owner><D:href>mailto:alice@example</D:href></D:owner>`;

function lockBody(scope = "exclusive"): string {
  return `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:${scope}/></D:lockscope><D:locktype><D:write/></D:locktype>${owner}</D:lockinfo>`;
}

const asRoot: CallOptions = { as: "root" };

function lock(
  test: TestService,
  path: string,
  headers: Record<string, string> = {},
  scope = "exclusive",
  options: CallOptions = {},
): Promise<Answer> {
  return call(test, "LOCK", path, headers, lockBody(scope), options);
}

/** Locks a path; the token in its brackets. */
async function lockedAs(
  test: TestService,
  path: string,
  headers?: Record<string, string>,
  scope?: string,
  options?: CallOptions,
): Promise<string> {
  const answer = await lock(test, path, headers, scope, options);
  expect(answer.text).toContain("activelock");
  return answer.header("lock-token") ?? "";
}

const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status);

describe("LOCK (RFC 4918 9.10)", () => {
  it("answers with the token and the lock, and PROPFIND shows it", async () => {
    const test = await createDav();
    const answer = await lock(test, "/home/a.txt", { timeout: "Second-600" });
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/xml; charset=utf-8"]);
    const token = answer.header("lock-token") ?? "";
    expect(token).toMatch(/^<opaquelocktoken:[0-9a-f-]{36}>$/);
    expect(answer.text).toContain(
      `<D:lockscope><D:exclusive/></D:lockscope><D:depth>0</D:depth><D:owner xmlns:D="DAV:"><D:href>mailto:alice@example</D:href></D:owner><D:timeout>Second-600</D:timeout><D:locktoken><D:href>${token.slice(1, -1)}</D:href></D:locktoken><D:lockroot><D:href>/home/a.txt</D:href></D:lockroot>`,
    );
    const found = await call(test, "PROPFIND", "/home/", { depth: "1" }, prop("<lockdiscovery/><supportedlock/>"));
    expect(found.text).toContain(token.slice(1, -1));
    expect(found.text).toContain("<D:lockentry><D:lockscope><D:exclusive/></D:lockscope>");
    const all = await call(test, "PROPFIND", "/home/", { depth: "1" });
    expect([...all.text.matchAll(/<D:activelock>/g)]).toHaveLength(1);
    expect([...all.text.matchAll(/<D:supportedlock>/g)]).toHaveLength(1);
  });

  it("of a name that does not exist creates an empty file", async () => {
    const test = await createDav();
    const answer = await lock(test, "/home/new.txt");
    expect([answer.status, await test.stored("/alice/new.txt")]).toEqual([201, ""]);
    expect((await call(test, "PUT", "/home/new.txt", {}, "x")).status).toBe(423);
    const headers = { if: `(${answer.header("lock-token")})` };
    expect((await call(test, "PUT", "/home/new.txt", headers, "x")).status).toBe(201);
  });

  it("leaves no lock if the file cannot be created", async () => {
    const test = await createDav();
    expect((await lock(test, "/home/none/new.txt")).status).toBe(409);
    expect((await lock(test, "/home/none/")).status).toBe(404);
    expect((await call(test, "MKCOL", "/home/none/")).status).toBe(201);
    expect((await call(test, "PUT", "/home/none/new.txt", {}, "x")).status).toBe(201);
    expect((await lock(test, "/home/none/new.txt/x")).status).toBe(409);
  });

  it.each([
    ["exclusive", "exclusive", 423],
    ["exclusive", "shared", 423],
    ["shared", "exclusive", 423],
    ["shared", "shared", 200],
  ])("an %s lock and a %s one: %i", async (first, second, status) => {
    const test = await createDav();
    await lockedAs(test, "/home/a.txt", {}, first);
    const answer = await lock(test, "/home/a.txt", {}, second);
    expect(answer.status).toBe(status);
    if (status === 200) return;
    expect(answer.text).toContain(
      '<D:error xmlns:D="DAV:"><D:no-conflicting-lock><D:href>/home/a.txt</D:href></D:no-conflicting-lock></D:error>',
    );
  });

  it("of a folder with everything in it excludes locks around, in and below it", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/f", { depth: "infinity" });
    const inside = await lock(test, "/home/f/sub/deep.txt");
    expect([inside.status, hrefsOf(inside)]).toEqual([423, ["/home/f/"]]);
    expect((await lock(test, "/home/", { depth: "infinity" })).status).toBe(423);
    expect((await lock(test, "/home/", { depth: "0" })).status).toBe(200);
    expect((await lock(test, "/home/a.txt")).status).toBe(200);
    expect((await call(test, "UNLOCK", "/home/f/sub/deep.txt", { "lock-token": token })).status).toBe(204);
    expect((await lock(test, "/home/f/sub/deep.txt")).status).toBe(200);
  });

  it("grants at most maxLockSeconds, and a lock ends after its time", async () => {
    const test = await createDav({ webdav: { maxLockSeconds: 60 } });
    const answer = await lock(test, "/home/a.txt", { timeout: "Infinite, Second-4100000000" });
    expect(answer.text).toContain("<D:timeout>Second-60</D:timeout>");
    test.advance(61);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(201);
    expect((await lock(test, "/home/a.txt")).status).toBe(200);
  });

  it("without a body refreshes a lock: the token stays, the end is new", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt", { timeout: "Second-100" });
    test.advance(90);
    const answer = await call(test, "LOCK", "/home/a.txt", { if: `(${token})`, timeout: "Second-200" });
    expect([answer.status, answer.header("lock-token")]).toEqual([200, null]);
    expect(answer.text).toContain("Second-200");
    expect(answer.text).toContain(token.slice(1, -1));
    test.advance(150);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
  });

  it("a refresh of no lock, of another lock and of that of another account is refused", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    const refresh = (headers: Record<string, string>, options?: CallOptions) =>
      call(test, "LOCK", options === undefined ? "/home/a.txt" : "/home/alice/a.txt", headers, undefined, options);
    expect(statusesOf([await refresh({}), await refresh({ if: "(<urn:none>)" })])).toEqual([400, 412]);
    expect((await refresh({ if: `(${token})` }, asRoot)).status).toBe(412);
  });

  it("an account has at most locksPerAccount locks", async () => {
    const test = await createDav({ webdav: { locksPerAccount: 2 } });
    const token = await lockedAs(test, "/home/a.txt");
    await lockedAs(test, "/home/f/");
    expect(statusesOf([await lock(test, "/home/g/"), await lock(test, "/home/new")])).toEqual([507, 507]);
    expect(await test.stored("/alice/new")).toBe(undefined);
    expect((await lock(test, "/home/alice/g/", {}, "exclusive", asRoot)).status).toBe(200);
    await call(test, "UNLOCK", "/home/a.txt", { "lock-token": token });
    expect((await lock(test, "/home/new")).status).toBe(201);
  });

  it("the locks of an account have a limit for their owners, and for the folders around them", async () => {
    const deep = `/home/g/${Array.from({ length: 90 }, () => "d").join("/")}`;
    const test = await createDav({ webdav: { locksPerAccount: 10 } });
    await fillStorage(test.storage, { [`${deep.replace("/home", "/alice")}/x`]: "x" });
    const large = lockBody().replace(owner, `<D:owner>${"o".repeat(4000)}</D:owner>`);
    const tokens: string[] = [];
    for (let count = 0; count < 6; count += 1) {
      const answer = await call(test, "LOCK", `/home/g/${count}`, {}, large);
      expect(answer.status).toBe(201);
      tokens.push(answer.header("lock-token") ?? "");
    }
    const refused = [await call(test, "LOCK", "/home/g/6", {}, large), await lock(test, `${deep}/x`)];
    for (const answer of refused)
      expect([answer.status, answer.header("error-code")]).toEqual([507, "locks-too-large"]);
    expect((await lock(test, "/home/a.txt")).status).toBe(200);
    expect((await call(test, "LOCK", "/home/g/5", { if: `(${tokens[5]})` })).status).toBe(200);
    for (const [index, token] of tokens.entries())
      await call(test, "UNLOCK", `/home/g/${index}`, { "lock-token": token });
    expect((await lock(test, `${deep}/x`)).status).toBe(200);
  });

  it("one file has at most 100 shared locks", async () => {
    const test = await createDav();
    const answers = await Promise.all(Array.from({ length: 101 }, () => lock(test, "/home/a.txt", {}, "shared")));
    expect(statusesOf(answers).filter((status) => status === 507)).toHaveLength(1);
  });

  it("of 50 at once one is granted", async () => {
    const test = await createDav();
    const answers = await Promise.all(Array.from({ length: 50 }, () => lock(test, "/home/new.txt")));
    expect(statusesOf(answers).sort()).toEqual([201, ...Array.from({ length: 49 }, () => 423)]);
  });

  it("needs the permission to write", async () => {
    const permissions = [["allow-read", "allow-list"]] as const;
    const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
    const test = await createDav({ authentication: createAccountsAuthenticator({ accounts: [account] }) });
    expect(statusesOf([await lock(test, "/home/a.txt"), await lock(test, "/home/new.txt")])).toEqual([403, 403]);
    const found = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<supportedlock/>"));
    expect(found.text).toContain("<D:supportedlock/>");
  });

  it("a folder around a virtual folder cannot be locked with everything in it", async () => {
    const virtual_folders = [["/g/virtual", "/elsewhere"]] as const;
    const account = { username: "alice", password: "secret", home_folder_path: "/alice", virtual_folders };
    const test = await createDav({ authentication: createAccountsAuthenticator({ accounts: [account] }) });
    expect((await lock(test, "/home/g/", { depth: "infinity" })).status).toBe(403);
    expect((await lock(test, "/home/g/", { depth: "0" })).status).toBe(200);
    expect((await lock(test, "/home/g/virtual/", { depth: "infinity" })).status).toBe(200);
    const found = await call(test, "PROPFIND", "/home/g/", { depth: "1" }, prop("<lockdiscovery/>"));
    expect(found.text).toContain("<D:lockroot><D:href>/home/g/virtual/</D:href>");
  });
});

describe("UNLOCK (RFC 4918 9.11)", () => {
  it("ends a lock, also with a token without brackets", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    expect((await call(test, "UNLOCK", "/home/a.txt", { "lock-token": token.slice(1, -1) })).status).toBe(204);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(201);
  });

  it("without a token is 400, of no lock there 409, of another account's 403", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    const unlock = (headers: Record<string, string>, path = "/home/a.txt", options: CallOptions = {}) =>
      call(test, "UNLOCK", path, headers, undefined, options);
    expect(statusesOf([await unlock({}), await unlock({ "lock-token": "<x" })])).toEqual([400, 400]);
    const elsewhere = await unlock({ "lock-token": token }, "/home/f/");
    expect(elsewhere.status).toBe(409);
    expect(elsewhere.text).toContain("<D:lock-token-matches-request-uri/>");
    expect((await unlock({ "lock-token": token }, "/home/alice/a.txt", asRoot)).status).toBe(403);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
  });

  it("is 403 for an account whose name differs in case alone, unless both have one uuid", async () => {
    for (const [uuid, status] of [
      [undefined, 403],
      ["u-2", 403],
      ["u-1", 204],
    ] as const) {
      const home = { password: "secret", home_folder_path: "/alice" };
      const accounts = [
        { username: "alice", ...home, ...(uuid && { uuid: "u-1" }) },
        { username: "Alice", ...home, ...(uuid && { uuid }) },
      ];
      const test = await createDav({ authentication: createAccountsAuthenticator({ accounts }) });
      const token = await lockedAs(test, "/home/a.txt");
      const other = (method: string, headers: Record<string, string>, body?: string) =>
        call(test, method, "/home/a.txt", { authorization: basic("Alice", "secret"), ...headers }, body, { as: null });
      const found = await other("PROPFIND", { depth: "0" }, prop("<lockdiscovery/>"));
      expect(found.text.includes(token.slice(1, -1))).toBe(status === 204);
      expect((await other("UNLOCK", { "lock-token": token })).status).toBe(status);
    }
  });
});

describe("what a lock protects (RFC 4918 7)", () => {
  const lockedFile: [method: string, path: string, headers: Record<string, string>, body: string | undefined][] = [
    ["PUT", "/home/a.txt", {}, "x"],
    ["DELETE", "/home/a.txt", {}, undefined],
    ["PROPPATCH", "/home/a.txt", {}, set("<x:p/>")],
    ["MOVE", "/home/a.txt", { destination: "/home/b.txt" }, undefined],
    ["COPY", "/home/f/sub/deep.txt", { destination: "/home/a.txt" }, undefined],
    ["MOVE", "/home/f/sub/deep.txt", { destination: "/home/a.txt" }, undefined],
  ];

  it.each(lockedFile)("%s %s %j of a locked file is 423 for all, without the token", async (...request) => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    const [method, path, headers, body] = request;
    const answer = await call(test, method, path, headers, body);
    expect([answer.status, answer.text]).toEqual([
      423,
      '<?xml version="1.0" encoding="utf-8"?><D:error xmlns:D="DAV:"><D:lock-token-submitted><D:href>/home/a.txt</D:href></D:lock-token-submitted></D:error>',
    ]);
    const inAlice = (url: string) => url.replace("/home/", "/home/alice/");
    const others = Object.fromEntries(Object.entries(headers).map(([name, url]) => [name, inAlice(url)]));
    expect((await call(test, method, inAlice(path), others, body, asRoot)).status).toBe(423);
    const stolen = { ...others, if: `<${inAlice("/home/a.txt")}> (${token})` };
    expect((await call(test, method, inAlice(path), stolen, body, asRoot)).status).toBe(423);
    const submitted = { ...headers, if: `</home/a.txt> (${token})` };
    expect((await call(test, method, path, submitted, body)).status).toBeLessThan(300);
  });

  it("JSON, commands and forms obey too", async () => {
    const test = await createDav();
    await lockedAs(test, "/home/a.txt");
    const undescribed = "423 is in the document with the option alone";
    const json = { variant: "json", undescribed } as const;
    const put = await test.call("PUT", "/home/a.txt", { ...json, body: "x" });
    expect([put.status, put.header("error-code")]).toEqual([423, "locked"]);
    expect(put.json()).toEqual({ errors: [{ message: "Somebody is working on this." }] });
    const commands = [
      { command: "delete", target: "a.txt" },
      { command: "move", target: "a.txt", destination: "b.txt" },
    ];
    const headers = { "content-type": "application/json" };
    const answer = await test.call("POST", "/home/", { ...json, headers, body: JSON.stringify({ commands }) });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Somebody is working on this.")]);
    const form = [["action", "delete-members"] as const, ["selected-members", "a.txt"] as const];
    const page = await sendForm(test, "/home/", form, { undescribed });
    expect(page.text).toContain("Somebody is working on this.");
    expect(await test.stored("/alice/a.txt")).toBe("a");
  });

  it("a token in Lock-Token counts as submitted, and one under Not too", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    expect((await call(test, "PUT", "/home/a.txt", { "lock-token": token }, "x")).status).toBe(201);
    const negated = { if: `(Not <DAV:no-lock>) (Not ${token})` };
    expect((await call(test, "PUT", "/home/a.txt", negated, "x")).status).toBe(201);
  });

  it("of several shared locks one is enough", async () => {
    const test = await createDav();
    await lockedAs(test, "/home/alice/a.txt", {}, "shared", asRoot);
    const token = await lockedAs(test, "/home/a.txt", {}, "shared");
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
    expect((await call(test, "PUT", "/home/a.txt", { if: `(${token})` }, "x")).status).toBe(201);
  });

  it("a lock on a folder itself protects its names, not the content of its members", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/f/", { depth: "0" });
    const here = { if: `</home/f/> (${token})` };
    const requests = [
      ["PUT", "/home/f/new.txt", {}, "x"],
      ["MKCOL", "/home/f/new/"],
      ["DELETE", "/home/f/sub/"],
      ["MOVE", "/home/f/b%20&%20c.txt", { destination: "/home/x" }],
      ["COPY", "/home/a.txt", { destination: "/home/f/new.txt" }],
      ["LOCK", "/home/f/locked.txt", {}, lockBody()],
    ] as const;
    for (const [method, path, headers = {}, body] of requests) {
      expect([method, (await call(test, method, path, headers, body)).status]).toEqual([method, 423]);
    }
    expect((await call(test, "PUT", "/home/f/sub/deep.txt", {}, "x")).status).toBe(201);
    expect((await call(test, "PUT", "/home/f/b%20&%20c.txt", {}, "x")).status).toBe(201);
    for (const [method, path, headers = {}, body] of requests) {
      const { status } = await call(test, method, path, { ...headers, ...here }, body);
      expect([method, status < 300]).toEqual([method, true]);
    }
  });

  it("a folder with a lock deep in it is not removed, moved or replaced without the token", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/f/sub/deep.txt");
    const removal = await call(test, "DELETE", "/home/f/");
    expect([removal.status, hrefsOf(removal)]).toEqual([423, ["/home/f/sub/deep.txt"]]);
    expect((await call(test, "MOVE", "/home/f/", { destination: "/home/h/" })).status).toBe(423);
    expect((await call(test, "COPY", "/home/g/", { destination: "/home/f/" })).status).toBe(423);
    expect((await call(test, "COPY", "/home/f/", { destination: "/home/h/" })).status).toBe(201);
    const submitted = { if: `</home/f/sub/deep.txt> (${token})`, destination: "/home/moved/" };
    expect((await call(test, "MOVE", "/home/f/", submitted)).status).toBe(201);
    expect((await call(test, "PUT", "/home/moved/sub/deep.txt", {}, "x")).status).toBe(201);
  });

  it("a removal and a move end the locks of their source, a file over a file leaves those of the destination", async () => {
    const test = await createDav();
    const [first, second] = [await lockedAs(test, "/home/a.txt"), await lockedAs(test, "/home/f/sub/deep.txt")];
    const headers = { if: `</home/a.txt> (${first}) </home/f/sub/deep.txt> (${second})` };
    const moved = await call(test, "MOVE", "/home/a.txt", { ...headers, destination: "/home/f/sub/deep.txt" });
    expect(moved.status).toBe(204);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(201);
    expect((await call(test, "PUT", "/home/f/sub/deep.txt", {}, "x")).status).toBe(423);
    expect((await call(test, "DELETE", "/home/f/sub/deep.txt", { if: `(${second})` })).status).toBe(204);
    expect((await call(test, "PUT", "/home/f/sub/deep.txt", {}, "x")).status).toBe(201);
  });

  it("a copy that fails after it has removed what it replaces ends the locks of that", async () => {
    const memory = createMemoryStorage();
    const change = async (): Promise<never> => {
      throw new StorageError("no-space");
    };
    const storage = overrideStorage(memory, {
      attributes: { properties: async () => new Map([["{x}p", "1"]]), change },
    });
    const test = await createDav({ storage });
    const token = await lockedAs(test, "/home/f/sub/deep.txt");
    const headers = { if: `</home/f/sub/deep.txt> (${token})`, destination: "/home/f/", depth: "0" };
    expect((await call(test, "COPY", "/home/g/", { ...headers, overwrite: "F" })).status).toBe(412);
    expect((await call(test, "PUT", "/home/f/sub/deep.txt", {}, "x")).status).toBe(423);
    expect((await call(test, "COPY", "/home/g/", headers)).status).toBe(507);
    await fillStorage(memory, { "/alice/f/sub/": "" });
    expect((await call(test, "PUT", "/home/f/sub/deep.txt", {}, "x")).status).toBe(201);
  });

  it("a copy that is refused ends no lock of a name at which nothing was", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/g/new.txt");
    await test.storage.remove("/alice/g/new.txt");
    const headers = { "lock-token": token, destination: "/home/g/new.txt" };
    expect((await call(test, "COPY", "/home/none.txt", headers)).status).toBe(404);
    expect((await call(test, "PUT", "/home/g/new.txt", {}, "x")).status).toBe(423);
  });

  it("a lock on a very deep path holds, and one around it too", async () => {
    const deep = Array.from({ length: 40 }, (_, index) => `d${index}`).join("/");
    const test = await createDav({ storage: createMemoryStorage() });
    await fillStorage(test.storage, { [`/alice/${deep}/file.txt`]: "x" });
    const token = await lockedAs(test, `/home/${deep}/file.txt`);
    expect((await call(test, "PUT", `/home/${deep}/file.txt`, {}, "x")).status).toBe(423);
    expect((await lock(test, "/home/d0/", { depth: "infinity" })).status).toBe(423);
    expect((await call(test, "UNLOCK", `/home/${deep}/file.txt`, { "lock-token": token })).status).toBe(204);
    await lockedAs(test, "/home/d0/d1/", { depth: "infinity" });
    expect((await call(test, "PUT", `/home/${deep}/file.txt`, {}, "x")).status).toBe(423);
  });

  it("a path of thousands of levels costs no look at each of them", async () => {
    const store = createMemoryKeyValueStore();
    let looks = 0;
    const get = (key: string): Promise<unknown> => {
      looks += 1;
      return store.get(key);
    };
    const lockStore: AtomicKeyValueStore = { ...store, get };
    const test = await createDav({ webdav: { lockStore } });
    expect((await call(test, "PUT", `/home/${"a/".repeat(4000)}x`, {}, "x")).status).toBe(409);
    expect(looks).toBeLessThan(50);
  });

  it("a PROPFIND of a large folder looks once for the locks of its members", async () => {
    const store = createMemoryKeyValueStore();
    let looks = 0;
    const get = (key: string): Promise<unknown> => {
      looks += 1;
      return store.get(key);
    };
    const test = await createDav({ webdav: { lockStore: { ...store, get } } });
    for (let index = 0; index < 10_000; index += 1) await test.storage.createFolder(`/alice/g/${index}`);
    expect(hrefsOf(await call(test, "PROPFIND", "/home/g/", { depth: "1" }))).toHaveLength(10_001);
    expect(looks).toBeLessThan(10);
  });

  it("an upload that began before the lock is refused at its end", async () => {
    const test = await createDav();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const upload = test.call("PUT", "/home/a.txt", { body: readable, undescribed: "see above" });
    await writer.write(new TextEncoder().encode("late"));
    await lockedAs(test, "/home/a.txt");
    await writer.close();
    expect((await upload).status).toBe(423);
    expect(await test.stored("/alice/a.txt")).toBe("a");
  });

  it("a lock that is granted beside a removal or a move protects from then on", async () => {
    const store = createMemoryKeyValueStore();
    const wait = () => new Promise((resolve) => setTimeout(resolve, 3 * Math.random()));
    const lockStore: AtomicKeyValueStore = {
      ...store,
      async replace(...args) {
        await wait();
        const done = await store.replace(...args);
        await wait();
        return done;
      },
    };
    const test = await createDav({ webdav: { lockStore } });
    const race = async (number: number): Promise<void> => {
      const path = `/home/file-${number}`;
      await call(test, "PUT", path, {}, "x");
      const locking = lock(test, path);
      for (let turn = 0; turn < number % 5; turn += 1) await wait();
      const [method, headers] = number % 2 ? ["DELETE", {}] : ["MOVE", { destination: `/home/moved-${number}` }];
      await call(test, method, path, headers);
      const { status } = await locking;
      const change = await call(test, "PUT", path, {}, "other");
      expect([status < 300, change.status]).toEqual([true, 423]);
    };
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(Array.from({ length: 10 }, (_, index) => race(10 * round + index)));
    }
  });

  it("a client that leaves while its upload is judged holds up no lock", async () => {
    const versions = createVersionsStorage(createMemoryStorage());
    let judge: (reason: undefined) => void = () => undefined;
    let isAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    const beforeCommit = () =>
      new Promise<undefined>((resolve) => {
        judge = resolve;
        isAsked();
      });
    const test = await createDav({ storage: versions, versions: versions.versions, beforeCommit });
    const leaving = new AbortController();
    const upload = test.call("PUT", "/home/a.txt", { body: "x", signal: leaving.signal, undescribed: "it leaves" });
    await asked;
    leaving.abort();
    await upload.catch(() => undefined);
    judge(undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await lock(test, "/home/a.txt")).status).toBe(200);
  });

  it("a symlink in a locked folder is not removed without the token", async () => {
    const root = await mkdtemp(join(tmpdir(), "fileferry-locks-"));
    onTestFinished(() => rm(root, { recursive: true }));
    await mkdir(join(root, "alice/f"), { recursive: true });
    await symlink("elsewhere", join(root, "alice/f/link"));
    const test = await createDav({ storage: createDiskStorage({ root }) });
    const token = await lockedAs(test, "/home/f/", { depth: "0" });
    expect((await call(test, "DELETE", "/home/f/link")).status).toBe(423);
    expect((await call(test, "DELETE", "/home/f/link", { if: `</home/f/> (${token})` })).status).toBe(204);
  });

  it("other accounts see a lock, but not its token", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    const found = await call(test, "PROPFIND", "/home/alice/a.txt", { depth: "0" }, prop("<lockdiscovery/>"), asRoot);
    expect(found.text).toContain("<D:lockroot><D:href>/home/alice/a.txt</D:href></D:lockroot>");
    expect(found.text).not.toContain(token.slice(1, -1));
    expect(found.text).not.toContain("locktoken");
  });
});

describe("If (RFC 4918 10.4)", () => {
  it("is evaluated before locks, each list for its own URL", async () => {
    const test = await createDav();
    const token = await lockedAs(test, "/home/a.txt");
    const etag = (await test.call("GET", "/home/a.txt")).header("etag");
    const put = async (value: string) => (await call(test, "PUT", "/home/a.txt", { if: value }, "a")).status;
    expect(await put(`(${token} ["none"])`)).toBe(412);
    expect(await put("(<urn:other>)")).toBe(412);
    expect(await put(`</home/f/> (${token})`)).toBe(412);
    expect(await put(`</home/none> (${token}) </home/a.txt> (${token})`)).toBe(201);
    expect(await put("(Not <DAV:no-lock>)")).toBe(423);
    expect(await put(`</home/f/> (Not <urn:other>) <https://elsewhere/home/a.txt> (${token})`)).toBe(201);
    expect(await put("(<x")).toBe(400);
    expect(etag).not.toBe(null);
  });

  it("is evaluated again when a slow body has arrived", async () => {
    const test = await createDav();
    const startPut = async (condition: string) => {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
      const upload = test.call("PUT", "/home/a.txt", { headers: { if: condition }, body: readable, undescribed });
      const writer = writable.getWriter();
      await writer.write(new TextEncoder().encode("slow"));
      return async () => {
        await writer.close();
        return (await upload).status;
      };
    };
    const etag = (await test.call("GET", "/home/a.txt")).header("etag");
    const endFirst = await startPut(`([${etag}])`);
    await test.call("PUT", "/home/a.txt", { body: "other" });
    expect(await endFirst()).toBe(412);
    const token = await lockedAs(test, "/home/a.txt", { timeout: "Second-60" });
    const endSecond = await startPut(`(${token})`);
    test.advance(61);
    await test.call("PUT", "/home/a.txt", { body: "other" });
    expect(await endSecond()).toBe(412);
    expect(await test.stored("/alice/a.txt")).toBe("other");
    const now = (await test.call("GET", "/home/a.txt")).header("etag");
    // What a request itself has changed is no reason to refuse the rest.
    const dated = { if: `([${now}])`, "x-oc-mtime": "1000000000" };
    expect((await call(test, "PUT", "/home/a.txt", dated, "mine")).status).toBe(201);
  });

  it("compares entity-tags", async () => {
    const test = await createDav();
    const etag = (await test.call("GET", "/home/a.txt")).header("etag");
    const put = async (value: string) => (await call(test, "PUT", "/home/a.txt", { if: value }, "a")).status;
    expect([await put(`(["x"]) ([${etag}])`), await put(`(Not [${etag}])`)]).toEqual([201, 201]);
    expect(await put(`([${etag}])`)).toBe(412);
  });
});

describe("the option webdav.lockStore", () => {
  const failing = () => {
    const store = createMemoryKeyValueStore();
    return Object.assign(store, { get: () => Promise.reject(new Error("away")) });
  };

  it("a store that fails is 503, and nothing is changed unchecked", async () => {
    const test = await createDav({ webdav: { lockStore: failing() } });
    for (const [method, path, body] of [
      ["PUT", "/home/a.txt", "x"],
      ["DELETE", "/home/a.txt"],
      ["LOCK", "/home/a.txt", lockBody()],
      ["LOCK", "/home/new.txt", lockBody()],
    ] as const) {
      const answer = await call(test, method, path, {}, body);
      expect([answer.status, answer.header("retry-after")]).toEqual([503, "1"]);
    }
    expect([await test.stored("/alice/a.txt"), await test.stored("/alice/new.txt")]).toEqual(["a", undefined]);
    expect((await test.call("GET", "/home/a.txt")).status).toBe(200);
  });

  it("two services on one store see each other's locks", async () => {
    const lockStore = createMemoryKeyValueStore();
    const first = await createDav({ webdav: { lockStore } });
    const second = await createDav({ webdav: { lockStore }, storage: first.storage });
    await lockedAs(first, "/home/a.txt");
    expect((await call(second, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
  });

  it.each([
    [{ lockStore: new Map() }, "webdav.lockStore"],
    [{ maxLockSeconds: 59 }, "webdav.maxLockSeconds"],
    [{ locksPerAccount: 0 }, "webdav.locksPerAccount"],
  ])("%o is refused", async (webdav, name) => {
    // A host written in JavaScript may pass anything.
    await expect(createDav({ webdav: webdav as object })).rejects.toThrow(name);
  });
});

describe("what an attacker or an impatient user tries", () => {
  function createFor(permissions: NonNullable<AccountSettings["permissions"]>, more: Partial<FileServiceOptions> = {}) {
    const accounts = [
      { username: "alice", password: "secret", home_folder_path: "/alice", permissions },
      { username: "root", password: "toor", home_folder_path: "/" },
    ];
    return createDav({ authentication: createAccountsAuthenticator({ accounts }), ...more });
  }

  it("a copy over a locked folder is refused, also to an account that may create folders only", async () => {
    const permissions = ["allow-read", "allow-list", "allow-create-folder", "allow-delete-folder", "allow-delete-file"];
    const test = await createFor([permissions] as NonNullable<AccountSettings["permissions"]>);
    await lockedAs(test, "/home/alice/f/", { depth: "infinity" }, "exclusive", asRoot);
    expect((await call(test, "COPY", "/home/g/", { destination: "/home/f/" })).status).toBe(423);
    expect((await call(test, "DELETE", "/home/f/")).status).toBe(423);
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it("who may not change something does not learn that it is locked", async () => {
    const test = await createFor([["allow-read", "allow-list"]]);
    await lockedAs(test, "/home/alice/a.txt", {}, "exclusive", asRoot);
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(403);
    expect((await call(test, "DELETE", "/home/a.txt")).status).toBe(403);
  });

  it("a refusal names nothing in a folder that the account may not list", async () => {
    const all = "allow-full-control";
    const test = await createFor([[all], ["/f/sub | /f/sub/*", "deny-full-control"]]);
    await lockedAs(test, "/home/alice/f/sub/deep.txt", {}, "exclusive", asRoot);
    await lockedAs(test, "/home/alice/f/sub/other.txt", {}, "exclusive", asRoot);
    await lockedAs(test, "/home/alice/f/b%20&%20c.txt", {}, "exclusive", asRoot);
    const answers = [
      await call(test, "DELETE", "/home/f/"),
      await call(test, "MOVE", "/home/f/", { destination: "/home/h/" }),
      await call(test, "COPY", "/home/g/", { destination: "/home/f/" }),
      await lock(test, "/home/f/", { depth: "infinity" }),
    ];
    for (const answer of answers) {
      expect([answer.status, hrefsOf(answer).toSorted()]).toEqual([423, ["/home/f/b%20&amp;%20c.txt", "/home/f/sub/"]]);
    }
  });

  it("locks leave nothing in the store when they have ended, failed ones too", async () => {
    const texts = new Map<string, unknown>();
    const store = createMemoryKeyValueStore();
    const lockStore: AtomicKeyValueStore = {
      ...store,
      async replace(key, expected, next, ttl) {
        const isDone = await store.replace(key, expected, next, ttl);
        if (isDone && next === undefined) texts.delete(key);
        else if (isDone) texts.set(key, next);
        return isDone;
      },
    };
    const test = await createDav({ webdav: { lockStore, locksPerAccount: 2 } });
    for (let index = 0; index < 5; index += 1) await lock(test, `/home/none${index}/a/b/x`);
    const token = await lockedAs(test, "/home/f/sub/deep.txt");
    await lock(test, "/home/f/sub/deep.txt");
    await call(test, "UNLOCK", "/home/f/sub/deep.txt", { "lock-token": token });
    expect([...texts.keys()]).toEqual([]);
  });

  it("nothing deeper than 100 levels is locked", async () => {
    const deep = Array.from({ length: 100 }, () => "d").join("/");
    const test = await createDav({ storage: createMemoryStorage() });
    await fillStorage(test.storage, { [`/alice/${deep}/x`]: "x" });
    const answer = await lock(test, `/home/${deep}/x`);
    expect([answer.status, answer.header("error-code")]).toEqual([403, "lock-too-deep"]);
  });

  it("a listing stays small in a folder with many locks, and their owners are shown with the folder alone", async () => {
    const test = await createDav();
    const owner = `<D:owner>${"o".repeat(3000)}</D:owner>`;
    const body = lockBody("shared").replace(/<D:owner>.*<\/D:owner>/, owner);
    for (let count = 0; count < 20; count += 1) await call(test, "LOCK", "/home/f/", { depth: "infinity" }, body);
    const found = await call(test, "PROPFIND", "/home/f/", { depth: "1" }, prop("<lockdiscovery/>"));
    const [self = "", ...members] = found.text.split("<D:response>").slice(1);
    expect(self.match(/ooo<\/D:owner>/g)).toHaveLength(20);
    for (const member of members) expect(member.match(/<D:activelock>/g)).toHaveLength(10);
    expect(members.join("")).not.toContain("owner");
  });

  it("a lock that waits for a removal creates the file again, and a move does not end it", async () => {
    const inner = createMemoryStorage();
    let go: () => void = () => undefined;
    const waits = new Promise<void>((resolve) => {
      go = resolve;
    });
    const storage = overrideStorage(inner, { remove: (...args) => waits.then(() => inner.remove(...args)) });
    const test = await createDav({ storage });
    const removal = call(test, "DELETE", "/home/a.txt");
    const locking = lock(test, "/home/a.txt");
    await new Promise((resolve) => setTimeout(resolve, 20));
    go();
    expect((await removal).status).toBe(204);
    const answer = await locking;
    expect([answer.status, await test.stored("/alice/a.txt")]).toEqual([201, ""]);
    const headers = { if: `(${answer.header("lock-token")})` };
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
    expect((await call(test, "PUT", "/home/a.txt", headers, "x")).status).toBe(201);
  });

  it("a removal with thousands of locks in the tree is judged quickly", async () => {
    const test = await createDav({ webdav: { locksPerAccount: 10_000 } });
    // In several folders: each lock of a folder makes the next one there slower.
    for (let folder = 0; folder < amount({ short: 8, long: 30 }); folder += 1) {
      await call(test, "MKCOL", `/home/g/${folder}`);
      for (let count = 0; count < 50; count += 1) await lock(test, `/home/g/${folder}/${count}`);
    }
    const elapsed = startProcessorTime();
    const answer = await call(test, "DELETE", "/home/g/");
    expect([answer.status, hrefsOf(answer).length]).toEqual([423, 100]);
    expect(elapsed()).toBeLessThan(1000);
  }, 60_000);

  it("other requests run while locks deep in many folders are looked for", async () => {
    const test = await createDav();
    const paths = Array.from({ length: 40 }, (_, index) => `g/${index}/${"d/".repeat(50)}x`);
    await fillStorage(test.storage, Object.fromEntries(paths.map((path) => [`/alice/${path}`, "x"])));
    for (const path of paths) await lock(test, `/home/${path}`);
    let turns = 0;
    let isDone = false;
    const turn = (): void => {
      turns += 1;
      if (!isDone) setImmediate(turn);
    };
    const removal = call(test, "DELETE", "/home/g/");
    setImmediate(turn);
    expect((await removal).status).toBe(423);
    isDone = true;
    expect(turns).toBeGreaterThan(15);
  }, 60_000);

  it("If counts whatever else the client accepts", async () => {
    const test = await createDav();
    const headers = { if: '(["none"])', accept: "application/json, */*" };
    expect((await call(test, "PUT", "/home/a.txt", headers, "x")).status).toBe(412);
  });

  it("a refresh needs the permission to write", async () => {
    const lockStore = createMemoryKeyValueStore();
    const first = await createFor([["allow-full-control"]], { webdav: { lockStore } });
    const token = await lockedAs(first, "/home/a.txt");
    const second = await createFor([["allow-read", "allow-list"]], { webdav: { lockStore }, storage: first.storage });
    expect((await call(second, "LOCK", "/home/a.txt", { if: `(${token})` })).status).toBe(403);
  });

  it("a store that fails does not stop a PROPFIND that asks for no locks", async () => {
    const lockStore = Object.assign(createMemoryKeyValueStore(), { get: () => Promise.reject(new Error("away")) });
    const test = await createDav({ webdav: { lockStore } });
    expect((await call(test, "PROPFIND", "/home/", { depth: "1" })).status).toBe(207);
    expect((await call(test, "PROPFIND", "/home/", { depth: "1" }, prop("<lockdiscovery/>"))).status).toBe(503);
  });
});

describe("events of locks (CONTRACT 8)", () => {
  it("49003, 49004 and 49005 name the path, and never the token or the owner", async () => {
    const events: FileEvent[] = [];
    const test = await createDav({ onEvent: (event) => void events.push(event) });
    const token = await lockedAs(test, "/home/f/", { timeout: "Second-100" });
    await lock(test, "/home/f/sub/deep.txt");
    await call(test, "UNLOCK", "/home/f/", { "lock-token": token });
    const ofLocks = events.filter(({ id }) => id >= 49003 && id <= 49005);
    const folder = { path: "/f", real_path: "/alice/f", scope: "exclusive", depth: "infinity" };
    const file = { path: "/f/sub/deep.txt", real_path: "/alice/f/sub/deep.txt", scope: "exclusive", depth: "0" };
    expect(ofLocks.map(({ id, data }) => ({ id, data }))).toEqual([
      { id: 49003, data: { ...folder, seconds: 100 } },
      { id: 49004, data: { ...file, details: "Somebody else has a lock on this." } },
      { id: 49005, data: folder },
    ]);
  });
});
