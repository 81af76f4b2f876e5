import { describe, expect, it } from "vitest";
import { StorageError } from "../../src/contracts/storage-adapter.ts";
import type { StorageUploads } from "../../src/contracts/storage-uploads.ts";
import { toLocation } from "../../src/storage/object-store/keys.ts";
import { createPartMemory } from "../../src/storage/object-store/part-memory.ts";
import { createObjectUploads } from "../../src/storage/object-store/uploads.ts";
import { createR2UploadBucket } from "../../src/storage/r2/upload-bucket.ts";
import { newKey } from "../../src/testing/uploads/setup.ts";
import { createMemoryBucket } from "../unit/storage/r2-bucket.ts";

/** Smaller than R2 allows, so that the tests are quick. */
const PART = 1000;
const TEXT = Array.from({ length: 2.5 * PART }, (_, index) => String.fromCharCode(97 + ((index * index) % 26))).join(
  "",
);
const BEFORE = 100;

/** A bucket of which one change fails, and its uploads. */
function createEnvironment() {
  let failing: number | undefined;
  let changes = 0;
  const {
    bucket,
    objects,
    uploads: multipart,
    text,
  } = createMemoryBucket(() => {
    changes += 1;
    if (changes === failing) throw new Error("internal error (10001)");
  });
  const uploads = createObjectUploads(
    createR2UploadBucket({
      bucket,
      prefix: "",
      partBytes: PART,
      memory: createPartMemory(Number.POSITIVE_INFINITY),
      locate(path) {
        const location = toLocation("", path);
        if (location === undefined) throw new StorageError("bad-name");
        return location;
      },
      async checkTarget(location, { ifNoneMatch }) {
        const found = objects.get(location.key);
        if (found !== undefined && ifNoneMatch === "*") throw new StorageError("precondition-failed");
        return found?.httpEtag;
      },
      isFolder: async () => true,
    }),
  );

  /** The change with this number fails, counted from 1. */
  function strike(number: number | undefined): void {
    failing = number;
    changes = 0;
  }

  return { uploads, objects, multipart, strike, countChanges: () => changes, fileText: () => text("file") };
}

describe("an upload in R2 of which a change fails", () => {
  it.each([false, true])(
    "loses nothing acknowledged, and is complete or not; named later: %s",
    async (isNamedLater) => {
      for (let number = 1, isOver = false; !isOver; number += 1) {
        const { uploads, multipart, strike, countChanges, fileText } = createEnvironment();
        const key = newKey();
        const path = isNamedLater ? "/kept" : "/file";
        const complete = () => uploads.complete(key, { path: "/file", ifNoneMatch: "*" });
        await uploads.create(key, path, { note: "", expires: new Date(0), isNamedLater });
        await append(uploads, key, 0, BEFORE);
        strike(number);
        const isAppended = await succeeds(append(uploads, key, BEFORE, TEXT.length));
        isOver = countChanges() < number;
        strike(undefined);
        const offset = (await uploads.find(key))?.offset ?? -1;
        expect(offset, `change ${number}`).toBeGreaterThanOrEqual(isAppended ? TEXT.length : BEFORE);
        await append(uploads, key, offset, TEXT.length);
        strike(number);
        const isCompleted = await succeeds(complete());
        isOver &&= countChanges() < number;
        strike(undefined);
        expect(fileText() === TEXT || (fileText() === undefined && !isCompleted), `change ${number}`).toBe(true);
        const entry = await complete();
        expect(fileText() === TEXT, `change ${number}`).toBe(true);
        expect((await uploads.find(key))?.done, `change ${number}`).toEqual(entry);
        for (const { parts } of multipart.values()) expect(parts.size, `change ${number}`).toBe(0);
      }
    },
    120_000,
  );

  it("is freed by its discard, or by the listing after it", async () => {
    for (let number = 1, isOver = false; !isOver; number += 1) {
      const { uploads, objects, multipart, strike, countChanges } = createEnvironment();
      const key = newKey();
      await uploads.create(key, "/file", { note: "", expires: new Date(0) });
      await append(uploads, key, 0, TEXT.length);
      strike(number);
      const isDiscarded = await uploads.discard(key).catch(() => undefined);
      isOver = countChanges() < number;
      strike(undefined);
      if (!isDiscarded) expect(await uploads.discard(key)).toBe("unfinished");
      for await (const state of uploads.list()) expect(state, "a listed upload").toBeUndefined();
      expect([...objects.keys(), ...multipart.keys()], `change ${number}`).toEqual([]);
    }
  });
});

async function append(uploads: StorageUploads, key: ReturnType<typeof newKey>, from: number, to: number) {
  async function* content(): AsyncGenerator<Uint8Array> {
    for (let at = from; at < to; at += 300) yield new TextEncoder().encode(TEXT.slice(at, Math.min(to, at + 300)));
  }
  return uploads.append(key, from, content());
}

function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
