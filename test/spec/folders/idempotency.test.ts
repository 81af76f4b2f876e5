import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { type AtomicKeyValueStore, isAtomicStore } from "../../../src/contracts/atomic-store.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { basic, type CallOptions, createTestService, type TestServiceOptions } from "../../support/service.ts";

const KEY = "0b6f7c0c-7d2c-4a4e-9d0c-1d3f2a4b5c6d";
const CREATE = { commands: [{ command: "create-folder", target: "new" }] };
const EXISTS = "A file or folder with that name already exists.";

/** A store without the atomic step. */
function withoutReplace({ get, set, delete: remove }: KeyValueStore): KeyValueStore {
  return { get, set, delete: remove };
}

async function createKeyed({
  store = createMemoryKeyValueStore(),
  ...options
}: TestServiceOptions & { store?: KeyValueStore } = {}) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    idempotency: { store },
    onEvent: (event) => events.push(event),
    files: { "/alice/a.txt": "a", "/alice/docs/": "" },
    ...options,
  });
  async function post(
    body: unknown,
    key: string | null = KEY,
    { path = "/home/", ...more }: CallOptions & { path?: string } = {},
  ) {
    const headers = {
      "content-type": "application/json",
      ...(key !== null && { "idempotency-key": key }),
      ...more.headers,
    };
    const answer = await test.call("POST", path, { variant: "json", ...more, headers, body: JSON.stringify(body) });
    return { answer, shown: [answer.status, answer.header("idempotency-replayed"), answer.header("error-code")] };
  }
  return { ...test, post, events, store };
}

/** A store that shows its content. */
function createOpenStore(): { store: AtomicKeyValueStore; texts: () => string } {
  const memory = createMemoryKeyValueStore();
  const texts = new Map<string, unknown>();
  const store: AtomicKeyValueStore = {
    ...memory,
    set: async (key, value, ttl) => {
      texts.set(key, value);
      return memory.set(key, value, ttl);
    },
    replace: async (key, expected, next, ttl) => {
      texts.set(`${key} replaced`, next);
      return memory.replace(key, expected, next, ttl);
    },
  };
  return { store, texts: () => JSON.stringify([...texts]) };
}

describe("an Idempotency-Key on commands", () => {
  it("runs them once, and answers again as the first time", async () => {
    const { post, events } = await createKeyed();
    const first = await post(CREATE);
    expect(first.shown).toEqual([200, null, null]);
    const again = await post(CREATE);
    expect(again.shown).toEqual([200, "true", null]);
    expect(again.answer.text).toBe(first.answer.text);
    expect(again.answer.header("content-type")).toBe(first.answer.header("content-type"));
    expect(events.filter(({ id }) => id === 40010)).toHaveLength(1);
    expect((await post(CREATE, null)).shown).toEqual([422, null, "already-exists"]);
  });

  it("answers failed commands again, too", async () => {
    const { post, call } = await createKeyed();
    const body = { commands: [...CREATE.commands, ...CREATE.commands] };
    const first = await post(body);
    expect(first.shown).toEqual([422, null, "already-exists"]);
    await call("DELETE", "/home/new/");
    const again = await post(body);
    expect(again.shown).toEqual([422, "true", "already-exists"]);
    expect(again.answer.json()).toEqual({
      errors: [
        { target: "new", message: null },
        { target: "new", message: EXISTS },
      ],
    });
  });

  it("does not count white space in the body, but refuses another body", async () => {
    const { post, call } = await createKeyed();
    await post(CREATE);
    const headers = { "content-type": "application/json", "idempotency-key": KEY };
    const spaced = await call("POST", "/home/", { headers, body: JSON.stringify(CREATE, null, 2), variant: "json" });
    expect(spaced.header("idempotency-replayed")).toBe("true");
    const other = await post({ commands: [{ command: "delete", target: "a.txt" }] });
    expect(other.shown).toEqual([422, null, "idempotency-key-reused"]);
  });

  it("belongs to one account, one URL, and one link", async () => {
    const links = { secret: "a secret of at least 32 characters", store: createMemoryKeyValueStore() };
    const { post, stored } = await createKeyed({ links });
    expect((await post(CREATE)).shown[0]).toBe(200);
    expect((await post(CREATE, KEY, { path: "/home/docs/" })).shown).toEqual([200, null, null]);
    expect((await post(CREATE, KEY, { as: "bob" })).shown).toEqual([200, null, null]);
    const made = [];
    for (const label of ["one", "other"]) {
      const permissions = ["allow-list", "allow-create-folder"];
      const { answer } = await post({ path: "/docs", permissions, label }, label, { path: "/home/__svc__/links" });
      made.push(answer.json<{ results: { url: string }[] }>().results[0]?.url ?? "");
    }
    const target = (url: string | undefined) => new URL(url ?? "").pathname;
    const nested = { commands: [{ command: "create-folder", target: "by-link" }] };
    const byLink = (url: string | undefined) => post(nested, KEY, { path: target(url), as: null });
    expect((await byLink(made[0])).shown).toEqual([200, null, null]);
    expect((await byLink(made[0])).shown).toEqual([200, "true", null]);
    expect((await byLink(made[1])).shown).toEqual([422, null, "already-exists"]);
    expect(await stored("/alice/docs/by-link")).toBeUndefined();
  });

  it("belongs to one of two accounts whose names differ in case alone", async () => {
    const accounts = [
      { username: "alice", password: "secret", home_folder_path: "/alice" },
      { username: "Alice", password: "secret", home_folder_path: "/other" },
    ];
    const { post } = await createKeyed({
      authentication: createAccountsAuthenticator({ accounts }),
      files: { "/alice/": "", "/other/": "" },
    });
    const other = { as: null, headers: { authorization: basic("Alice", "secret") } };
    expect((await post(CREATE)).shown).toEqual([200, null, null]);
    expect((await post(CREATE, KEY, other)).shown).toEqual([200, null, null]);
  });

  it.each(["", "a b", "ä", "a".repeat(256), "a\tb"])("is 1 to 255 visible ASCII characters, not %j", async (key) => {
    const { call, stored } = await createKeyed();
    const headers = { "content-type": "application/json", "idempotency-key": key };
    const isProbe = true;
    const answer = await call("POST", "/home/", { headers, body: JSON.stringify(CREATE), variant: "json", isProbe });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "idempotency-key-invalid"]);
    expect(await stored("/alice/new")).toBeUndefined();
  });

  it("has no effect without the option", async () => {
    const { call } = await createTestService();
    const send = async (key: string) => {
      const headers = { "content-type": "application/json", "idempotency-key": key };
      const undescribed = "the description is that of a service without the option";
      return (await call("POST", "/home/", { headers, body: JSON.stringify(CREATE), variant: "json", undescribed }))
        .status;
    };
    expect([await send("a b"), await send("a b")]).toEqual([200, 422]);
  });

  it("has no effect on what changes nothing: malformed requests, missing folders, dry runs", async () => {
    const { post, call } = await createKeyed();
    expect((await post({ commands: [] })).shown).toEqual([400, null, "commands-malformed"]);
    const inMissing = { path: "/home/later/" };
    expect((await post(CREATE, KEY, inMissing)).shown).toEqual([404, null, "not-found"]);
    await call("MKCOL", "/home/later/");
    expect((await post(CREATE, KEY, inMissing)).shown).toEqual([200, null, null]);
    const dry = { headers: { prefer: "dry-run" } };
    expect((await post(CREATE, "dry", dry)).shown).toEqual([200, null, null]);
    expect((await post(CREATE, "dry")).shown).toEqual([200, null, null]);
  });

  it("is free again after its time", async () => {
    const store = createMemoryKeyValueStore({ clock: () => Date.now() + passed });
    let passed = 0;
    const { post } = await createKeyed({ idempotency: { store, seconds: 10 } });
    await post(CREATE);
    passed = 9000;
    expect((await post(CREATE)).shown[1]).toBe("true");
    passed = 10_001;
    expect((await post(CREATE)).shown).toEqual([422, null, "already-exists"]);
  });

  it("keeps no large answers, and none beyond the budget of an account, but runs such requests once", async () => {
    const { store, texts } = createOpenStore();
    const { post } = await createKeyed({ store });
    const toDelete = (count: number, name: string) => ({
      commands: Array.from({ length: count }, (_, index) => ({
        command: "delete",
        target: `${name.repeat(100)}${index}`,
      })),
    });
    const large = toDelete(600, "x");
    expect((await post(large, "large")).shown).toEqual([422, null, "not-found"]);
    expect((await post(large, "large")).shown).toEqual([409, null, "idempotency-answer-not-kept"]);
    const medium = toDelete(300, "y");
    const kept = [];
    for (let index = 0; index < 30; index += 1) {
      await post(medium, `medium ${index}`.replace(" ", "-"));
      kept.push((await post(medium, `medium-${index}`)).shown[1]);
    }
    expect(kept.filter((replayed) => replayed === "true").length).toBeGreaterThan(15);
    expect(kept.at(-1)).toBeNull();
    expect((await post(medium, "mine", { as: "bob" })).shown[0]).toBe(422);
    expect((await post(medium, "mine", { as: "bob" })).shown[1]).toBe("true");
    expect(texts().length).toBeLessThan(2_500_000);
  });
});

describe.each([
  ["a store with the atomic step", createMemoryKeyValueStore],
  ["a store without", () => withoutReplace(createMemoryKeyValueStore())],
])("while the first request runs, on %s", (_, createStore) => {
  /** A service whose removals wait. */
  async function createHeld(store: KeyValueStore = createStore()) {
    let letGo: () => void = () => undefined;
    const isHeld = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let removals = 0;
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb, step }) => {
      if (verb !== "remove" || step !== "call") return undefined;
      removals += 1;
      return undefined;
    });
    const { remove } = storage;
    const holding = {
      ...storage,
      remove: async (...args: Parameters<typeof remove>) => {
        await isHeld;
        return remove(...args);
      },
    };
    const test = await createKeyed({ store, storage: holding });
    return { ...test, store, storage: holding, letGo, removals: () => removals };
  }

  const DELETE = { commands: [{ command: "delete", target: "a.txt" }] };

  it("answers 409, also from another process where the store tells", async () => {
    const { post, store, storage, letGo, removals } = await createHeld();
    const first = post(DELETE);
    await expect.poll(async () => (await post(DELETE)).shown).toEqual([409, null, "idempotency-running"]);
    expect((await post(DELETE)).answer.header("retry-after")).toBe("1");
    const other = await createKeyed({ store, storage });
    expect((await other.post(DELETE)).shown).toEqual([409, null, "idempotency-running"]);
    expect((await other.post(CREATE)).shown).toEqual([422, null, "idempotency-key-reused"]);
    letGo();
    expect((await first).shown).toEqual([200, null, null]);
    expect((await other.post(DELETE)).shown).toEqual([200, "true", null]);
    expect(removals()).toBe(1);
  });

  it("keeps the answer where the store is slow to renew the lease", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const store = createStore();
    let writes = 0;
    /** The first write starts the lease, and the second one renews it. */
    const waitIfRenewal = async (): Promise<void> => {
      writes += 1;
      if (writes === 2) await new Promise((resolve) => setTimeout(resolve, 200));
    };
    const slow: KeyValueStore = {
      ...store,
      set: (...record) => waitIfRenewal().then(() => store.set(...record)),
      ...(isAtomicStore(store) && {
        replace: (...change: Parameters<typeof store.replace>) => waitIfRenewal().then(() => store.replace(...change)),
      }),
    };
    const { post, letGo, removals } = await createHeld(slow);
    const first = post(DELETE);
    await expect.poll(async () => (await post(DELETE)).shown[0]).toBe(409);
    vi.advanceTimersByTime(20_000);
    letGo();
    await first;
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect((await post(DELETE)).shown).toEqual([200, "true", null]);
    expect(removals()).toBe(1);
  });

  it("goes on when the client leaves, so that a retry learns what has happened", async () => {
    const { post, letGo, removals } = await createHeld();
    const client = new AbortController();
    const first = post(DELETE, KEY, { signal: client.signal }).catch(() => undefined);
    await expect.poll(async () => (await post(DELETE)).shown[0]).toBe(409);
    client.abort();
    letGo();
    await first;
    expect((await post(DELETE)).shown).toEqual([200, "true", null]);
    expect(removals()).toBe(1);
  });

  it("lets one of many run", async () => {
    const { post, letGo, removals } = await createHeld();
    const all = Array.from({ length: 20 }, () => post(DELETE));
    letGo();
    const statuses = (await Promise.all(all)).map(({ shown }) => shown[0]);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(0);
    expect(new Set(statuses)).toEqual(new Set(statuses.includes(409) ? [200, 409] : [200]));
    expect(removals()).toBe(1);
  });
});

describe("the store of answers", () => {
  it("holds nothing that tells of a request, and no link", async () => {
    const { store, texts } = createOpenStore();
    const links = { secret: "a secret of at least 32 characters", store: createMemoryKeyValueStore() };
    const { post } = await createKeyed({ store, links });
    const body = { path: "/a.txt", password: "open sesame" };
    const first = await post(body, KEY, { path: "/home/__svc__/links" });
    const again = await post(body, KEY, { path: "/home/__svc__/links" });
    expect([first.shown, again.shown]).toEqual([
      [201, null, null],
      [201, "true", null],
    ]);
    expect(again.answer.text).toBe(first.answer.text);
    const [{ url = "" } = {}] = first.answer.json<{ results: { url: string }[] }>().results;
    const token = url.split("/").at(-2) ?? url;
    for (const secret of [token, "a.txt", "open sesame", KEY, "alice"]) expect(texts()).not.toContain(secret);
  });

  it("makes one link, although the store then fails to count its uses", async () => {
    const memory = createMemoryKeyValueStore();
    const store: AtomicKeyValueStore = {
      ...memory,
      async get(key) {
        if (key.startsWith("link-uses")) throw new Error("away");
        return memory.get(key);
      },
    };
    const links = { secret: "a secret of at least 32 characters", store };
    const { post } = await createKeyed({ links });
    const send = () => post({ path: "/a.txt", max_uses: 3 }, KEY, { path: "/home/__svc__/links" });
    const [first, again] = [await send(), await send()];
    expect([first.answer.status, again.answer.status]).toEqual([201, 201]);
    expect(again.answer.text).toBe(first.answer.text);
    expect(JSON.parse(first.answer.text).results).toMatchObject([{ uses: 0 }]);
  });

  it("fails with 503 where it is away, before anything is done", async () => {
    const away: KeyValueStore = {
      get: async () => Promise.reject(new Error("down")),
      set: async () => Promise.reject(new Error("down")),
      delete: async () => Promise.reject(new Error("down")),
    };
    const { post, call } = await createKeyed({ store: away });
    const { shown, answer } = await post(CREATE);
    expect([shown, answer.header("retry-after")]).toEqual([[503, null, "idempotency-store-unavailable"], "1"]);
    expect((await call("HEAD", "/home/new/")).status).toBe(404);
    const again = await post(CREATE);
    expect(again.shown[0]).toBe(503);
  });

  it("fails with 503 where it has something else", async () => {
    const { store } = createOpenStore();
    const odd: KeyValueStore = { ...withoutReplace(store), get: async () => ({ odd: true }) };
    const { post } = await createKeyed({ store: odd });
    expect((await post(CREATE)).shown).toEqual([503, null, "idempotency-store-unavailable"]);
  });

  it("does not fail what was done where it goes away meanwhile", async () => {
    const memory = createMemoryKeyValueStore();
    const failing = { ...memory, set: async () => Promise.reject(new Error("down")) };
    const { post, log } = await createKeyed({ store: failing });
    expect((await post(CREATE)).shown).toEqual([200, null, null]);
    expect(log.text()).toContain("down");
    // Until its lease is over.
    expect((await post(CREATE)).shown).toEqual([409, null, "idempotency-running"]);
  });

  it.each([1, 2, 3])("keeps an answer although it fails for a moment then: %i times", async (times) => {
    let [failures, passed] = [0, 0];
    const memory = createMemoryKeyValueStore({ clock: () => Date.now() + passed });
    const set: KeyValueStore["set"] = async (...record) => {
      failures += 1;
      if (failures <= times) throw new Error("down");
      return memory.set(...record);
    };
    const { post, log } = await createKeyed({ store: { ...memory, set } });
    expect((await post(CREATE)).shown).toEqual([200, null, null]);
    passed = 60_001;
    expect((await post(CREATE)).shown).toEqual([200, "true", null]);
    expect(log.text()).not.toContain("down");
  });

  it("lets a request run again after a crash, when its lease is over", async () => {
    let passed = 0;
    const store = createMemoryKeyValueStore({ clock: () => Date.now() + passed });
    // What a process leaves that ends in the middle.
    const crashed = { ...store, set: async () => undefined };
    const { post } = await createKeyed({ store: crashed });
    await post(CREATE);
    const other = await createKeyed({ store });
    expect((await other.post(CREATE)).shown).toEqual([409, null, "idempotency-running"]);
    passed = 60_001;
    expect((await other.post(CREATE)).shown).toEqual([200, null, null]);
  });

  it.each([
    [{}, "idempotency.store"],
    [{ store: {} }, "idempotency.store"],
    [{ store: createMemoryKeyValueStore(), seconds: 0 }, "idempotency.seconds"],
    [{ store: createMemoryKeyValueStore(), second: 1 }, "idempotency.second"],
    ["memory", "idempotency"],
  ])("is checked when the service is made: %j", async (idempotency, name) => {
    await expect(createTestService({ idempotency: idempotency as never })).rejects.toThrow(name);
  });
});
