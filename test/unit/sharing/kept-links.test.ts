import { describe, expect, it } from "vitest";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import { createKeptLinks } from "../../../src/sharing/kept-links.ts";
import type { LinkRecord } from "../../../src/sharing/record.ts";
import { createStoreTexts } from "../../../src/sharing/store-text.ts";
import { createLinkUses } from "../../../src/sharing/uses.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";

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
    username: "Alice",
    path: ["a"],
    isFolder: true,
    permissions: ["allow-read"],
    created,
    expires: created + seconds,
  };
}

describe.each(Object.entries(stores))("links in %s", (_name, create) => {
  it("are listed newest first until they expire or are removed", async () => {
    const links = createKeptLinks(createStoreTexts(create(), clock), clock);
    for (const number of [1, 2, 3]) {
      await links.add(recordOf(number, 60 * number), 10);
      now += 1000;
    }
    const ids = async () => (await links.list("alice ")).map(({ id }) => Number.parseInt(id, 16));
    expect(await ids()).toEqual([3, 2, 1]);
    now += 60_000;
    expect(await ids()).toEqual([3, 2]);
    expect(await links.find(recordOf(1).id)).toBeUndefined();
    const [newest] = await links.list("Alice");
    expect(newest && (await links.remove(newest))).toBe(true);
    expect(newest && (await links.remove(newest))).toBe(false);
    expect(await ids()).toEqual([2]);
    expect(await links.list("bob")).toEqual([]);
  });

  it("are no more than allowed, however many are added at once", async () => {
    const links = createKeptLinks(createStoreTexts(create(), clock), clock);
    const added = await Promise.allSettled([1, 2, 3, 4, 5, 6].map((number) => links.add(recordOf(number), 4)));
    expect(added.filter(({ status }) => status === "fulfilled").length).toBe(4);
    expect((await links.list("alice")).length).toBe(4);
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
    await expect(createKeptLinks(texts, clock).find("0")).rejects.toMatchObject(error);
    await expect(createLinkUses(texts).take({ ...recordOf(1), maxUses: 1 })).rejects.toMatchObject(error);
  });
});
