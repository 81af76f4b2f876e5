import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { uploadCases } from "../../src/testing/upload-cases.ts";
import type { UploadCaseContext } from "../../src/testing/uploads/case.ts";

describe("the list of upload cases", () => {
  it("has cases each with a name of its own", () => {
    expect(new Set(uploadCases.map(({ name }) => name)).size).toBe(uploadCases.length);
  });
});

describe("the upload cases × memory, but those of other processes, which it cannot have", () => {
  runCases(async () => ({ storage: createMemoryStorage(), atomicConditions: true, join: true, read: true }), {
    lacks: ["open", "kill"],
  });
});

describe("the upload cases × disk, and another storage on the same folder", () => {
  for (const durability of ["fsync", "rename"] as const) {
    describe(`durability ${durability}`, () => {
      runCases(
        async () => {
          const root = await mkdtemp(join(tmpdir(), "fileferry-uploads-"));
          const open = async () => createDiskStorage({ root, durability });
          return { storage: await open(), open, atomicConditions: true, join: true, read: true };
        },
        { lacks: ["kill"] },
      );
    });
  }
});

function runCases(
  create: () => Promise<UploadCaseContext>,
  { lacks = [] }: { readonly lacks?: readonly (keyof UploadCaseContext)[] } = {},
): void {
  for (const { name, needs, run } of uploadCases) {
    it.skipIf(needs !== undefined && lacks.includes(needs))(name, async () => run(await create()));
  }
}
