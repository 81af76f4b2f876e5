import { describe, expect, it } from "vitest";
import type { StorageUploads, UploadKey } from "../../src/contracts/storage-uploads.ts";
import { newKey } from "../../src/testing/uploads/setup.ts";
import {
  append,
  createFailingStore,
  everyFault,
  FAILURES,
  type FailingStore,
  PART,
  succeeds,
} from "../support/s3/failing-store.ts";

/** A tail before two parts, nothing but a tail, and a part without a tail. */
const TEXTS = [toText(2.4 * PART, 7), toText(30, 11), toText(PART, 13)] as const;
/** The same upload may be named twice. */
const ORDER = [1, 0, 1, 2, 0];
const JOINED = ORDER.map((index) => TEXTS[index]).join("");

describe("uploads in S3 that are joined while a call of the store fails", () => {
  it.each(FAILURES)("are the complete file or none, and can be joined again: %s", async (failure) => {
    const join = (uploads: StorageUploads, keys: readonly UploadKey[]) =>
      joinInOrder(uploads, keys, { ifNoneMatch: "*" });
    const { store: begun, keys } = await begin(undefined);
    for (const fault of everyFault(await countCalls(begun, keys, join), failure)) {
      const store = createFailingStore(begun.fake);
      const { healthy, faulty, strike, fake } = store;
      const what = JSON.stringify(fault);
      strike(fault);
      const isAcknowledged = await succeeds(join(faulty, keys));
      strike(undefined);
      const stored = fake.objects.get("file")?.body;
      expect(stored === JOINED || (stored === undefined && !isAcknowledged), what).toBe(true);
      for (const [index, key] of keys.entries()) {
        expect((await healthy.find(key))?.offset, what).toBe(TEXTS[index]?.length);
      }
      await joinInOrder(healthy, keys);
      expect(fake.objects.get("file")?.body === JOINED, what).toBe(true);
      await expectNothingLeft(store, keys, what);
    }
  });

  it.each(FAILURES)("replace a file or leave it, and leave nothing when they are discarded: %s", async (failure) => {
    const join = (uploads: StorageUploads, keys: readonly UploadKey[]) => joinInOrder(uploads, keys, { ifMatch: "*" });
    const { store: begun, keys } = await begin("previous");
    for (const fault of everyFault(await countCalls(begun, keys, join), failure)) {
      const store = createFailingStore(begun.fake);
      store.strike(fault);
      const isAcknowledged = await succeeds(join(store.faulty, keys));
      store.strike(undefined);
      const stored = store.fake.objects.get("file")?.body;
      expect(stored === JOINED || (stored === "previous" && !isAcknowledged), JSON.stringify(fault)).toBe(true);
      await expectNothingLeft(store, keys, JSON.stringify(fault));
    }
  });
});

describe("uploads in S3 that are joined", () => {
  it("are copied in the store: what is less than a part is all that is read", async () => {
    const { store, keys } = await begin(undefined);
    const { healthy, fake } = store;
    await joinInOrder(healthy, [keys[0], keys[2], keys[0]] as readonly UploadKey[], {}, [0, 1, 2]);
    expect(fake.objects.get("file")?.body === `${TEXTS[0]}${TEXTS[2]}${TEXTS[0]}`).toBe(true);
    const sent = fake.calls.filter(({ method, key, query }) => method === "PUT" && key === "file" && query.size > 0);
    expect(sent.map(({ headers }) => headers.has("x-amz-copy-source"))).toEqual([true, true, true]);
  });

  it("are not joined while one has too few bytes, and take more content until then", async () => {
    const { store, keys } = await begin(undefined);
    const { healthy } = store;
    await expect(healthy.join?.(keys, "/file", { size: 1 })).rejects.toMatchObject({ code: "incomplete" });
    const [first = newKey()] = keys;
    const offset = await append(healthy, first, toText(PART, 3), TEXTS[0].length);
    expect(offset).toBe(TEXTS[0].length + PART);
    await joinInOrder(healthy, keys);
    await expect(append(healthy, first, "more", offset)).rejects.toMatchObject({ code: "unsupported" });
    expect(await append(healthy, first, "", offset)).toBe(offset);
  });

  it("are made objects once by two processes at the same moment", async () => {
    const { store, keys } = await begin(undefined);
    const { healthy, faulty, fake } = store;
    await Promise.all([joinInOrder(healthy, keys), joinInOrder(faulty, keys)]);
    expect(fake.objects.get("file")?.body === JOINED).toBe(true);
    await expectNothingLeft(store, keys, "two processes");
  });

  it("make no file when another process discards one of them meanwhile", async () => {
    const { store, keys } = await begin(undefined);
    const { healthy, fake, open } = store;
    const [discarded = newKey()] = keys;
    const stale = open(async (url, init) => {
      // The first request for a part of the file: its copies have not started.
      if (url.includes("/file?partNumber=")) await healthy.discard(discarded);
      return fake.fetch(url, init);
    });
    expect(await succeeds(joinInOrder(stale, keys))).toBe(false);
    expect(fake.objects.has("file")).toBe(false);
    for (const key of keys) await healthy.discard(key);
    expect([...fake.objects.keys(), ...fake.uploads.keys()]).toEqual([]);
  });

  it("are `unsupported` if they were created for a file, and have a part of it", async () => {
    const { healthy } = createFailingStore();
    const key = newKey();
    await healthy.create(key, "/file", { note: "", expires: new Date(Date.now() + 3_600_000) });
    await append(healthy, key, TEXTS[0], 0);
    await expect(healthy.join?.([key], "/other")).rejects.toMatchObject({ code: "unsupported" });
    expect((await healthy.complete(key)).size).toBe(TEXTS[0].length);
  });

  it("cannot be completed by themselves", async () => {
    const { store, keys } = await begin(undefined);
    for (const key of keys) {
      await expect(store.healthy.complete(key)).rejects.toMatchObject({ code: "unsupported" });
    }
  });
});

/** Uploads that are to be joined, with all their bytes, and a file at the path. */
async function begin(previous: string | undefined) {
  const store = createFailingStore();
  if (previous !== undefined) {
    store.fake.objects.set("file", { body: previous, headers: new Headers({ etag: '"previous"' }) });
  }
  const keys = TEXTS.map(() => newKey());
  for (const [index, key] of keys.entries()) {
    const expires = new Date(Date.now() + 3_600_000);
    await store.healthy.create(key, `/part-${index}`, { note: "", expires, isPartial: true });
    await append(store.healthy, key, TEXTS[index] ?? "", 0);
  }
  return { store, keys };
}

async function joinInOrder(
  uploads: StorageUploads,
  keys: readonly UploadKey[],
  options: Parameters<NonNullable<StorageUploads["join"]>>[2] = {},
  order: readonly number[] = ORDER,
): Promise<void> {
  if (uploads.join === undefined) throw new Error("The storage cannot join.");
  await uploads.join(
    order.map((index) => keys[index] ?? newKey()),
    "/file",
    options,
  );
}

/** How many calls a join is made of. */
async function countCalls(
  { fake }: FailingStore,
  keys: readonly UploadKey[],
  join: (uploads: StorageUploads, keys: readonly UploadKey[]) => Promise<void>,
): Promise<number> {
  const store = createFailingStore(fake);
  await join(store.faulty, keys);
  expect(store.countCalls()).toBeGreaterThan(20);
  return store.countCalls();
}

async function expectNothingLeft({ healthy, fake }: FailingStore, keys: readonly UploadKey[], what: string) {
  for (const key of keys) expect(await healthy.discard(key), what).toBe("unfinished");
  expect(
    [...fake.objects.keys()].filter((key) => key !== "file"),
    what,
  ).toEqual([]);
  // An upload that was started may remain, but without parts.
  for (const { parts } of fake.uploads.values()) expect(parts.size, what).toBe(0);
}

function toText(length: number, factor: number): string {
  return Array.from({ length }, (_, index) => String.fromCharCode(97 + ((index * index * factor) % 26))).join("");
}
