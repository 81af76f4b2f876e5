import { describe, expect, it } from "vitest";
import type { StorageUploads, UploadKey } from "../../src/contracts/storage-uploads.ts";
import { newKey } from "../../src/testing/uploads/setup.ts";
import {
  append,
  chunks,
  createFailingStore,
  everyFault,
  FAILURES,
  type FailingStore,
  type Failure,
  type Fault,
  PART,
  succeeds,
} from "../support/s3/failing-store.ts";
import type { S3Fake } from "../support/s3/fake.ts";

/** Two parts and a half: an append has a tail before it, two parts, and a tail behind them. */
const TEXT = Array.from({ length: 2.5 * PART }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join(
  "",
);
const BEFORE = 100;

describe("an upload in S3 of which a call of the store fails", () => {
  it.each(FAILURES)("loses nothing acknowledged by a failing append, and goes on: %s", async (failure) => {
    for await (const { fault, environment, key } of faultsOf(appendRest, failure)) {
      const { healthy, faulty, strike } = environment;
      strike(fault);
      const isAcknowledged = await succeeds(appendRest(faulty, key));
      strike(undefined);
      const offset = (await healthy.find(key))?.offset ?? -1;
      const what = JSON.stringify(fault);
      expect(offset, what).toBeGreaterThanOrEqual(isAcknowledged ? TEXT.length : BEFORE);
      await append(healthy, key, TEXT.slice(offset), offset);
      await healthy.complete(key);
      expect(textOf(environment.fake) === TEXT, what).toBe(true);
      // An upload that was started may remain, but without parts.
      for (const { parts } of environment.fake.uploads.values()) expect(parts.size, what).toBe(0);
    }
  });

  it.each(FAILURES)("keeps nothing of a checked append that fails: %s", async (failure) => {
    const verify = async (): Promise<void> => {
      throw new Error("checksum");
    };
    const appendWrong = (uploads: StorageUploads, key: UploadKey) =>
      uploads.append(key, BEFORE, chunks("x".repeat(PART + 10)), { verify });
    for await (const { fault, environment, key } of faultsOf(appendWrong, failure)) {
      const { healthy, faulty, strike } = environment;
      strike(fault);
      expect(await succeeds(appendWrong(faulty, key))).toBe(false);
      strike(undefined);
      expect((await healthy.find(key))?.offset, JSON.stringify(fault)).toBe(BEFORE);
      await appendRest(healthy, key);
      await healthy.complete(key);
      expect(textOf(environment.fake) === TEXT, JSON.stringify(fault)).toBe(true);
    }
  });

  it.each(FAILURES)("is complete or not after a failing completion, and can be completed: %s", async (failure) => {
    const complete = (uploads: StorageUploads, key: UploadKey) =>
      uploads.complete(key, { path: "/file", ifNoneMatch: "*" });
    for (const kind of ["small", "large", "named later"] as const) {
      const isLarge = kind !== "small";
      const text = isLarge ? TEXT : TEXT.slice(0, BEFORE);
      const prepare = async () => {
        const begun = await begin(kind === "named later");
        if (isLarge) await appendRest(begun.environment.healthy, begun.key);
        return begun;
      };
      for await (const { fault, environment, key } of faultsOf(complete, failure, prepare)) {
        const { healthy, faulty, strike, fake } = environment;
        strike(fault);
        const isAcknowledged = await succeeds(complete(faulty, key));
        strike(undefined);
        const what = JSON.stringify({ kind, fault });
        const stored = textOf(fake);
        expect(stored === text || (stored === undefined && !isAcknowledged), what).toBe(true);
        const entry = await complete(healthy, key);
        expect(textOf(fake) === text, what).toBe(true);
        expect((await healthy.find(key))?.done, what).toEqual(entry);
        // One that was started may be left, but without parts.
        const left =
          kind === "named later" ? [...fake.uploads.values()].flatMap(({ parts }) => [...parts]) : fake.uploads;
        expect([...left], what).toEqual([]);
      }
    }
  });

  it.each(FAILURES)("frees everything by a failing discard, or by the listing after it: %s", async (failure) => {
    const discard = async (uploads: StorageUploads, key: UploadKey) => {
      if (!(await uploads.discard(key))) throw new Error("There is no upload.");
    };
    const prepare = async () => {
      const begun = await begin();
      await appendRest(begun.environment.healthy, begun.key);
      return begun;
    };
    for await (const { fault, environment, key } of faultsOf(discard, failure, prepare)) {
      const { healthy, faulty, strike, fake } = environment;
      strike(fault);
      const isAcknowledged = await succeeds(discard(faulty, key));
      strike(undefined);
      const isFound = (await healthy.find(key)) !== undefined;
      expect(isFound && isAcknowledged, JSON.stringify(fault)).toBe(false);
      if (isFound) expect(await healthy.discard(key)).toBeDefined();
      for await (const state of healthy.list()) expect(state, "a listed upload").toBeUndefined();
      expect([...fake.objects.keys(), ...fake.uploads.keys()], JSON.stringify(fault)).toEqual([]);
    }
  });
});

describe("an upload in S3 of two processes", () => {
  it("never mixes: a late part of a stale process makes the completion fail", async () => {
    const { key, environment, stale } = await beginWithStale("partNumber=2&");
    const { healthy, fake } = environment;
    await append(healthy, key, TEXT.slice(BEFORE, 1200), BEFORE);
    const running = succeeds(stale.uploads.append(key, 1200, chunks("x".repeat(PART))));
    await stale.isWaiting;
    await append(healthy, key, TEXT.slice(1200), 1200);
    stale.goOn();
    expect(await running).toBe(false);
    await expect(healthy.complete(key)).rejects.toMatchObject({ code: "not-found" });
    expect(textOf(fake)).toBeUndefined();
    expect(await healthy.find(key)).toBeUndefined();
    expect([...fake.objects.keys(), ...fake.uploads.keys()]).toEqual([expect.stringMatching(/state\.json$/)]);
    for await (const state of healthy.list()) expect(state).toMatchObject({ key, lost: true, offset: TEXT.length });
    expect(await healthy.discard(key)).toBe("unfinished");
    expect(fake.objects.size).toBe(0);
  });

  it("takes no part of a stale process before any part counts", async () => {
    const { key, environment, stale } = await beginWithStale("partNumber=1&");
    const { healthy, fake } = environment;
    const running = succeeds(stale.uploads.append(key, BEFORE, chunks("x".repeat(PART))));
    await stale.isWaiting;
    await appendRest(healthy, key);
    stale.goOn();
    expect(await running).toBe(false);
    await healthy.complete(key);
    expect(textOf(fake) === TEXT).toBe(true);
    expect(fake.uploads.size).toBe(0);
  });

  it.each([
    ["small", TEXT.slice(0, BEFORE)],
    ["large", TEXT],
  ])("becomes a file of one completion, and the other one repeats it: %s", async (_, text) => {
    const { key, environment, stale } = await beginWithStale("/file", "HEAD");
    const { healthy, fake } = environment;
    if (text === TEXT) await appendRest(healthy, key);
    const repeats: string[] = [];
    const complete = (uploads: StorageUploads, name: string) =>
      uploads.complete(key, { onRepeat: () => void repeats.push(name) });
    const late = complete(stale.uploads, "late");
    await stale.isWaiting;
    const entry = await complete(healthy, "first");
    stale.goOn();
    expect((await late).etag).toBe(entry.etag);
    expect(repeats).toEqual(["late"]);
    expect(textOf(fake) === text).toBe(true);
  });

  it("becomes the file of the completion that made it, also if another process finds that before it ends", async () => {
    const { environment, key } = await begin();
    const { promise: isReleased, resolve: goOn } = withResolvers();
    const { promise: isMade, resolve: make } = withResolvers();
    const uploads = environment.open(async (url, init) => {
      const response = await environment.fake.fetch(url, init);
      if (init.method === "PUT" && url.endsWith("/file")) {
        make();
        await isReleased;
      }
      return response;
    });
    let isRepeated = false;
    const onRepeat = (): void => {
      isRepeated = true;
    };
    const running = uploads.complete(key, { onRepeat });
    await isMade;
    expect((await environment.healthy.find(key))?.done?.size).toBe(BEFORE);
    goOn();
    await running;
    expect(isRepeated).toBe(false);
    await environment.healthy.complete(key, { onRepeat });
    expect(isRepeated).toBe(true);
  });

  it("leaves nothing of an append during which another process has discarded it", async () => {
    const { key, environment } = await begin();
    const { healthy, faulty, fake } = environment;
    async function* interrupted(): AsyncGenerator<Uint8Array> {
      yield* chunks("abc");
      expect(await faulty.discard(key)).toBe("unfinished");
      yield* chunks("def");
    }
    await expect(healthy.append(key, BEFORE, interrupted())).rejects.toMatchObject({ code: "locked" });
    expect([...fake.objects.keys(), ...fake.uploads.keys()]).toEqual([]);
  });

  it("is continued by both in turn", async () => {
    const { environment, key } = await begin();
    const { healthy, faulty, fake } = environment;
    let offset = BEFORE;
    for (const [index, size] of [10, PART, 7, 1100].entries()) {
      const uploads = index % 2 === 0 ? faulty : healthy;
      offset = await append(uploads, key, TEXT.slice(offset, offset + size), offset);
      expect((await (index % 2 === 0 ? healthy : faulty).find(key))?.offset).toBe(offset);
    }
    await append(faulty, key, TEXT.slice(offset), offset);
    await healthy.complete(key);
    expect(textOf(fake) === TEXT).toBe(true);
  });
});

/** An upload with some bytes that are acknowledged. */
async function begin(isNamedLater = false) {
  const environment = createFailingStore();
  const key = newKey();
  const expires = new Date(Date.now() + 3_600_000);
  const path = isNamedLater ? "/kept" : "/file";
  await environment.healthy.create(key, path, { note: "", expires, isNamedLater });
  await append(environment.healthy, key, TEXT.slice(0, BEFORE), 0);
  return { environment, key };
}

/** The same, and a process whose request for one part is on its way until `goOn`. `passing` is a method that is not. */
async function beginWithStale(part: string, passing?: string) {
  const { environment, key } = await begin();
  const { promise: isReleased, resolve: goOn } = withResolvers();
  const { promise: isWaiting, resolve: wait } = withResolvers();
  const uploads = environment.open(async (url, init) => {
    if (url.includes(part) && init.method !== passing) {
      wait();
      await isReleased;
    }
    return environment.fake.fetch(url, init);
  });
  return { environment, key, stale: { uploads, isWaiting, goOn } };
}

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** A fault, and a store with an upload for it. */
interface Trial {
  readonly fault: Fault;
  readonly environment: FailingStore;
  readonly key: UploadKey;
}

/** Every fault of the calls that an operation is made of, each with a store as it was prepared once. */
async function* faultsOf(
  operation: (uploads: StorageUploads, key: UploadKey) => Promise<unknown>,
  failure: Failure,
  prepare: () => ReturnType<typeof begin> = begin,
): AsyncGenerator<Trial> {
  const { environment: begun, key } = await prepare();
  const sound = createFailingStore(begun.fake);
  sound.strike(undefined);
  await succeeds(operation(sound.faulty, key));
  const count = sound.countCalls();
  expect(count).toBeGreaterThan(3);
  for (const fault of everyFault(count, failure)) yield { fault, environment: createFailingStore(begun.fake), key };
}

function appendRest(uploads: StorageUploads, key: UploadKey): Promise<number> {
  return append(uploads, key, TEXT.slice(BEFORE), BEFORE);
}

function textOf({ objects }: S3Fake): string | undefined {
  return objects.get("file")?.body;
}
