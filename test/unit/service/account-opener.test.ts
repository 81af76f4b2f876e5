import { describe, expect, it } from "vitest";
import type { AccountFiles } from "../../../src/account/files.ts";
import type { AccountSettings, GroupSettings } from "../../../src/contracts/account.ts";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createAccountOpener } from "../../../src/service/account-opener.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

async function open(settings: AccountSettings = {}, storage = createMemoryStorage()): Promise<AccountFiles> {
  return createAccountOpener({ storage })("alice", settings);
}

async function namesIn(files: AccountFiles, segments: readonly string[] = []): Promise<string[]> {
  const names = [];
  for await (const { name } of files.list(segments)) names.push(name);
  return names.sort();
}

function openWithGroup(settings: AccountSettings, storage: StorageAdapter, group: GroupSettings) {
  return createAccountOpener({ storage, groups: { DEFAULT_GROUP: group } })("alice", settings);
}

describe("an account that is opened", () => {
  it("has its home made ready (CONTRACT 7.1)", async () => {
    const storage = createMemoryStorage();
    const files = await open({ home_folder_structure: ["in", "out/old"] }, storage);
    expect(await namesIn(files)).toEqual(["in", "out"]);
    expect((await storage.stat("/alice/out/old"))?.kind).toBe("folder");
  });

  it("has the files that the settings give it", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/home/a.txt": "mine", "/shared/b.txt": "ours" });
    const files = await open({ home_folder_path: "/home", virtual_folders: [["/common", "/shared"]] }, storage);
    expect(await namesIn(files)).toEqual(["a.txt", "common"]);
    expect(await new Response((await files.read(["common", "b.txt"])).body).text()).toBe("ours");
  });

  it("has from its group what its settings leave out", async () => {
    const storage = createMemoryStorage();
    const files = await openWithGroup({}, storage, {
      home_folder_path: "/people",
      permissions: [["allow-list"]],
    });
    expect((await storage.stat("/people/alice"))?.kind).toBe("folder");
    await expect(files.createFolder(["new"])).rejects.toMatchObject({ failure: "denied" });
  });

  it("removes an empty folder only if it has no members, hidden ones included", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/full/hidden.txt": "x", "/alice/bare/": "", "/alice/file": "x" });
    const files = await open(
      { permissions: [["allow-traverse", "allow-delete-folder", "allow-delete-file"]] },
      storage,
    );
    expect(await namesIn(files, ["full"])).toEqual([]);
    await expect(files.remove(["full"], "empty-folder")).rejects.toMatchObject({ failure: "unprocessable" });
    await expect(files.remove(["file"], "empty-folder")).rejects.toMatchObject({ code: "not-found" });
    await files.remove(["bare"], "empty-folder");
    expect(await storage.stat("/alice/full/hidden.txt")).toBeDefined();
    expect(await storage.stat("/alice/bare")).toBeUndefined();
  });

  it("removes by a tag the file alone that has it, and no folder", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/alice/folder/kept": "x", "/alice/file": "x" });
    const files = await open({}, storage);
    for (const kind of ["any", "folder", "empty-folder"] as const) {
      await expect(files.remove(["folder"], kind, { ifMatch: "*" })).rejects.toMatchObject({
        code: "precondition-failed",
      });
    }
    await expect(files.remove(["file"], "any", { ifMatch: ['"another"'] })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    expect(await storage.stat("/alice/folder/kept")).toBeDefined();
    await files.remove(["file"], "any", { ifMatch: [(await storage.stat("/alice/file"))?.etag ?? ""] });
    expect(await namesIn(files)).toEqual(["folder"]);
  });

  it.each([[""], ["."], [".."], ["a/b"], ["a\\b"], ["a\nb"]])("refuses %j for a name", async (name) => {
    const files = await open();
    const malformed = { name: "HttpError", failure: "malformed" };
    await expect(files.kindOf([name])).rejects.toMatchObject(malformed);
    await expect(files.stat([name], "read")).rejects.toMatchObject(malformed);
    await expect(files.read(["in", name])).rejects.toMatchObject(malformed);
    await expect(files.write([name], (async function* () {})())).rejects.toMatchObject(malformed);
    await expect(files.createFolder([name])).rejects.toMatchObject(malformed);
    await expect(files.remove([name], "any")).rejects.toMatchObject(malformed);
    await expect(namesIn(files, [name])).rejects.toMatchObject(malformed);
  });
});

describe("an account that cannot be opened", () => {
  const denied = { name: "HttpError", failure: "denied", message: "The account cannot be used." };

  it("is denied for settings with an unknown member, which could forbid something (2.4)", async () => {
    const settings = { read_only: true } as AccountSettings;
    await expect(open(settings)).rejects.toMatchObject({ ...denied, cause: { name: "ZodError" } });
  });

  it("is denied for a group that is none, and the log may learn why", async () => {
    await expect(open({ group: "nobody" })).rejects.toMatchObject({
      ...denied,
      cause: { message: "group: is not a configured group" },
    });
  });

  it("is denied without the home that is not to be made (CONTRACT 7.3)", async () => {
    await expect(open({ create_home_folder: false })).rejects.toMatchObject({
      ...denied,
      cause: { code: "not-found" },
    });
  });

  it("is denied for a name that no folder can have", async () => {
    const openAccount = createAccountOpener({ storage: createMemoryStorage() });
    await expect(openAccount("..", {})).rejects.toMatchObject(denied);
  });

  it.each(["unavailable", "no-space"] as const)("fails as the storage does: %s", async (code) => {
    const broken = overrideStorage(createMemoryStorage(), {
      createFolder: async () => {
        throw new StorageError(code);
      },
    });
    await expect(open({}, broken)).rejects.toMatchObject({ name: "StorageError", code });
  });
});

describe("the options of an opener", () => {
  it.each([
    ["storage", {}],
    ["groups", { storage: createMemoryStorage(), groups: "staff" }],
    ["groups.staff.quota", { storage: createMemoryStorage(), groups: { staff: { quota: 1 } } }],
    ["groups.staff.permissions", { storage: createMemoryStorage(), groups: { staff: { permissions: [["fly"]] } } }],
  ])("are checked when it is made: %s", (option, options) => {
    const make = () => createAccountOpener(options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(option.split(".").slice(0, 2).join("."));
  });
});
