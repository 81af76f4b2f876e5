import { linkSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage, type DiskStorageOptions } from "../../src/storage/disk.ts";
import { createDryRun } from "../../src/storage/dry-run.ts";
import { createFolderStorage } from "../../src/storage/folder-storage.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { mountStorage } from "../../src/storage/mount.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import type { LinkTarget, StorageCase, StorageCaseContext } from "../../src/testing/storage/case.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { amount } from "../support/trust.ts";

let base: string;
let folders = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-conformance-"));
});

afterAll(() => rm(base, { recursive: true }));

/**
 * A dry run is for one request, and no client reads it: it keeps neither properties, times, tags of copies nor much
 * content, its changes come one after the other, its content comes from storages, and only the storage below it knows
 * owners and the names that it keeps.
 */
const DRY_RUNS = {
  lacks: ["makeLink", "properties", "times", "atomicConditions", "strongTags"],
  leavesOut:
    /parallel|unknown user|256 bytes|UTF-8|several MiB|^read: (?:a source|two readers|a read that)|byte by byte|silent|endless|during (?:its removal|a write)|entity-tags of their own/,
} satisfies Cases;

describe("the list of storage cases", () => {
  it("has at least 60 cases, each with a name of its own", () => {
    expect(storageCases.length).toBeGreaterThanOrEqual(60);
    expect(new Set(storageCases.map(({ name }) => name)).size).toBe(storageCases.length);
  });
});

describe("the storage cases × memory, but those of links, which it cannot hold", () => {
  runCases(async () => memoryContext(createMemoryStorage()), { lacks: ["makeLink"] });
});

describe("the storage cases × mountStorage, in a folder beside a mounted storage", () => {
  runCases(
    async () => {
      const tree = mountStorage({ "/": createMemoryStorage(), "/archive": createMemoryStorage() });
      await tree.createFolder("/folder");
      return memoryContext(createFolderStorage(tree, ["folder"]));
    },
    { lacks: ["makeLink"] },
  );
});

describe("the storage cases × mountStorage, inside a mounted storage", () => {
  runCases(
    async () => {
      const tree = mountStorage({ "/": createMemoryStorage(), "/a/archive": createMemoryStorage() });
      return memoryContext(createFolderStorage(tree, ["a", "archive"]));
    },
    { lacks: ["makeLink"] },
  );
});

describe("the storage cases × mountStorage, in a folder of a mounted disk", () => {
  runCases(
    async () => {
      const { storage: disk } = await diskContext({ durability: "rename" });
      await disk.createFolder("/folder");
      const tree = mountStorage({ "/": createMemoryStorage(), "/archive": disk });
      return memoryContext(createFolderStorage(tree, ["archive", "folder"]));
    },
    { lacks: ["makeLink"], isVariant: true },
  );
});

describe("the storage cases × a single storage, mounted at the root", () => {
  runCases(async () => memoryContext(mountStorage({ "/": createMemoryStorage() })), { lacks: ["makeLink"] });
});

describe("the storage cases × createQuotaStorage, in memory and within its limits", () => {
  runCases(async () => memoryContext(withQuota(createMemoryStorage())), { lacks: ["makeLink"] });
});

describe("the storage cases × createQuotaStorage, on a disk", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename" });
      return { ...context, storage: withQuota(context.storage) };
    },
    { isVariant: true },
  );
});

describe("the storage cases × createTrashStorage, in memory", () => {
  runCases(async () => memoryContext(createTrashStorage(createMemoryStorage())), { lacks: ["makeLink"] });
});

describe("the storage cases × createTrashStorage around quotas, on a disk", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename" });
      return { ...context, storage: createTrashStorage(withQuota(context.storage), { maxBytes: 1_000_000 }) };
    },
    { isVariant: true },
  );
});

describe("the storage cases × createTrashStorage, on a disk that follows links inside", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename", links: "inside" });
      return { ...context, storage: createTrashStorage(context.storage) };
    },
    { isVariant: true },
  );
});

describe("the storage cases × createVersionsStorage, in memory", () => {
  runCases(async () => memoryContext(createVersionsStorage(createMemoryStorage())), { lacks: ["makeLink"] });
});

describe("the storage cases × a trash around versions around quotas, on a disk", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename" });
      const storage = createTrashStorage(createVersionsStorage(withQuota(context.storage), { keep: 2 }));
      return { ...context, storage };
    },
    { isVariant: true },
  );
});

describe("the storage cases × createVersionsStorage, on a disk that follows links inside", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename", links: "inside" });
      return { ...context, storage: createVersionsStorage(context.storage) };
    },
    { isVariant: true },
  );
});

describe("the storage cases × a dry run, over memory", () => {
  runCases(async () => memoryContext(createDryRun().storage(createMemoryStorage())), DRY_RUNS);
});

describe("the storage cases × a dry run, over a disk", () => {
  runCases(
    async () => {
      const context = await diskContext({ durability: "rename" });
      return { ...context, storage: createDryRun().storage(context.storage) };
    },
    {
      lacks: DRY_RUNS.lacks.filter((need) => need !== "makeLink"),
      // These put something into a folder that only the dry run has, without it.
      leavesOut: new RegExp(
        `${DRY_RUNS.leavesOut.source}|appear and disappear|early many times|no member do not|never followed|1,000 members|the links in it`,
      ),
      isVariant: true,
    },
  );
});

describe("the storage cases × a dry run of a trash around versions around quotas", () => {
  runCases(
    async () => {
      const storage = createTrashStorage(createVersionsStorage(withQuota(createMemoryStorage()), { keep: 2 }));
      return memoryContext(createDryRun().storage(storage));
    },
    { ...DRY_RUNS, isVariant: true },
  );
});

describe("the storage cases × disk", () => {
  runCases(() => diskContext({ durability: "fsync" }), { isVariant: true });
});

describe("the storage cases × disk without fsync", () => {
  runCases(() => diskContext({ durability: "rename" }));
});

describe("the storage cases × disk that follows links inside", () => {
  runCases(() => diskContext({ durability: "rename", links: "inside" }), {
    isVariant: true,
  });
});

describe("the storage cases × disk where folders have no paths by descriptor, as on other systems", () => {
  const { platform } = process;
  afterEach(() => {
    Object.defineProperty(process, "platform", { value: platform });
  });
  runCases(
    async () => {
      Object.defineProperty(process, "platform", { value: "freebsd" });
      return diskContext({ durability: "rename" });
    },
    { isVariant: true },
  );
});

function withQuota(storage: StorageAdapter): StorageAdapter {
  return createQuotaStorage(storage, { folders: [{ path: "/", bytes: 2 ** 50, files: 2 ** 30 }] });
}

function memoryContext(storage: StorageAdapter): StorageCaseContext {
  return { storage, strongTags: true, atomicConditions: true, exactMoves: true, properties: true, times: true };
}

/** What takes seconds. Of storages that differ little from another one it is tried in the long run alone. */
const HEAVY = /10,000|2,000|300 levels|30 overwrites/;
const isShort = amount({ short: 1, long: 2 }) === 1;
/** Of such a storage every how many cases are tried. */
const STRIDE = amount({ short: 2, ci: 1, long: 1 });
let variants = 0;

function runCases(
  create: () => Promise<StorageCaseContext>,
  { lacks = [], leavesOut, isVariant = false }: Cases = {},
): void {
  if (isVariant) variants += 1;
  for (const [index, { name, needs, run }] of storageCases.entries()) {
    if ((needs !== undefined && lacks.includes(needs)) || leavesOut?.test(name)) continue;
    if (isVariant && isShort && HEAVY.test(name)) continue;
    // The next variant has the others.
    if (isVariant && (index + variants) % STRIDE !== 0) continue;
    it(name, async () => run(await create()));
  }
}

/** Which cases are run: those that need only what the storage has, and less of a variant of another storage. */
interface Cases {
  readonly lacks?: readonly NonNullable<StorageCase["needs"]>[];
  /** The names of cases of what the storage need not do. */
  readonly leavesOut?: RegExp;
  readonly isVariant?: boolean;
}

async function diskContext(options: Omit<DiskStorageOptions, "root">): Promise<StorageCaseContext> {
  folders += 1;
  const outside = join(base, `${folders}-outside`);
  const root = join(base, `${folders}`);
  await mkdir(root);
  await mkdir(outside);
  let targets = 0;

  async function makeLink(path: string, to: "file" | "folder"): Promise<LinkTarget> {
    targets += 1;
    const target = join(outside, `${targets}`);
    const text = to === "file" ? target : join(target, "inside.txt");
    if (to === "folder") await mkdir(target);
    await writeFile(text, "target");
    await symlink(target, join(root, path));
    return { readText: () => readFile(text, "utf8").catch(() => undefined) };
  }

  async function fill(folder: string, count: number): Promise<void> {
    // One file under many names: made, and removed, in a tenth of the time of as many files.
    const path = (number: number) => join(root, folder, `${number}`);
    await writeFile(path(0), "x");
    for (let number = 1; number < count; number += 1) linkSync(path(0), path(number));
  }

  const storage = createDiskStorage({ root, ...options });
  return {
    storage,
    strongTags: true,
    atomicConditions: true,
    exactMoves: true,
    properties: true,
    times: true,
    makeLink,
    fill,
  };
}
