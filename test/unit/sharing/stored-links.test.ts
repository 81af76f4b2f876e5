import { describe, expect, it } from "vitest";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import type { LinkRecord } from "../../../src/sharing/record.ts";
import { createStoreTexts, type StoreTexts, toLinkKey } from "../../../src/sharing/store-text.ts";
import { createStoredLinks, type StoredLinks } from "../../../src/sharing/stored-links.ts";
import { createLinkUses } from "../../../src/sharing/uses.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";

/** Something that waits until the test lets it go on. */
function hold() {
  let reach: () => void = () => undefined;
  let release: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return {
    reached,
    release,
    wait: () => {
      reach();
      return released;
    },
  };
}

/** The texts of a store that wait before a step until the test lets them go on. */
function pausedAt(texts: StoreTexts, step: number) {
  const held = hold();
  let steps = 0;
  const pause = async (): Promise<void> => {
    steps += 1;
    if (steps > step) await held.wait();
  };
  const paused: StoreTexts = {
    get: async (key) => pause().then(() => texts.get(key)),
    update: async (...change) => pause().then(() => texts.update(...change)),
  };
  return { ...held, texts: paused };
}

let now = 1_000_000_000_000;
const clock = (): number => now;

/** A store without the atomic step. */
function plain(): KeyValueStore {
  const { get, set, delete: remove } = createMemoryKeyValueStore({ clock });
  return { get, set, delete: remove };
}

const stores = { "an atomic store": () => createMemoryKeyValueStore({ clock }), "a plain store": plain };

function recordOf(number: number, seconds = 60): LinkRecord {
  const created = Math.floor(now / 1000);
  return {
    id: number.toString(16).padStart(32, "0"),
    username: "alice",
    path: ["a"],
    isFolder: true,
    permissions: ["allow-read"],
    created,
    expires: created + seconds,
  };
}

const all = (): boolean => true;

/** The links of a name, in any spelling. */
async function listOf(links: StoredLinks, username: string): Promise<readonly LinkRecord[]> {
  const found: LinkRecord[] = [];
  for await (const records of links.read(username, all)) found.push(...records);
  return found;
}

describe.each(Object.entries(stores))("links in %s", (_name, create) => {
  it("are listed newest first until they expire or are removed", async () => {
    const links = createStoredLinks(createStoreTexts(create(), clock), clock);
    for (const number of [1, 2, 3]) {
      await links.add(recordOf(number, 60 * number), 10);
      now += 1000;
    }
    const ids = async () => (await listOf(links, "alice ")).map(({ id }) => Number.parseInt(id, 16));
    expect(await ids()).toEqual([3, 2, 1]);
    now += 60_000;
    expect(await ids()).toEqual([3, 2]);
    expect(await links.find(recordOf(1).id)).toBeUndefined();
    const [newest] = await listOf(links, "Alice");
    expect(newest && (await links.remove(newest))).toBe(true);
    expect(newest && (await links.remove(newest))).toBe(false);
    expect(await ids()).toEqual([2]);
    expect(await listOf(links, "bob")).toEqual([]);
  });

  it("are no more than allowed, however many are added at once", async () => {
    const links = createStoredLinks(createStoreTexts(create(), clock), clock);
    const added = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((number) => links.add(recordOf(number), 4)));
    expect(added.filter(({ status }) => status === "fulfilled").length).toBe(4);
    expect((await listOf(links, "alice")).length).toBe(4);
  });

  it("that are gone do not count, nor those of an account that had the name before", async () => {
    const store = create();
    const links = createStoredLinks(createStoreTexts(store, clock), clock);
    const alice = { name: "alice", uuid: "alice" };
    for (const number of [1, 2]) await links.add(recordOf(number), 2);
    await expect(links.requireRoom(alice, 2)).rejects.toMatchObject({ code: "too-many-links" });
    await store.delete(toLinkKey("link", recordOf(1).id));
    await links.requireRoom(alice, 2);
    await links.add(recordOf(3), 2);
    await expect(links.requireRoom(alice, 2)).rejects.toMatchObject({ code: "too-many-links" });
    await links.requireRoom({ name: "alice", uuid: "another" }, 2);
    expect(await listOf(links, "alice")).toEqual([]);
    expect(await links.find(recordOf(2).id)).toBeUndefined();
  });

  it("of a name in another case count with it, and are removed only if they are meant", async () => {
    const links = createStoredLinks(createStoreTexts(create(), clock), clock);
    const other = { ...recordOf(2), username: "ALICE" };
    await links.add(recordOf(1), 2);
    await links.add(other, 2);
    await expect(links.requireRoom({ name: "alice", uuid: "alice" }, 2)).rejects.toMatchObject({
      failure: "unprocessable",
    });
    await links.requireRoom({ name: "alice", uuid: "another" }, 2);
    expect(await listOf(links, "alice")).toEqual([other]);
    expect(
      await links.removeAll(
        "alice",
        ({ username }) => username === "alice",
        () => undefined,
      ),
    ).toBe(0);
    expect(await links.removeAll("alice", all, () => undefined)).toBe(1);
  });

  it("are all removed, or listed, if they are added while all are removed", async () => {
    const store = create();
    const texts = createStoreTexts(store, clock);
    const links = createStoredLinks(texts, clock);
    const held = hold();
    const adding = createStoredLinks(
      {
        ...texts,
        // The link has no record yet.
        async update(key, ...change) {
          if (key.startsWith("link:")) await held.wait();
          return texts.update(key, ...change);
        },
      },
      clock,
    ).add(recordOf(1), 10);
    await held.reached;
    await links.add(recordOf(2), 10);
    const removed: string[] = [];
    expect(await links.removeAll("alice", all, ({ id }) => removed.push(id))).toBe(1);
    held.release();
    await adding;
    expect((await listOf(links, "alice")).map(({ id }) => id)).toEqual([recordOf(1).id]);
    expect(await links.removeAll("alice", all, ({ id }) => removed.push(id))).toBe(1);
    expect(removed).toEqual([recordOf(2).id, recordOf(1).id]);
    expect(await links.find(recordOf(1).id)).toBeUndefined();
  });

  it.each<[string, (links: StoredLinks) => Promise<unknown>]>([
    ["all are removed", (links) => links.removeAll("alice", all, () => undefined)],
    ["another one is made", (links) => links.requireRoom({ name: "alice", uuid: "alice" }, 1)],
  ])("are over or listed, whatever the order of steps, if they are added while %s", async (_what, change) => {
    for (let first = 0; first < 5; first += 1) {
      for (let second = 0; second < 5; second += 1) {
        const texts = createStoreTexts(create(), clock);
        const links = createStoredLinks(texts, clock);
        const [adding, changing] = [pausedAt(texts, first), pausedAt(texts, second)];
        const added = createStoredLinks(adding.texts, clock).add(recordOf(1), 10);
        await Promise.race([added, adding.reached]);
        const changed = change(createStoredLinks(changing.texts, clock)).catch(() => undefined);
        await Promise.race([changed, changing.reached]);
        adding.release();
        await added;
        changing.release();
        await changed;
        const ids = (await listOf(links, "alice")).map(({ id }) => id);
        expect([first, second, ids]).toEqual([
          first,
          second,
          (await links.find(recordOf(1).id)) ? [recordOf(1).id] : [],
        ]);
      }
    }
  });

  it("leave no record if there is no room for them", async () => {
    const links = createStoredLinks(createStoreTexts(create(), clock), clock);
    await links.add(recordOf(1), 1);
    await expect(links.add(recordOf(2), 1)).rejects.toMatchObject({ code: "too-many-links" });
    expect(await links.find(recordOf(2).id)).toBeUndefined();
  });

  it("are removed with all others if they are added before the removal has ended", async () => {
    const links = createStoredLinks(createStoreTexts(create(), clock), clock);
    await links.add(recordOf(1), 10);
    const added: Promise<void>[] = [];
    const count = await links.removeAll("alice", all, () => {
      if (added.length === 0) added.push(links.add(recordOf(2), 10));
    });
    await Promise.all(added);
    const left = await listOf(links, "alice");
    expect(count + left.length).toBe(2);
    expect(await links.removeAll("alice", all, () => undefined)).toBe(left.length);
    expect(await links.find(recordOf(2).id)).toBeUndefined();
  });

  it("are used as often as they may, and get back five uses of downloads and all of uploads", async () => {
    const uses = createLinkUses(createStoreTexts(create(), clock));
    const link = { ...recordOf(1), maxUses: 3 };
    const taken = await Promise.all(Array.from({ length: 20 }, () => uses.take(link)));
    expect(taken.filter(Boolean).length).toBe(3);
    for (let round = 0; round < 5; round += 1) {
      await uses.giveBack(link, "download");
      expect(await uses.take(link)).toBe(true);
    }
    await uses.giveBack(link, "download");
    expect(await uses.take(link)).toBe(false);
    await uses.giveBack(link, "upload");
    expect(await uses.count(link)).toBe(2);
    expect(await uses.take(link)).toBe(true);
  });

  it("are not available while the store fails", async () => {
    const fail = async (): Promise<never> => {
      throw new Error("down");
    };
    const texts = createStoreTexts({ get: fail, set: fail, delete: fail }, clock);
    const error = { failure: "unavailable", code: "link-store-unavailable", headers: { "Retry-After": "1" } };
    await expect(createStoredLinks(texts, clock).find("0")).rejects.toMatchObject(error);
    await expect(createLinkUses(texts).take({ ...recordOf(1), maxUses: 1 })).rejects.toMatchObject(error);
  });
});

describe("links that two processes add at the same moment, in a plain store (SHARING 7.4)", () => {
  it("are both listed if the second one writes its list over that of the first one", async () => {
    const store = plain();
    const texts = createStoreTexts(store, clock);
    const links = createStoredLinks(texts, clock);
    const read = hold();
    // After the record and the list.
    const held = pausedAt(texts, 2);
    // The other process has read the list before the first one has written it.
    const slow: KeyValueStore = {
      ...store,
      async get(key) {
        const value = await store.get(key);
        if (key.startsWith("links-of:")) await read.wait();
        return value;
      },
    };
    const second = createStoredLinks(createStoreTexts(slow, clock), clock).add(recordOf(2), 10);
    await read.reached;
    const added = createStoredLinks(held.texts, clock).add(recordOf(1), 10);
    await held.reached;
    read.release();
    await second;
    expect((await listOf(links, "alice")).map(({ id }) => id)).toEqual([recordOf(2).id]);
    held.release();
    await added;
    expect((await listOf(links, "alice")).map(({ id }) => id).sort()).toEqual([recordOf(1).id, recordOf(2).id]);
    expect(await links.removeAll("alice", all, () => undefined)).toBe(2);
  });
});
