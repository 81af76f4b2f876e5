import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type Account, createAccountResolver } from "../../src/account/account.ts";
import { mountAccount } from "../../src/account/virtual-folders.ts";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import type { StorageUploads } from "../../src/contracts/storage-uploads.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createFolderStorage } from "../../src/storage/folder-storage.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { mountStorage } from "../../src/storage/mount.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { createFaultyStorage } from "../../src/testing/faulty-storage.ts";
import { untouched } from "../../src/testing/storage/content.ts";
import { uploadCases } from "../../src/testing/upload-cases.ts";
import type { UploadCaseContext } from "../../src/testing/uploads/case.ts";
import { uploadsOf } from "../../src/testing/uploads/setup.ts";
import { amount } from "../support/trust.ts";

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

/** Storages around one in memory, tried as one that differs little from it. */
const inOneProcess = { lacks: ["open", "kill"], isVariant: true } as const;
/** Of such a storage every how many cases are tried. */
const STRIDE = amount({ short: 2, ci: 1, long: 1 });
let variants = 0;

describe("the upload cases × a folder of a storage", () => {
  runCases(async () => {
    const storage = createMemoryStorage();
    await storage.createFolder("/folder");
    return toContext(createFolderStorage(storage, ["folder"]));
  }, inOneProcess);
});

describe("the upload cases × mountStorage, beside and inside a mounted storage", () => {
  runCases(async () => {
    const tree = mountStorage({ "/": createMemoryStorage(), "/archive": createMemoryStorage() });
    await tree.createFolder("/folder");
    return toContext(createFolderStorage(tree, ["folder"]));
  }, inOneProcess);
  describe("inside", () => {
    runCases(async () => {
      const tree = mountStorage({ "/": createMemoryStorage(), "/a/archive": createMemoryStorage() });
      return toContext(createFolderStorage(tree, ["a", "archive"]));
    }, inOneProcess);
  });
});

describe("the upload cases × the tree of an account, in its home and in a virtual folder", () => {
  runCases(async () => {
    const tree = mountAccount(await toAccount(), createMemoryStorage());
    await tree.createFolder("/folder");
    return toContext(createFolderStorage(tree, ["folder"]));
  }, inOneProcess);
  describe("in a virtual folder", () => {
    runCases(async () => {
      const tree = mountAccount(await toAccount(), createMemoryStorage());
      // The first upload creates the real folder.
      await tree.createFolder("/shared/folder");
      return toContext(createFolderStorage(tree, ["shared", "folder"]));
    }, inOneProcess);
  });
});

describe("the upload cases × createQuotaStorage", () => {
  runCases(async () => {
    const storage = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/", bytes: 2 ** 50 }] });
    return toContext(storage);
  }, inOneProcess);
});

describe("the upload cases × createTrashStorage around quotas", () => {
  runCases(async () => {
    const storage = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/", bytes: 2 ** 50 }] });
    return toContext(createTrashStorage(storage));
  }, inOneProcess);
});

describe("the upload cases × a trash around versions around quotas", () => {
  runCases(async () => {
    const storage = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/", bytes: 2 ** 50 }] });
    return toContext(createTrashStorage(createVersionsStorage(storage)));
  }, inOneProcess);
});

describe("the upload cases × createFaultyStorage, without a fault", () => {
  runCases(async () => toContext(createFaultyStorage(createMemoryStorage(), () => undefined)), inOneProcess);
});

const key = { owner: "account:alice", id: "0".repeat(32) };
const draft = { note: "", expires: new Date(0) };

describe("the uploads of storages made of storages", () => {
  it("are refused below a mounted storage without them, and exist beside it", async () => {
    const { uploads: _, ...plain } = createMemoryStorage();
    const tree = mountStorage({ "/": createMemoryStorage(), "/plain": plain });
    await expect(tree.uploads?.create(key, "/plain/file", draft)).rejects.toMatchObject({ code: "unsupported" });
    await expect(tree.uploads?.create(key, "/plain", draft)).rejects.toMatchObject({ code: "not-a-file" });
    await expect(tree.uploads?.create(key, "/file", draft)).resolves.toMatchObject({ path: "/file" });
    expect(mountStorage({ "/": plain }).uploads).toBeUndefined();
    expect(createFolderStorage(plain, ["a"]).uploads).toBeUndefined();
  });

  it("have one upload for each key, whichever storage has it", async () => {
    const tree = mountStorage({ "/": createMemoryStorage(), "/archive": createMemoryStorage() });
    await tree.uploads?.create(key, "/archive/file", draft);
    await expect(tree.uploads?.create(key, "/file", draft)).rejects.toMatchObject({ code: "already-exists" });
    await expect(tree.uploads?.complete(key, { path: "/file" })).rejects.toMatchObject({ code: "denied" });
    await expect(tree.uploads?.complete(key, { path: "/archive/other" })).resolves.toMatchObject({ name: "other" });
  });

  it("go on in a storage while another one does not respond", async () => {
    let isDown = true;
    const failing = createFaultyStorage(createMemoryStorage(), ({ verb }) =>
      isDown && verb.startsWith("uploads.") ? { fault: "error", error: "unavailable" } : undefined,
    );
    const tree = mountStorage({ "/": createMemoryStorage(), "/archive": failing });
    const uploads = uploadsOf(tree);
    expect(await uploads.create(key, "/file", draft)).toMatchObject({ path: "/file" });
    expect(await uploads.find(key)).toMatchObject({ path: "/file" });
    expect(await uploads.append(key, 0, oneByte())).toMatchObject({ offset: 1 });
    await expect(uploads.append(key, 9, oneByte())).rejects.toMatchObject({ code: "offset-mismatch" });
    await uploads.update(key, { note: "changed" });
    expect(await uploads.complete(key)).toMatchObject({ size: 1 });
    expect(await uploads.discard(key)).toBe("done");
    // Where the upload may be, the failure is the result.
    for (const attempt of [
      () => uploads.find(key),
      () => uploads.append(key, 0, oneByte()),
      () => uploads.complete(key),
      () => uploads.discard(key),
      () => uploads.create(key, "/archive/file", draft),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: "unavailable" });
    }
    isDown = false;
    expect(await uploads.find(key)).toBeUndefined();
  });

  it("are not continued elsewhere once a storage has read the content", async () => {
    const failing = createFaultyStorage(createMemoryStorage(), ({ verb, step }) =>
      verb === "uploads.append" && step === "chunk" ? { fault: "error", error: "unavailable" } : undefined,
    );
    const root = createMemoryStorage();
    const asked = vi.spyOn(uploadsOf(root), "append");
    const uploads = uploadsOf(mountStorage({ "/": root, "/archive": failing }));
    await uploads.create(key, "/archive/file", draft);
    await expect(uploads.append(key, 0, oneByte())).rejects.toMatchObject({ code: "unavailable" });
    expect(asked).not.toHaveBeenCalled();
  });

  it("are not joined across storages", async () => {
    const tree = mountStorage({ "/": createMemoryStorage(), "/archive": createMemoryStorage() });
    await tree.uploads?.create(key, "/archive/part", draft);
    await expect(tree.uploads?.join?.([key], "/file")).rejects.toMatchObject({ code: "denied" });
    const unknown = { ...key, id: "1".repeat(32) };
    await expect(tree.uploads?.join?.([unknown], "/file")).rejects.toMatchObject({ code: "not-found" });
  });

  it("do not exist in a folder that they are not in", async () => {
    const storage = createMemoryStorage();
    await storage.createFolder("/a");
    await storage.createFolder("/ab");
    await storage.uploads?.create(key, "/ab/file", draft);
    const folder = createFolderStorage(storage, ["a"]);
    expect(await folder.uploads?.find(key)).toBeUndefined();
    expect(await folder.uploads?.discard(key)).toBeUndefined();
    for await (const state of folder.uploads?.list() ?? []) expect(state).toBeUndefined();
    await expect(folder.uploads?.complete(key)).rejects.toMatchObject({ code: "not-found" });
    await expect(folder.uploads?.append(key, 0, oneByte())).rejects.toMatchObject({ code: "not-found" });
    expect(await storage.uploads?.find(key)).toBeDefined();
  });

  it("fail where a test says so", async () => {
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb, step }) =>
      verb === "uploads.append" && step === "chunk" ? { fault: "error", error: "no-space" } : undefined,
    );
    await storage.uploads?.create(key, "/file", draft);
    await expect(storage.uploads?.append(key, 0, oneByte())).rejects.toMatchObject({ code: "no-space" });
    expect(await storage.uploads?.find(key)).toMatchObject({ offset: 0 });
  });
});

function toContext(storage: StorageAdapter): UploadCaseContext {
  return { storage, atomicConditions: true, join: true, read: true };
}

describe("an append that waits when a later call takes over", () => {
  it.each(["memory", "disk", "another process", "a third process"])(
    "is `offset-mismatch`, and reads nothing: %s (R 6.3)",
    async (kind) => {
      const [first, second, third] = await openThree(kind);
      await first.create(key, "/file", draft);
      const [isChecking, verify, pass] = createGate();
      const running = first.append(key, 0, oneByte(), { verify });
      await isChecking;
      const content = untouched();
      const waiting = second.append(key, 1, content);
      // It has to wait when the last one comes: nothing shows that from outside.
      await new Promise((resolve) => setTimeout(resolve, kind === "a third process" ? 100 : 0));
      const last = third.append(key, 0, oneByte());
      running.catch(() => undefined);
      last.catch(() => undefined);
      await expect(waiting).rejects.toMatchObject({ code: "offset-mismatch" });
      pass();
      // The first one may have ended before it sees that another process has taken over.
      const results = await Promise.allSettled([running, last]);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(content.wasTouched()).toBe(false);
    },
  );

  async function openThree(kind: string): Promise<readonly [StorageUploads, StorageUploads, StorageUploads]> {
    if (kind === "memory") {
      const uploads = uploadsOf(createMemoryStorage());
      return [uploads, uploads, uploads];
    }
    const root = await mkdtemp(join(tmpdir(), "fileferry-uploads-"));
    const open = (): StorageUploads => uploadsOf(createDiskStorage({ root }));
    const [first, second] = [open(), open()];
    if (kind === "disk") return [first, first, first];
    return kind === "another process" ? [first, second, second] : [first, second, open()];
  }

  /** A check that waits: a promise of its call, the check, and what lets it pass. */
  function createGate(): readonly [Promise<void>, () => Promise<void>, () => void] {
    let pass: () => void = () => undefined;
    let begin: () => void = () => undefined;
    const isPassed = new Promise<void>((resolve) => {
      pass = resolve;
    });
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const verify = (): Promise<void> => {
      begin();
      return isPassed;
    };
    return [hasBegun, verify, pass];
  }
});

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1);
}

/** An account with a virtual folder whose real folder is missing. */
async function toAccount(): Promise<Account> {
  const settings = { home_folder_path: "/", virtual_folders: [["/shared", "/common/shared"] as [string, string]] };
  return createAccountResolver(new Map())("alice", settings);
}

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

describe("the upload cases × disk where folders have no paths by descriptor, as on other systems", () => {
  const { platform } = process;
  afterEach(() => {
    Object.defineProperty(process, "platform", { value: platform });
  });
  runCases(
    async () => {
      Object.defineProperty(process, "platform", { value: "freebsd" });
      const root = await mkdtemp(join(tmpdir(), "fileferry-uploads-"));
      const open = async () => createDiskStorage({ root });
      return { ...toContext(await open()), open };
    },
    { lacks: ["kill"], isVariant: true },
  );
});

function runCases(create: () => Promise<UploadCaseContext>, { lacks = [], isVariant = false }: Cases = {}): void {
  if (isVariant) variants += 1;
  for (const [index, { name, needs, run }] of uploadCases.entries()) {
    // The next variant has the others.
    if (isVariant && (index + variants) % STRIDE !== 0) continue;
    it.skipIf(needs !== undefined && lacks.includes(needs))(name, async () => run(await create()));
  }
}

/** Which cases are run: those that need only what the storage has, and fewer of a variant of another storage. */
interface Cases {
  readonly lacks?: readonly (keyof UploadCaseContext)[];
  readonly isVariant?: boolean;
}
