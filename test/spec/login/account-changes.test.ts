import fs from "node:fs";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createAccountsFileAuthenticator } from "../../../src/auth/accounts/accounts-file-node.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { importAgain } from "../../support/modules.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import { bySession, createTestService, sessionOf, type TestService } from "../../support/service.ts";

const NEW = "a password for tests";
const JSON_BODY = { "content-type": "application/json" };

interface Entry {
  readonly username: string;
  readonly password: string;
  readonly [member: string]: unknown;
}

let folder: string;
let file: string;
let seconds: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-changes-"));
  file = join(folder, "accounts.json");
  seconds = 0;
  await write(await toEntries());
});
afterEach(() => rm(folder, { recursive: true }));

async function toEntries(alicesPassword = "secret", more: object = {}): Promise<readonly Entry[]> {
  return [
    { username: "alice", password: await quickHasher.hash(alicesPassword), home_folder_path: "/alice", ...more },
    { username: "bob", password: await quickHasher.hash("hunter2") },
  ];
}

/** Replaces the file by renaming, as operators should. */
async function write(accounts: readonly Entry[]): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify({ accounts }));
  await rename(`${file}.new`, file);
}

/** A service as each process has one. */
function createProcess(store: KeyValueStore = createMemoryKeyValueStore()): Promise<TestService> {
  const clock = () => seconds * 1000;
  const logger = createRecordingLogger();
  const authentication = createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, logger, clock });
  return createTestService({ authentication, session: { store } });
}

async function statusOf({ call }: TestService, id: string): Promise<number> {
  return (await call("GET", "/home/", { as: null, variant: "json", headers: bySession(id) })).status;
}

async function loginWith({ call }: TestService, password: string): Promise<string> {
  const body = JSON.stringify({ username: "alice", password });
  return sessionOf(await call("POST", "/__svc__/login", { as: null, headers: JSON_BODY, body }));
}

async function changePassword({ call }: TestService, id: string): Promise<number> {
  const headers = { ...bySession(id), ...JSON_BODY };
  const body = JSON.stringify({ current_password: "secret", new_password: NEW });
  return (await call("POST", "/home/__svc__/password-update", { as: null, variant: "json", headers, body })).status;
}

describe("an account of the accounts file that the operator changes", () => {
  it.each<[string, () => Promise<readonly Entry[]>]>([
    ["is removed", async () => (await toEntries()).slice(1)],
    ["has another password", () => toEntries("another")],
    ["may do less", () => toEntries("secret", { permissions: [["allow-list"]] })],
  ])("and that %s has no session any more within a second, others keep theirs", async (_what, toChanged) => {
    const test = await createProcess();
    const [alices, bobs] = [await test.login("alice"), await test.login("bob")];
    await write(await toChanged());
    seconds += 1;
    expect([await statusOf(test, alices), await statusOf(test, bobs)]).toEqual([401, 200]);
  });

  it("has none of its former sessions when it is put back as it was", async () => {
    const store = createMemoryKeyValueStore();
    const [one, other] = [await createProcess(store), await createProcess(store)];
    const id = await one.login();
    const entries = await toEntries();
    await write(entries.slice(1));
    seconds += 1;
    expect(await statusOf(one, id)).toBe(401);
    await write(entries);
    seconds += 1;
    expect([await statusOf(one, id), await statusOf(other, id)]).toEqual([401, 401]);
    expect(await statusOf(other, await one.login())).toBe(200);
  });

  it("keeps its sessions beside a process on the same store that lacks the method of its login", async () => {
    const store = createMemoryKeyValueStore();
    const test = await createProcess(store);
    const authentication = createAccountsAuthenticator({
      accounts: [{ username: "bob", password: "of another process" }],
      logger: createRecordingLogger(),
    });
    const other = await createTestService({
      authentication: { ...authentication, name: "others" },
      session: { store },
    });
    const id = await test.login("alice");
    expect([await statusOf(other, id), await statusOf(test, id)]).toEqual([401, 200]);
  });

  it("keeps its sessions where the file is merely written anew", async () => {
    const test = await createProcess();
    const id = await test.login("alice");
    await write(
      [...(await toEntries()).map((entry) => Object.fromEntries(Object.entries(entry).reverse()) as Entry)].reverse(),
    );
    seconds += 1;
    expect(await statusOf(test, id)).toBe(200);
  });

  it("keeps its sessions while the file is broken, as the former accounts stay", async () => {
    const test = await createProcess();
    const id = await test.login("alice");
    await writeFile(file, "{");
    seconds += 1;
    expect(await statusOf(test, id)).toBe(200);
    await rm(file);
    seconds += 1;
    expect(await statusOf(test, id)).toBe(200);
  });

  it("has sessions again from its next login on, in every process at once", async () => {
    const store = createMemoryKeyValueStore();
    const [one, other] = [await createProcess(store), await createProcess(store)];
    const former = await one.login();
    seconds += 1;
    // From now on the other process has seen the old file within the last second.
    expect(await statusOf(other, former)).toBe(200);
    await write(await toEntries("another"));
    const id = await loginWith(one, "another");
    expect(await statusOf(other, id)).toBe(200);
    seconds += 1;
    expect([await statusOf(one, id), await statusOf(other, id)]).toEqual([200, 200]);
    expect([await statusOf(one, former), await statusOf(other, former)]).toEqual([401, 401]);
  });
});

describe("logins while the file system of the accounts file hangs", () => {
  it("are judged by the accounts read last, after a while", async () => {
    const test = await createProcess();
    await test.login("alice");
    const own = fs.promises.open;
    fs.promises.open = () => new Promise(() => undefined);
    syncBuiltinESMExports();
    onTestFinished(() => {
      fs.promises.open = own;
      syncBuiltinESMExports();
    });
    seconds += 1;
    const begun = performance.now();
    const ids = await Promise.all([test.login("alice"), test.login("bob")]);
    expect(performance.now() - begun).toBeGreaterThan(4900);
    for (const id of ids) expect(await statusOf(test, id)).toBe(200);
  });
});

describe("sessions while the file system of the accounts file hangs", () => {
  it("are answered as before, also many at once; a look that ends later counts", async () => {
    const test = await createProcess();
    const [alices, bobs] = [await test.login("alice"), await test.login("bob")];
    await write((await toEntries()).slice(1));
    const own = fs.promises.open;
    const opened: (() => void)[] = [];
    fs.promises.open = (...args) =>
      new Promise((resolve) => {
        opened.push(() => resolve(own(...args)));
      });
    syncBuiltinESMExports();
    onTestFinished(restore);
    for (let round = 0; round < 3; round += 1) {
      seconds += 1;
      const ids = [alices, bobs, alices, bobs];
      expect(await Promise.all(ids.map((id) => statusOf(test, id)))).toEqual([200, 200, 200, 200]);
    }
    expect(opened).toHaveLength(1);
    restore();
    for (const open of opened) open();
    await expect.poll(() => statusOf(test, alices)).toBe(401);
    expect(await statusOf(test, bobs)).toBe(200);

    function restore(): void {
      fs.promises.open = own;
      syncBuiltinESMExports();
    }
  });
});

describe("an account that changes its own password in the accounts file", () => {
  it("keeps the session that did it in every process, and no other", async () => {
    const store = createMemoryKeyValueStore();
    const [one, other] = [await createProcess(store), await createProcess(store)];
    const [used, unused] = [await one.login(), await other.login()];
    expect(await changePassword(one, used)).toBe(200);
    for (const process of [one, other, one, other]) {
      expect([await statusOf(process, used), await statusOf(process, unused)]).toEqual([200, 401]);
      seconds += 1;
    }
    await write(await toEntries("another"));
    seconds += 1;
    expect([await statusOf(one, used), await statusOf(other, used)]).toEqual([401, 401]);
  });

  it("keeps it at every moment of the change", async () => {
    const test = await createProcess();
    const id = await test.login();
    let isDone = false;
    const change = changePassword(test, id).finally(() => {
      isDone = true;
    });
    const statuses = new Set<number>();
    while (!isDone) {
      seconds += 1;
      statuses.add(await statusOf(test, id));
    }
    expect(await change).toBe(200);
    expect([...statuses]).toEqual([200]);
  });
});

describe("an account whose method is wrapped in another one", () => {
  it("has its sessions, which changes of the account end only where the wrapper hands isCurrent on", async () => {
    const clock = () => seconds * 1000;
    const inner = createAccountsFileAuthenticator({
      file,
      passwordHasher: quickHasher,
      logger: createRecordingLogger(),
      clock,
    });
    const merely = { name: "audited", authenticate: inner.authenticate };
    const wholly = { ...inner, name: "audited" };
    for (const [authentication, after] of [
      [merely, 200],
      [wholly, 401],
    ] as const) {
      await write(await toEntries());
      seconds += 1;
      const test = await createTestService({ authentication });
      const id = await test.login();
      expect(await statusOf(test, id)).toBe(200);
      await write((await toEntries()).slice(1));
      seconds += 1;
      expect(await statusOf(test, id)).toBe(after);
    }
  });
});

describe("what the store keeps of an account's version", () => {
  it("gives away neither a hash nor a password: of a plain one, a change counts in its own process alone", async () => {
    const logger = createRecordingLogger();
    const kept: string[] = [];
    const inner = createMemoryKeyValueStore();
    const store: KeyValueStore = {
      ...inner,
      set: (key, value, ttl) => {
        kept.push(`${key} ${JSON.stringify(value)}`);
        return inner.set(key, value, ttl);
      },
    };
    const create = (password: string, createAuthenticator = createAccountsAuthenticator) => {
      const accounts = [{ username: "alice", password, home_folder_path: "/alice" }];
      const authentication = createAuthenticator({ accounts, passwordHasher: quickHasher, logger });
      return createTestService({ authentication, session: { store } });
    };
    const phc = await quickHasher.hash("secret");
    const hashed = await create(phc);
    const id = await hashed.login();
    expect(await statusOf(await create(phc), id)).toBe(200);
    expect(await statusOf(await create(await quickHasher.hash("another")), id)).toBe(401);
    const plain = await (await create("secret")).login();
    const elsewhere = await importAgain<{ createAccountsAuthenticator: typeof createAccountsAuthenticator }>(
      "auth/accounts/accounts.ts",
    );
    const inAnotherProcess = await create("another", elsewhere.createAccountsAuthenticator);
    expect(await statusOf(inAnotherProcess, plain)).toBe(200);
    expect(await statusOf(await create("another"), plain)).toBe(401);
    expect(await statusOf(hashed, plain)).toBe(401);
    expect(kept.join()).not.toContain("scrypt");
    expect(kept.join()).not.toContain("secret");
  });
});

describe("service.endSessions", () => {
  it("ends an account's sessions in every process, whatever its method, and nobody else's", async () => {
    const store = createMemoryKeyValueStore();
    const [one, other] = [
      await createTestService({ session: { store } }),
      await createTestService({ session: { store } }),
    ];
    const alices = [await one.login(), await other.login()];
    const bobs = await one.login("bob");
    await one.service.endSessions("alice");
    for (const id of alices) expect([await statusOf(one, id), await statusOf(other, id)]).toEqual([401, 401]);
    expect(await statusOf(one, bobs)).toBe(200);
    expect(await statusOf(other, await one.login())).toBe(200);
  });

  it("ends that of a login that is under way", async () => {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const authenticate = async () => {
      await gate;
      return { outcome: "accepted", account: { home_folder_path: "/alice" } } as const;
    };
    const test = await createTestService({ authentication: { name: "slow", authenticate } });
    const login = test.login();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await test.service.endSessions("alice");
    finish();
    expect(await statusOf(test, await login)).toBe(401);
  });

  it("rejects while the store fails", async () => {
    const broken = () => Promise.reject(new Error("down"));
    const test = await createTestService({ session: { store: { get: broken, set: broken, delete: broken } } });
    await expect(test.service.endSessions("alice")).rejects.toMatchObject({ failure: "unavailable" });
  });
});
