import { describe, expect, it } from "vitest";
import { type Account, toAccount } from "../../../src/account/account.ts";
import { prepareHome } from "../../../src/account/home.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";

const NO_GROUPS = new Map();
// biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it this way.
const USER = "${USER}";
const DENIED = { failure: "denied" };

function accountOf(settings: AccountSettings = {}): Account {
  return toAccount("alice", settings, NO_GROUPS);
}

async function kindOf(storage: StorageAdapter, path: string): Promise<string | undefined> {
  return (await storage.stat(path))?.kind;
}

describe("the preparation of a home", () => {
  it("makes it with its parents (CONTRACT 7.1)", async () => {
    const storage = createMemoryStorage();
    await prepareHome(accountOf({ home_folder_path: "/a/b/c" }), storage);
    expect(await kindOf(storage, "/a/b/c")).toBe("folder");
  });

  it("may be done by several logins at once (SECURITY 11)", async () => {
    const storage = createMemoryStorage();
    const account = accountOf({ home_folder_path: "/a/b", home_folder_structure: ["in/new", "out"] });
    await Promise.all([1, 2, 3].map(() => prepareHome(account, storage)));
    for (const path of ["/a/b", "/a/b/in/new", "/a/b/out"]) expect(await kindOf(storage, path)).toBe("folder");
  });

  it("is nothing where it is the storage's root, also where none is to be made", async () => {
    const storage = overrideStorage(createMemoryStorage(), {
      stat: async () => undefined,
      createFolder: () => Promise.reject(new StorageError("denied")),
    });
    for (const create_home_folder of [true, false])
      await expect(
        prepareHome(accountOf({ home_folder_path: "/", create_home_folder }), storage),
      ).resolves.toBeUndefined();
  });

  it("is refused where it is missing and not to be made (CONTRACT 7.3)", async () => {
    const storage = createMemoryStorage();
    const account = accountOf({ home_folder_path: "/a", create_home_folder: false, home_folder_structure: ["in"] });
    const cause = { code: "not-found", message: "The home folder is missing." };
    await expect(prepareHome(account, storage)).rejects.toMatchObject({ ...DENIED, cause });
    expect(await kindOf(storage, "/a")).toBeUndefined();
  });

  it("makes nothing that is there: the storage may be one that is only read", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/alice/in/": "" });
    const storage = overrideStorage(base, { createFolder: () => Promise.reject(new StorageError("denied")) });
    await expect(prepareHome(accountOf({ home_folder_structure: ["in"] }), storage)).resolves.toBeUndefined();
  });

  it.each([
    ["it", "/alice", {}],
    ["it, though none is to be made", "/alice", { create_home_folder: false }],
    ["a parent of it", "/homes", { home_folder_path: "/homes/alice" }],
    ["a folder of its structure", "/alice/in", { home_folder_structure: ["in/new"] }],
  ])("is refused where a file or a link stands in the place of %s (CONTRACT 7.3)", async (_case, path, settings) => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { [path]: "a file" });
    await expect(prepareHome(accountOf(settings), storage)).rejects.toMatchObject(DENIED);
    expect(await kindOf(storage, path)).toBe("file");

    const linked = withLinks(createMemoryStorage(), [path]);
    await fillStorage(linked, path.startsWith("/alice/") ? { "/alice/": "" } : {});
    await expect(prepareHome(accountOf(settings), linked)).rejects.toMatchObject(DENIED);
    expect(await kindOf(linked, path)).toBe("link");
  });

  it("makes nothing where the storage knows no such owner (CONTRACT 7.3)", async () => {
    const storage = createMemoryStorage();
    const account = accountOf({ home_folder_path: "/a/b/c", create_home_folder_owner: "nobody" });
    await expect(prepareHome(account, storage)).rejects.toMatchObject(DENIED);
    expect(await kindOf(storage, "/a")).toBeUndefined();
  });

  it("asks for the owner of the home alone, not of its parents and members", async () => {
    const base = createMemoryStorage();
    const asked: [string, object | undefined][] = [];
    const storage = overrideStorage(base, {
      async createFolder(path, options) {
        await base.createFolder(path);
        asked.push([path, options?.owner]);
      },
    });
    const owner = { create_home_folder_owner: "alice", create_home_folder_group: "staff" };
    await prepareHome(accountOf({ home_folder_path: "/a/b", home_folder_structure: ["in"], ...owner }), storage);
    expect(asked).toEqual([
      ["/a", {}],
      ["/a/b", { user: "alice", group: "staff" }],
      ["/a/b/in", {}],
    ]);
  });

  it("makes the structure in a home that is there already, and leaves what is in it (CONTRACT 7.3)", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/in/kept": "kept" });
    const account = accountOf({ create_home_folder: false, home_folder_structure: ["/in", "out/2018/old", USER] });
    await prepareHome(account, storage);
    for (const path of ["/alice/out/2018/old", "/alice/alice"]) expect(await kindOf(storage, path)).toBe("folder");
    expect(await kindOf(storage, "/alice/in/kept")).toBe("file");
  });

  it.each(["unavailable", "no-space"] as const)("lets a storage that is %s say so", async (code) => {
    const storage = overrideStorage(createMemoryStorage(), {
      createFolder: () => Promise.reject(new StorageError(code)),
    });
    await expect(prepareHome(accountOf(), storage)).rejects.toMatchObject({ code });
  });

  it("does not pass a defect off as a refusal", async () => {
    const defect = new RangeError("a defect");
    const storage = overrideStorage(createMemoryStorage(), { createFolder: () => Promise.reject(defect) });
    await expect(prepareHome(accountOf(), storage)).rejects.toBe(defect);
  });

  it("gives up on a storage that never finds the parent", async () => {
    const storage = overrideStorage(createMemoryStorage(), {
      createFolder: () => Promise.reject(new StorageError("parent-missing")),
    });
    await expect(prepareHome(accountOf({ home_folder_path: "/a/b/c" }), storage)).rejects.toMatchObject(DENIED);
  });
});
