import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAccountsFileAuthenticator } from "../../../src/auth/accounts/accounts-file-node.ts";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Accepted, Authenticator } from "../../../src/contracts/authenticator.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import { basic, bySession, createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const JSON_BODY = { "content-type": "application/json" };
const ELSEWHERE = { peer: { address: "192.0.2.99", port: 1, family: "IPv4", protocol: "TCP" } } as const;

let verified: string[];
let passwords: Map<string, string>;
let versions: Map<string, string>;
let settings: AccountSettings;

beforeEach(() => {
  verified = [];
  passwords = new Map([["alice", "secret"]]);
  versions = new Map([["alice", "1"]]);
  settings = { home_folder_path: "/alice" };
});

/**
 * Accounts that can say whether they are current, as ours can. `isOpaque`: as those of an external method, which
 * cannot.
 */
function createKeeper({ isOpaque = false } = {}): Authenticator {
  return {
    name: "keeper",
    async authenticate({ username, content }) {
      verified.push(username);
      if (passwords.get(username) !== content) return { outcome: "rejected" };
      const version = versions.get(username);
      const accepted: Accepted = { outcome: "accepted", account: settings };
      return isOpaque || version === undefined ? accepted : { ...accepted, version };
    },
    ...(!isOpaque && { isCurrent: async (username: string, version: string) => versions.get(username) === version }),
  };
}

function create(options: Partial<FileServiceOptions> = {}, keeper = createKeeper()): Promise<TestService> {
  return createTestService({ authentication: keeper, ...options });
}

/** The status of a listing by HTTP Basic. */
async function ask({ call }: TestService, password = "secret", username = "alice", connection = {}): Promise<number> {
  const headers = { authorization: basic(username, password) };
  return (await call("GET", "/home/", { as: null, variant: "json", headers, connection })).status;
}

describe("a login by HTTP Basic", () => {
  it("is verified once and remembered for 60 seconds (CONTRACT 6.4)", async () => {
    const test = await create();
    for (let count = 0; count < 5; count += 1) expect(await ask(test)).toBe(200);
    expect(verified).toEqual(["alice"]);
    test.advance(45);
    await ask(test);
    expect(verified).toHaveLength(1);
    test.advance(16);
    expect(await ask(test)).toBe(200);
    expect(verified).toHaveLength(2);
  });

  it.each([
    [0, 0],
    [30, 15],
    [3600, 3500],
  ])("is remembered for basicCacheSeconds: %i", async (basicCacheSeconds, within) => {
    const test = await create({ basicCacheSeconds });
    await ask(test);
    test.advance(within);
    await ask(test);
    expect(verified).toHaveLength(basicCacheSeconds === 0 ? 2 : 1);
    test.advance(101);
    await ask(test);
    expect(verified).toHaveLength(basicCacheSeconds === 0 ? 3 : 2);
  });

  it.each([-1, 3601, Number.NaN, "60"])("has no basicCacheSeconds of %s", async (basicCacheSeconds) => {
    await expect(create({ basicCacheSeconds: basicCacheSeconds as number })).rejects.toThrow("basicCacheSeconds");
  });

  it("is verified with each request where the method cannot tell whether it is current, unless asked for", async () => {
    const test = await create({}, createKeeper({ isOpaque: true }));
    await ask(test);
    await ask(test);
    expect(verified).toHaveLength(2);
    const other = await create({ basicCacheSeconds: 60 }, createKeeper({ isOpaque: true }));
    await ask(other);
    await ask(other);
    expect(verified).toHaveLength(3);
  });

  it("is remembered for 60 seconds whatever the method with WebDAV, each of whose requests is a login", async () => {
    const test = await create({ webdav: {} }, createKeeper({ isOpaque: true }));
    for (let count = 0; count < 3; count += 1) expect(await ask(test)).toBe(200);
    expect(verified).toHaveLength(1);
    test.advance(61);
    await ask(test);
    expect(verified).toHaveLength(2);
    const off = await create({ webdav: {}, basicCacheSeconds: 0 }, createKeeper({ isOpaque: true }));
    await ask(off);
    await ask(off);
    expect(verified).toHaveLength(4);
  });

  it("is never remembered as refused", async () => {
    const test = await create();
    expect(await ask(test, "wrong")).toBe(401);
    passwords.set("alice", "wrong");
    expect(await ask(test, "wrong")).toBe(200);
    expect(verified).toHaveLength(2);
  });

  it("is remembered for its own name and password alone", async () => {
    passwords.set("bob", "secret");
    const test = await create();
    await ask(test);
    expect(await ask(test, "Secret")).toBe(401);
    expect(await ask(test, "secret ")).toBe(401);
    expect(await ask(test, "secret", "Alice")).toBe(401);
    expect(await ask(test, "t", "alice:secre")).toBe(401);
    expect(await ask(test, "secret", "bob")).toBe(200);
    expect(verified).toEqual(["alice", "alice", "alice", "Alice", "alice", "bob"]);
  });

  it("emits the event of a login once while it is remembered", async () => {
    const events: unknown[] = [];
    const test = await create({ onEvent: ({ id }) => void events.push(id) });
    for (let count = 0; count < 3; count += 1) await ask(test);
    expect(events.filter((id) => id === 40007)).toHaveLength(1);
    test.advance(61);
    await ask(test);
    expect(events.filter((id) => id === 40007)).toHaveLength(2);
  });

  it("is verified once for requests that come at the same time, with one event", async () => {
    const events: unknown[] = [];
    const test = await create({ onEvent: ({ id }) => void events.push(id) });
    const statuses = await Promise.all(Array.from({ length: 20 }, () => ask(test)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(verified).toHaveLength(1);
    expect(events.filter((id) => id === 40007)).toHaveLength(1);
  });

  it("is verified for each request where it is not remembered, also at the same time", async () => {
    const test = await create({}, createKeeper({ isOpaque: true }));
    await Promise.all(Array.from({ length: 20 }, () => ask(test)));
    expect(verified).toHaveLength(20);
  });

  it("is verified again for a request that came after its password was changed", async () => {
    let end = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      end = resolve;
    });
    const keeper = createKeeper();
    const authenticate: Authenticator["authenticate"] = async (credentials) => {
      const verdict = await keeper.authenticate(credentials);
      if (verified.length === 1) await isHeld;
      return verdict;
    };
    const test = await create({}, { ...keeper, authenticate });
    const first = ask(test);
    await expect.poll(() => verified).toHaveLength(1);
    passwords.set("alice", "another");
    versions.set("alice", "2");
    const second = ask(test);
    end();
    expect(await first).toBe(200);
    expect(await second).toBe(401);
  });

  it("is admitted with each request until that succeeds", async () => {
    settings = { home_folder_path: "/new" };
    let isGone = true;
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      createFolder: async (path) => {
        if (isGone && path === "/new") throw new StorageError("unavailable", "gone");
        return base.createFolder(path);
      },
    });
    const test = await create({ storage });
    expect(await ask(test)).toBe(503);
    isGone = false;
    expect(await ask(test)).toBe(200);
    expect(verified).toHaveLength(1);
  });

  it("does not pass with a request from another site, remembered or not", async () => {
    const reasons: string[] = [];
    const test = await create({ onEvent: (event) => void (event.id === 40000 && reasons.push(event.data.reason)) });
    const headers = { authorization: basic("alice", "secret"), origin: "https://evil.example" };
    for (let count = 0; count < 2; count += 1)
      expect((await test.call("PUT", "/home/a", { as: null, headers, body: "x" })).status).toBe(403);
    await ask(test);
    expect((await test.call("PUT", "/home/a", { as: null, headers, body: "x" })).status).toBe(403);
    expect(reasons).toEqual(["cross-site", "cross-site", "cross-site"]);
  });
});

describe("a remembered login by HTTP Basic", () => {
  it("ends at once with a change of its account", async () => {
    const test = await create();
    await ask(test);
    passwords.set("alice", "another");
    versions.set("alice", "2");
    expect(await ask(test)).toBe(401);
    expect(await ask(test, "another")).toBe(200);
    // Not even if the account changes back: a refusal may have been meant.
    versions.set("alice", "1");
    expect(await ask(test)).toBe(401);
  });

  it("ends at once with the removal of its account", async () => {
    const test = await create();
    await ask(test);
    passwords.clear();
    versions.clear();
    expect(await ask(test)).toBe(401);
  });

  it("ends at once with endSessions, also in another process on the store", async () => {
    const store = createMemoryKeyValueStore({ clock: Date.now });
    const [test, other] = [await create({ session: { store } }), await create({ session: { store } })];
    await ask(test);
    await ask(other);
    expect(verified).toHaveLength(2);
    passwords.set("alice", "another");
    await test.service.endSessions("alice");
    expect(await ask(test)).toBe(401);
    expect(await ask(other)).toBe(401);
  });

  it("is invalid from the start if sessions were ended while it was verified", async () => {
    const keeper = createKeeper();
    const test = await create(
      {},
      {
        ...keeper,
        async authenticate(credentials) {
          const verdict = await keeper.authenticate(credentials);
          if (verified.length === 1) await test.service.endSessions("alice");
          return verdict;
        },
      },
    );
    expect(await ask(test)).toBe(200);
    expect(await ask(test)).toBe(200);
    expect(verified).toHaveLength(2);
  });

  it("does not pass while too many logins with its name have failed, from wherever it comes", async () => {
    const test = await create({ limits: { loginAttempts: 3 } });
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(200);
    for (let count = 0; count < 3; count += 1) expect(await ask(test, "wrong")).toBe(401);
    expect(await ask(test)).toBe(401);
    expect(await ask(test, "secret", "alice", ELSEWHERE), "below ten times the limit").toBe(200);
    for (let count = 0; count < 30; count += 1) {
      const peer = { ...ELSEWHERE.peer, address: `198.51.100.${count}` };
      expect(await ask(test, "wrong", "alice", { peer })).toBe(401);
    }
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(401);
    test.advance(601);
    expect(await ask(test)).toBe(200);
  });

  it("does not pass from an address from which too many logins have failed", async () => {
    const test = await create({ limits: { loginAttempts: 3 } });
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(200);
    for (const name of ["bob", "carol", "dave"]) expect(await ask(test, "x", name, ELSEWHERE)).toBe(401);
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(401);
    expect(await ask(test)).toBe(200);
  });

  it("is verified again when its method or the store of sessions cannot say whether it is current", async () => {
    const base = createMemoryKeyValueStore({ clock: Date.now });
    let isBroken = false;
    const store: KeyValueStore = {
      ...base,
      get: (key) => (isBroken ? Promise.reject(new Error("gone")) : base.get(key)),
    };
    const loginStore = createMemoryKeyValueStore({ clock: Date.now });
    const test = await create({ session: { store }, limits: { loginStore } });
    await ask(test);
    isBroken = true;
    expect(await ask(test)).toBe(200);
    expect(await ask(test)).toBe(200);
    expect(verified).toHaveLength(3);
  });

  it("leaves room for others: at most 1,000 are remembered, the newest ones", async () => {
    const names = Array.from({ length: 1001 }, (_, index) => `user-${index}`);
    for (const name of names) {
      passwords.set(name, "secret");
      versions.set(name, "1");
    }
    settings = { home_folder_path: "/alice" };
    const test = await create();
    for (const name of names) await ask(test, "secret", name);
    await ask(test, "secret", "user-1000");
    await ask(test, "secret", "user-1");
    expect(verified).toHaveLength(1001);
    await ask(test, "secret", "user-0");
    expect(verified).toHaveLength(1002);
  });
});

describe("an attacker beside a remembered login", () => {
  it("has no more guesses than without it, also when all come at once", async () => {
    const test = await create({ limits: { loginAttempts: 3 } });
    await ask(test, "secret", "alice", ELSEWHERE);
    await ask(test);
    const guesses = Array.from({ length: 200 }, (_, index) => (index === 150 ? "secret" : `guess-${index}`));
    const statuses = await Promise.all(guesses.map((guess) => ask(test, guess)));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(verified).toHaveLength(5);
  });

  it("cannot tell the right password by the work of the service while it is locked out", async () => {
    let reads = 0;
    const base = createMemoryKeyValueStore({ clock: Date.now });
    const store: KeyValueStore = {
      ...base,
      get: (key) => {
        reads += 1;
        return base.get(key);
      },
    };
    const test = await create({ limits: { loginAttempts: 3 }, session: { store } });
    await ask(test, "secret", "alice", ELSEWHERE);
    for (const name of ["bob", "carol", "dave"]) expect(await ask(test, "x", name, ELSEWHERE)).toBe(401);
    const costs: number[] = [];
    for (const password of ["secret", "wrong"]) {
      reads = 0;
      expect(await ask(test, password, "alice", ELSEWHERE)).toBe(401);
      costs.push(reads);
    }
    expect(costs[0]).toBe(costs[1]);
  });

  it.each([
    ["locked out", 3],
    ["with guesses left", 0],
  ])("cannot tell the right password by the order of responses while it is %s", async (_, failures) => {
    // Each access takes a while, as with a store of another machine.
    const base = createMemoryKeyValueStore({ clock: Date.now });
    const slow = async <T>(work: () => Promise<T>): Promise<T> => {
      await new Promise((resolve) => setTimeout(resolve, 2));
      return work();
    };
    const loginStore: KeyValueStore = {
      get: (key) => slow(() => base.get(key)),
      set: (key, value, ttl) => slow(() => base.set(key, value, ttl)),
      delete: (key) => slow(() => base.delete(key)),
    };
    const test = await create({ limits: { loginAttempts: 3, loginStore } });
    await ask(test, "secret", "alice", ELSEWHERE);
    for (let count = 0; count < failures; count += 1) await ask(test, "wrong", `other-${count}`, ELSEWHERE);
    const guesses = Array.from({ length: 20 }, (_unused, index) => (index === 10 ? "secret" : `guess-${index}`));
    const order: number[] = [];
    const asked = guesses.map(async (guess, index) => {
      expect(await ask(test, guess, "alice", ELSEWHERE)).toBe(401);
      order.push(index);
    });
    await Promise.all(asked);
    // The first three are made, the others wait for them.
    const others = order.filter((index) => index > 2);
    expect(others).toEqual([...others].sort((one, other) => one - other));
  });

  it("is counted while the owner's password is being verified, because only that one would pass", async () => {
    let calls = 0;
    let isBusy = false;
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const keeper = createKeeper();
    const authenticate: Authenticator["authenticate"] = async (credentials) => {
      calls += 1;
      if (isBusy) throw new HttpError("unavailable", "Too many logins.");
      await gate;
      return keeper.authenticate(credentials);
    };
    const test = await create({ limits: { loginAttempts: 5 } }, { ...keeper, authenticate });
    const owner = ask(test);
    await expect.poll(() => calls).toBe(1);
    isBusy = true;
    const statuses = [await ask(test, "wrong-1"), await ask(test, "wrong-2"), await ask(test, "wrong-3")];
    expect(statuses).toEqual([503, 503, 503]);
    go();
    expect(await owner).toBe(200);
    // The owner's success clears the failures of the name, not the three of the address.
    isBusy = false;
    const more = [await ask(test, "wrong-4"), await ask(test, "wrong-5"), await ask(test)];
    expect(more).toEqual([401, 401, 401]);
  });

  it("does not have its failures cleared by an account that is never admitted", async () => {
    const test = await create({ limits: { loginAttempts: 3 } });
    const put = () => {
      const headers = { authorization: basic("alice", "secret"), origin: "https://evil.example" };
      return test.call("PUT", "/home/a", { as: null, headers, body: "x" });
    };
    expect((await put()).status).toBe(403);
    for (let count = 0; count < 2; count += 1) await ask(test, "wrong");
    expect((await put()).status).toBe(403);
    expect(await ask(test, "wrong")).toBe(401);
    expect(await ask(test)).toBe(401);
    expect(verified).toHaveLength(4);
  });

  it("is counted where nothing can be verified, because only the remembered password would pass", async () => {
    let isBusy = false;
    const keeper = createKeeper();
    const authenticate: Authenticator["authenticate"] = async (credentials) => {
      if (isBusy) throw new HttpError("unavailable", "Too many logins.");
      return keeper.authenticate(credentials);
    };
    const test = await create({ limits: { loginAttempts: 3 } }, { ...keeper, authenticate });
    await ask(test);
    isBusy = true;
    for (let count = 0; count < 3; count += 1) expect(await ask(test, "wrong")).toBe(503);
    expect(await ask(test)).toBe(401);
    for (let count = 0; count < 4; count += 1) expect(await ask(test, "x", "bob", ELSEWHERE)).toBe(503);
  });

  it("is counted where an endpoint is down, from the address of the remembered login alone", async () => {
    let isDown = false;
    const keeper = createKeeper({ isOpaque: true });
    const authenticate: Authenticator["authenticate"] = async (credentials) =>
      isDown ? { outcome: "rejected", reason: "unavailable" } : keeper.authenticate(credentials);
    const options = { limits: { loginAttempts: 3 }, basicCacheSeconds: 3600 };
    const test = await create(options, { ...keeper, authenticate });
    await ask(test, "secret", "alice", ELSEWHERE);
    isDown = true;
    for (let count = 0; count < 5; count += 1) expect(await ask(test, "wrong")).toBe(401);
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(200);
    for (let count = 0; count < 3; count += 1) expect(await ask(test, "wrong", "alice", ELSEWHERE)).toBe(401);
    expect(await ask(test, "secret", "alice", ELSEWHERE)).toBe(401);
  });

  it("does not have its failures cleared by the requests of a client that is remembered", async () => {
    const test = await create({ limits: { loginAttempts: 3 } });
    await ask(test);
    for (let count = 0; count < 2; count += 1) await ask(test, "wrong");
    expect(await ask(test)).toBe(200);
    expect(await ask(test, "wrong")).toBe(401);
    expect(await ask(test)).toBe(401);
  });
});

describe("what an authentication method decides beside the password", () => {
  it.each<[string, { readonly connection?: object; readonly scheme?: "http" | "https" }]>([
    ["the address", { connection: ELSEWHERE }],
    ["the scheme", { scheme: "https" }],
  ])("counts with each request: %s", async (_what, { connection, scheme = "http" }) => {
    const test = await create();
    await ask(test);
    const headers = { authorization: basic("alice", "secret") };
    await test.call("GET", "/home/", { as: null, variant: "json", headers, scheme, ...(connection && { connection }) });
    expect(verified).toHaveLength(2);
    await ask(test);
    expect(verified).toHaveLength(2);
  });

  it("counts with each request where another method of the chain was asked before", async () => {
    const asked: string[] = [];
    const first: Authenticator = {
      name: "first",
      async authenticate({ username }) {
        asked.push(username);
        return asked.length === 1 ? { outcome: "unknown" } : { outcome: "rejected" };
      },
      isCurrent: async () => true,
    };
    const test = await createTestService({ authentication: [first, createKeeper()] });
    expect(await ask(test)).toBe(200);
    expect(await ask(test)).toBe(401);
  });
});

describe("the time for which a login is remembered", () => {
  it("does not outlive the notice that sessions were ended", async () => {
    const session = { maxSeconds: 600, idleSeconds: 300 };
    const test = await create({ basicCacheSeconds: 3600, session }, createKeeper({ isOpaque: true }));
    await ask(test);
    passwords.set("alice", "another");
    await test.service.endSessions("alice");
    test.advance(1000);
    expect(await ask(test)).toBe(401);
  });

  it("ends when the clock goes back", async () => {
    const test = await create();
    await ask(test);
    test.advance(-86_400);
    await ask(test);
    expect(verified).toHaveLength(2);
  });
});

describe("a remembered login of the accounts file", () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-basic-"));
    file = join(folder, "accounts.json");
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function write(password: string | undefined, isPlain = false): Promise<void> {
    const own = password === undefined || isPlain ? password : await quickHasher.hash(password);
    const alice = own && { username: "alice", password: own, home_folder_path: "/alice" };
    await writeFile(`${file}.new`, JSON.stringify({ accounts: alice ? [alice] : [] }));
    await rename(`${file}.new`, file);
  }

  it.each<[string, string | undefined, boolean]>([
    ["another password", "another", false],
    ["another plain-text password", "another", true],
    ["no account any more", undefined, false],
  ])("ends within a second when the file has %s", async (_what, password, isPlain) => {
    await write("secret", isPlain);
    let seconds = 0;
    const clock = () => seconds * 1000;
    const logger = createRecordingLogger();
    const authentication = createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, logger, clock });
    const test = await createTestService({ authentication });
    expect(await ask(test)).toBe(200);
    await write(password, isPlain);
    seconds = 2;
    expect(await ask(test)).toBe(401);
  });

  it("ends at once when the account changes its own password", async () => {
    await write("secret");
    const authentication = createAccountsFileAuthenticator({
      file,
      passwordHasher: quickHasher,
      logger: createRecordingLogger(),
    });
    const test = await createTestService({
      authentication,
      groups: { DEFAULT_GROUP: { allow_own_password_change: true } },
    });
    expect(await ask(test)).toBe(200);
    const headers = { ...bySession(await test.login()), ...JSON_BODY };
    const body = JSON.stringify({ current_password: "secret", new_password: "a password for tests" });
    const changed = await test.call("POST", "/home/__svc__/password-update", {
      as: null,
      variant: "json",
      headers,
      body,
    });
    expect(changed.status).toBe(200);
    expect(await ask(test)).toBe(401);
    expect(await ask(test, "a password for tests")).toBe(200);
  });
});
