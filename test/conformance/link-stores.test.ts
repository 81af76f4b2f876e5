import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileService } from "../../src/contracts/file-service.ts";
import type { KeyValueStore } from "../../src/contracts/key-value-store.ts";
import type { NewLink } from "../../src/contracts/links.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { type CloudflareKvNamespace, createCloudflareKvStore } from "../../src/stores/cloudflare-kv.ts";
import { createDurableObjectStore, type DurableObjectNamespace } from "../../src/stores/durable-object.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { createRedisStore } from "../../src/stores/redis.ts";
import { createSqliteStore, type SqliteDatabase, shareSqliteDatabase } from "../../src/stores/sqlite.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { hasRedis, redisNote, startRedis } from "../support/redis.ts";
import { fillStorage } from "../support/storage.ts";
import { startSourceWorker } from "../support/workers/source-worker.ts";

const SECRET = "the same secret in all processes";

/** Two connections to one store, as two processes have them, and what closes them. */
interface Stores {
  readonly one: KeyValueStore;
  readonly other: KeyValueStore;
  close?(): Promise<unknown>;
}

async function connectToRedis(): Promise<Stores> {
  const redis = await startRedis();
  const clients = [createClient({ url: redis.url }), createClient({ url: redis.url })] as const;
  for (const client of clients) await client.on("error", () => undefined).connect();
  async function close(): Promise<void> {
    for (const client of clients) client.destroy();
    await redis.stop();
  }
  return { one: createRedisStore(clients[0]), other: createRedisStore(clients[1]), close };
}

type Sqlite = { readonly DatabaseSync: new (file: string) => SqliteDatabase & { close(): void } };
const sqlite = (await import("node:sqlite" as string).catch(() => undefined)) as Sqlite | undefined;
const sqliteNote = sqlite === undefined ? " (skipped: this Node has no SQLite)" : "";

async function openSqlite(): Promise<Stores> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-links-"));
  const { DatabaseSync } = sqlite as Sqlite;
  const databases = [new DatabaseSync(join(folder, "links.db")), new DatabaseSync(join(folder, "links.db"))] as const;
  for (const database of databases) await shareSqliteDatabase(database);
  async function close(): Promise<void> {
    for (const database of databases) database.close();
    await rm(folder, { recursive: true });
  }
  return { one: createSqliteStore(databases[0]), other: createSqliteStore(databases[1]), close };
}

const OBJECTS = `
export { FileferryStore } from "./src/stores/durable-object.ts";
export default { fetch: () => new Response() };
`;

async function startObjects(): Promise<Stores> {
  const durableObjects = { STORE: { className: "FileferryStore", useSQLite: true } };
  const worker = await startSourceWorker(OBJECTS, { durableObjects });
  const namespace = (await worker.getDurableObjectNamespace("STORE")) as unknown as DurableObjectNamespace;
  // Made once: the emulator answers these two calls synchronously, and fails for good if many of them come at once.
  const id = namespace.idFromName("fileferry:0");
  const stub = namespace.get(id);
  const connect = (): KeyValueStore => createDurableObjectStore({ idFromName: () => id, get: () => stub });
  return { one: connect(), other: connect(), close: () => worker.dispose() };
}

async function startWorkersKv(): Promise<Stores> {
  const script = "export default { fetch: () => new Response() }";
  const worker = new Miniflare({ modules: true, script, kvNamespaces: ["LINKS"], cf: false });
  const namespace = (await worker.getKVNamespace("LINKS")) as unknown as CloudflareKvNamespace;
  const connect = (): KeyValueStore => createCloudflareKvStore(namespace);
  return { one: connect(), other: connect(), close: () => worker.dispose() };
}

/** A store without `replace`, which answers a moment later, as those over a network do. */
function createPlainStores(): Stores {
  const { get, set, delete: remove } = createMemoryKeyValueStore();
  const later = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
  const store: KeyValueStore = {
    get: (key) => later().then(() => get(key)),
    set: (key, value, ttl) => later().then(() => set(key, value, ttl)),
    delete: (key) => later().then(() => remove(key)),
  };
  return { one: store, other: { ...store } };
}

const STORES: readonly (readonly [name: string, isAtomic: boolean, isHere: boolean, open: () => Promise<Stores>])[] = [
  ["in memory", true, true, async () => ((store) => ({ one: store, other: store }))(createMemoryKeyValueStore())],
  ["without replace", false, true, async () => createPlainStores()],
  [`of Redis${redisNote}`, true, hasRedis || process.env.CI !== undefined, connectToRedis],
  [`of SQLite${sqliteNote}`, true, sqlite !== undefined, openSqlite],
  ["of Durable Objects", true, true, startObjects],
  ["of Workers KV", false, true, startWorkersKv],
];

describe.each(STORES)("links in the store %s (SHARING 7.4, 11.2)", (_name, isAtomic, isHere, open) => {
  let stores: Stores;
  let services: readonly [FileService, FileService];

  beforeAll(async () => {
    if (!isHere) return;
    stores = await open();
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/a.csv": "1,2,3", "/bob/b.csv": "4,5,6" });
    const accounts = [
      { username: "alice", password: await quickHasher.hash("secret of alice") },
      { username: "bob", password: await quickHasher.hash("secret of bob") },
    ];
    const create = (store: KeyValueStore): FileService =>
      createFileService({
        storage,
        authentication: createAccountsAuthenticator({ accounts, passwordHasher: quickHasher }),
        links: { secret: SECRET, store },
        limits: { transfersPerLink: 0 },
      });
    services = [create(stores.one), create(stores.other)];
  }, 120_000);
  afterAll(() => stores?.close?.());

  async function make(link: Partial<NewLink> = {}): Promise<{ readonly id: string; readonly file: string }> {
    const { id, filePath = "" } = await services[0].links.create({ username: "alice", path: "/a.csv", ...link });
    return { id, file: filePath };
  }

  async function get(service: FileService, path: string): Promise<number> {
    const response = await service.fetch(new Request(`http://files.example${path}`));
    await response.arrayBuffer();
    return response.status;
  }

  const getFromBoth = (path: string, count: number): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => get(services[index % 2 === 0 ? 0 : 1], path)));

  it.runIf(isHere)("are listed and withdrawn by another process", async () => {
    const first = await make({ label: "first" });
    const second = await make({ label: "second", expiresIn: 60 });
    await services[0].links.create({ username: "bob", path: "/" });
    const listed = await services[1].links.list("alice");
    expect(listed.map(({ label }) => label)).toEqual(["second", "first"]);
    expect([await get(services[1], first.file), await get(services[1], second.file)]).toEqual([200, 200]);
    expect(await services[1].links.revoke(first.id)).toBe(true);
    expect(await services[0].links.revoke(first.id)).toBe(false);
    expect([await get(services[0], first.file), await get(services[0], second.file)]).toEqual([410, 200]);
    expect(await services[0].links.revokeAll("alice")).toBe(1);
    expect(await get(services[1], second.file)).toBe(410);
    expect(await services[0].links.list("alice")).toEqual([]);
    expect(await services[1].links.list("bob")).toHaveLength(1);
  });

  it.runIf(isHere)("count uses one after another exactly", async () => {
    const { id, file } = await make({ maxUses: 2 });
    const statuses = [];
    for (const service of [...services, ...services]) statuses.push(await get(service, file));
    expect(statuses).toEqual([200, 200, 410, 410]);
    const found = (await services[1].links.list("alice")).find((link) => link.id === id);
    expect([found?.uses, found?.maxUses]).toEqual([2, 2]);
  });

  it.runIf(isHere && isAtomic)("count uses at the same moment exactly", async () => {
    const { file } = await make({ maxUses: 3 });
    const statuses = await getFromBoth(file, 20);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 410)).toHaveLength(17);
  });

  it.runIf(isHere && !isAtomic)("let one more through at the same moment for each further process", async () => {
    const { file } = await make({ maxUses: 1 });
    const statuses = await getFromBoth(file, 20);
    const opened = statuses.filter((status) => status === 200).length;
    expect([1, 2]).toContain(opened);
    expect(statuses.filter((status) => status === 410)).toHaveLength(20 - opened);
    expect(await get(services[1], file)).toBe(410);
  });
});

describe("what a store of links has (SHARING 11.2)", () => {
  it("opens no link, and is found by no name", async () => {
    const texts = new Map<string, unknown>();
    const store: KeyValueStore = {
      get: async (key) => texts.get(key),
      set: async (key, value) => texts.set(key, value),
      delete: async (key) => texts.delete(key),
    };
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/a.csv": "1,2,3" });
    const accounts = [{ username: "alice", password: await quickHasher.hash("secret of alice") }];
    const create = (secret: string): FileService =>
      createFileService({
        storage,
        authentication: createAccountsAuthenticator({ accounts, passwordHasher: quickHasher }),
        links: { secret, store, passwordHasher: quickHasher },
      });
    const made = { username: "alice", path: "/a.csv", maxUses: 2, password: "open sesame" };
    const { id, filePath = "" } = await create(SECRET).links.create(made);
    const headers = { Authorization: `Basic ${btoa("any:open sesame")}` };
    const get = (service: FileService) => service.fetch(new Request(`http://files.example${filePath}`, { headers }));
    expect(await (await get(create(SECRET))).text()).toBe("1,2,3");
    expect((await get(create("another secret, which seals nothing"))).status).toBe(404);
    for (const key of texts.keys()) expect(key).toMatch(/^link(?:s-of|-uses)?:[0-9a-f]{64}$/);
    const [, , , token = ""] = filePath.split("/");
    const kept = JSON.stringify([...texts]);
    expect(kept).toContain(id);
    expect(kept).not.toContain(token.split(".")[2]);
    expect(kept).not.toContain("open sesame");
  });
});
