import { expect, it } from "vitest";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { StorageAttributes } from "../../../src/contracts/storage-attributes.ts";
import { copyByReading, moveByCopying } from "../../../src/storage/fallbacks.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

it.each([
  ["copy", copyByReading],
  ["move", moveByCopying],
] as const)("a %s whose properties find no room leaves no copy, and the source as it was", async (_, copyOrMove) => {
  const memory = createMemoryStorage();
  await fillStorage(memory, { "/a": "a" });
  const { properties, change } = memory.attributes as StorageAttributes;
  await change("/a", { properties: new Map([["{urn:x}p", "<p/>"]]) });
  const full = overrideStorage(memory, {
    attributes: {
      properties,
      async change() {
        throw new StorageError("no-space");
      },
    },
  });
  await expect(copyOrMove(full, "/a", "/b")).rejects.toMatchObject({ code: "no-space" });
  await expect(copyOrMove(full, "/a", "/b", { replace: true })).rejects.toMatchObject({ code: "no-space" });
  expect([await memory.stat("/b"), (await properties("/a")).size]).toEqual([undefined, 1]);
});
