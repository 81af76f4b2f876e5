import { describe, expect, it } from "vitest";
import { toAccount } from "../../../src/account/account.ts";
import { createAccountFiles } from "../../../src/account/create-files.ts";
import type { FilesWithoutLocks, RemovalKind } from "../../../src/account/files.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createFairQueue } from "../../../src/platform/fair-queue.ts";
import { createKeyedLimit } from "../../../src/platform/keyed-limit.ts";
import { createKeyedMutex } from "../../../src/platform/keyed-mutex.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";

const NOT_PERMITTED = { failure: "denied", message: "The account's permissions do not allow this." };
const NOT_FOUND = { name: "StorageError", code: "not-found" };

function filesOf(settings: AccountSettings, storage: StorageAdapter = createMemoryStorage()): FilesWithoutLocks {
  return createAccountFiles(toAccount("alice", settings, new Map()), storage, {
    queue: createFairQueue(),
    withWalkLock: createKeyedMutex(),
    limitCopiesAndMoves: createKeyedLimit(1),
  });
}

async function* contentOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

async function namesIn(files: FilesWithoutLocks, segments: readonly string[] = []): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of files.list(segments)) names.push(name);
  return names.sort();
}

describe("the real path of an account's path", () => {
  const outer = ["/pub", "/data/pub"] as const;
  const inner = ["/pub/sub/inner", "/elsewhere"] as const;

  it.each([
    [[], "/homes/alice"],
    [["a"], "/homes/alice/a"],
    [["publication", "a"], "/homes/alice/publication/a"],
    [["sub", "pub"], "/homes/alice/sub/pub"],
    [["pub"], "/data/pub"],
    [["pub", "a"], "/data/pub/a"],
    [["pub", "sub", "other"], "/data/pub/sub/other"],
    [["pub", "sub", "inner"], "/elsewhere"],
    [["pub", "sub", "inner", "a"], "/elsewhere/a"],
  ])("%j is %s: the longest virtual folder around it wins", (segments, path) => {
    for (const virtual_folders of [
      [outer, inner],
      [inner, outer],
    ]) {
      expect(filesOf({ home_folder_path: "/homes/alice", virtual_folders }).realPathOf(segments)).toBe(path);
    }
  });
});

describe("two virtual folders in one place", () => {
  it("show the last of them, and its real path", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/first/a": "x", "/last/b": "x" });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it this way.
    const virtual_folders = [["/alice", "/first"] as const, ["/${USER}", "/last"] as const];
    const files = filesOf({ virtual_folders }, storage);
    expect(await namesIn(files, ["alice"])).toEqual(["b"]);
    expect(files.realPathOf(["alice", "b"])).toBe("/last/b");
  });
});

describe("the reserved name in an account's files (CONTRACT 2.3)", () => {
  async function createFiles(): Promise<FilesWithoutLocks> {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/__svc__/x": "x", "/alice/a/__svc__": "x" });
    return filesOf({}, storage);
  }

  it("does not exist, even if the storage has it", async () => {
    const files = await createFiles();
    for (const path of [["__svc__"], ["__svc__", "x"]]) {
      expect(await files.kindOf(path)).toBeUndefined();
      expect(await files.stat(path, "read")).toBeUndefined();
      await expect(files.read(path)).rejects.toMatchObject(NOT_FOUND);
      await expect(namesIn(files, path)).rejects.toMatchObject(NOT_FOUND);
    }
    expect(await namesIn(files)).toEqual(["a"]);
  });

  it("cannot be created, written or removed", async () => {
    const files = await createFiles();
    const reserved = { failure: "denied", message: "This name is reserved." };
    for (const path of [["__svc__"], ["__svc__", "x"]]) {
      await expect(files.createFolder(path)).rejects.toMatchObject(reserved);
      await expect(files.write(path, contentOf("x"))).rejects.toMatchObject(reserved);
      await expect(files.remove(path, "any")).rejects.toMatchObject(reserved);
    }
  });

  it("is a name as any other below another folder", async () => {
    const files = await createFiles();
    expect(await namesIn(files, ["a"])).toEqual(["__svc__"]);
    expect(await files.kindOf(["a", "__svc__"])).toBe("file");
  });
});

describe("what an account's files say of a path", () => {
  it("is the kind, and nothing of a link (CONTRACT 2.8)", async () => {
    const storage = withLinks(createMemoryStorage(), ["/alice/link"]);
    await fillStorage(storage, { "/alice/file": "x", "/alice/folder/": "" });
    const files = filesOf({}, storage);
    expect(await Promise.all(["file", "folder", "link", "none"].map((name) => files.kindOf([name])))).toEqual([
      "file",
      "folder",
      undefined,
      undefined,
    ]);
    expect(await namesIn(files)).toEqual(["file", "folder"]);
  });

  it("is for the removal of a folder the folder alone", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/file": "x", "/alice/folder/": "" });
    const files = filesOf({}, storage);
    expect(await files.stat(["folder"], "delete-folder")).toMatchObject({ name: "folder", kind: "folder" });
    expect(await files.stat(["file"], "delete-folder")).toBeUndefined();
  });

  it("is whether a folder had to be made", async () => {
    const files = filesOf({ home_folder_path: "/" });
    expect(await files.createFolderIfMissing(["new"])).toBe(true);
    expect(await files.createFolderIfMissing(["new"])).toBe(false);
  });
});

describe("a removal of an account's files (CONTRACT 4.4)", () => {
  it.each<[string, RemovalKind]>([
    ["/alice", "any"],
    ["/", "folder"],
    ["/", "empty-folder"],
  ])("never takes the root, %s, as %s", async (home_folder_path, kind) => {
    const message = "The account's root folder cannot be removed.";
    await expect(filesOf({ home_folder_path }).remove([], kind)).rejects.toMatchObject({ failure: "denied", message });
  });

  it("of an empty folder leaves one that is not", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/full/x": "x" });
    const full = { failure: "unprocessable", message: "The folder is not empty." };
    await expect(filesOf({}, storage).remove(["full"], "empty-folder")).rejects.toMatchObject(full);
  });

  it("calls the storage once, with the kind that was checked: not for nothing, and without a listing if everything may be removed", async () => {
    const base = createMemoryStorage();
    const asked: unknown[] = [];
    const storage = overrideStorage(base, {
      list: (path) => {
        asked.push(["list", path]);
        return base.list(path);
      },
      remove: async (path, options) => {
        asked.push([path, options]);
      },
    });
    await fillStorage(base, { "/alice/folder/deep/x": "x", "/alice/file": "x" });
    const files = filesOf({}, storage);
    await files.remove(["folder"], "any");
    await files.remove(["file"], "any", { ifMatch: "*" });
    await expect(files.remove(["none"], "any")).rejects.toMatchObject(NOT_FOUND);
    expect(asked).toEqual([
      ["/alice/folder", { kind: "folder" }],
      ["/alice/file", { kind: "file", ifMatch: "*" }],
    ]);
  });

  it("ignores a folder that was removed meanwhile, and no other failure", async () => {
    const settings: AccountSettings = { permissions: [["allow-full-control"], ["/folder/deep/kept", "allow-read"]] };
    const createFailing = async (error: Error) => {
      const base = createMemoryStorage();
      await fillStorage(base, { "/alice/folder/deep/kept": "x" });
      const list: StorageAdapter["list"] = async function* (path) {
        if (path === "/alice/folder/deep") throw error;
        yield* base.list(path);
      };
      return { base, files: filesOf(settings, overrideStorage(base, { list })) };
    };
    const gone = await createFailing(new StorageError("not-found"));
    await gone.files.remove(["folder"], "folder");
    expect(await gone.base.stat("/alice/folder")).toBeUndefined();
    for (const error of [new StorageError("unavailable"), new RangeError("a defect")]) {
      const { base, files } = await createFailing(error);
      await expect(files.remove(["folder"], "folder")).rejects.toBe(error);
      expect(await base.stat("/alice/folder")).toBeDefined();
    }
  });

  it("is refused whole for one member that may not go", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/folder/deep/kept": "x", "/alice/folder/a": "x" });
    const permissions = [["allow-full-control"], ["/folder/deep/kept", "allow-read"]];
    await expect(filesOf({ permissions }, storage).remove(["folder"], "any")).rejects.toMatchObject(NOT_PERMITTED);
    expect(await storage.stat("/alice/folder/a")).toBeDefined();
  });
});

describe("the owner of a write", () => {
  it("is the folded name of the account, unless one is given, also below virtual folders", async () => {
    const owners: unknown[] = [];
    const inner = createMemoryStorage();
    const storage = overrideStorage(inner, {
      write(path, content, options) {
        owners.push(options?.owner);
        return inner.write(path, content, options);
      },
    });
    await fillStorage(inner, { "/home/a": "x", "/data/a": "x" });
    const settings: AccountSettings = { home_folder_path: "/home", virtual_folders: [["/pub", "/data"]] };
    const faulty = createFaultyStorage(storage, () => undefined);
    const files = createAccountFiles(toAccount(" Álice", settings, new Map()), faulty, {
      queue: createFairQueue(),
      withWalkLock: createKeyedMutex(),
      limitCopiesAndMoves: createKeyedLimit(1),
    });
    await files.write(["a"], contentOf("x"));
    await files.write(["pub", "a"], contentOf("x"), { size: 1 });
    await files.write(["a"], contentOf("x"), { owner: "a host's own" });
    expect(owners).toEqual(["álice", "álice", "a host's own"]);
  });
});
