import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { toAccount } from "../../../src/account/account.ts";
import { createAccountFiles } from "../../../src/account/create-files.ts";
import { parseResourcePath } from "../../../src/account/path.ts";
import type { SelectedMember } from "../../../src/archive/entries.ts";
import { toLimits } from "../../../src/config/limits.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { type ByteSource, toByteStream } from "../../../src/contracts/byte-source.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { archiveReply } from "../../../src/endpoints/folders/archive.ts";
import { chooseMember } from "../../../src/endpoints/folders/choose-member.ts";
import type { Reply } from "../../../src/http/reply.ts";
import { createRequestPermits } from "../../../src/limits/permits.ts";
import { createWalkQueue } from "../../../src/limits/walk-queue.ts";
import { createFairQueue } from "../../../src/platform/fair-queue.ts";
import { createKeyedLimit } from "../../../src/platform/keyed-limit.ts";
import { createKeyedMutex } from "../../../src/platform/keyed-mutex.ts";
import type { AccountContext } from "../../../src/request/context.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";
import { type ReadMember, readAll, readZip } from "../../unit/archive/read-zip.ts";

const FILES = {
  "/alice/reports/2018/a.csv": "1,2",
  "/alice/reports/2018/empty/": "",
  "/alice/reports/b.txt": "b",
  "/alice/private/secret.txt": "s",
  "/alice/private/more/public.txt": "p",
  "/alice/note.txt": "n",
  "/bob/foreign.txt": "f",
};

describe("the ZIP archive of a folder (4.2, CONTRACT 3.4)", () => {
  it("ignores symbolic links also on a disk that follows them", async () => {
    const root = await mkdtemp(join(tmpdir(), "fileferry-archive-"));
    onTestFinished(() => rm(root, { recursive: true }));
    const storage = createDiskStorage({ root, durability: "rename", links: "inside" });
    await fillStorage(storage, { "/alice/folder/a.txt": "a", "/alice/elsewhere/b.txt": "b" });
    await symlink("../elsewhere", join(root, "alice/folder/linked"));
    await symlink("../elsewhere/b.txt", join(root, "alice/folder/linked.txt"));
    const members = await archive("folder/", undefined, { storage });
    expect(members.map(({ name }) => name)).toEqual(["folder/", "folder/a.txt"]);
  });

  it("has the whole folder, sub-folders and empty ones included, with full paths", async () => {
    const members = await archive("reports/");
    expect(members.map(({ name }) => name)).toEqual([
      "reports/",
      "reports/b.txt",
      "reports/2018/",
      "reports/2018/a.csv",
      "reports/2018/empty/",
    ]);
    expect(
      members
        .find(({ name }) => name === "reports/2018/a.csv")
        ?.content()
        .toString(),
    ).toBe("1,2");
    expect(names(await archive("reports/2018/"))).toEqual([
      "reports/2018/",
      "reports/2018/a.csv",
      "reports/2018/empty/",
    ]);
  });

  it("of the root has all of the account's files and nobody else's", async () => {
    expect(names(await archive(""))).toEqual([
      "note.txt",
      "private/",
      "private/secret.txt",
      "private/more/",
      "private/more/public.txt",
      "reports/",
      "reports/b.txt",
      "reports/2018/",
      "reports/2018/a.csv",
      "reports/2018/empty/",
    ]);
  });

  it("of an empty root is an archive without members", async () => {
    expect(await archive("", undefined, { storage: createMemoryStorage() })).toEqual([]);
  });

  it("keeps modification times", async () => {
    const storage = createMemoryStorage({ clock: () => Date.parse("2018-05-04T12:34:56Z") });
    await fillStorage(storage, FILES);
    const members = await archive("", undefined, { storage });
    for (const { modified } of members) expect(modified).toEqual(new Date("2018-05-04T12:34:56Z"));
  });

  it("is the same, byte for byte, for the same tree", async () => {
    const storage = await createStorage();
    const [first, second] = [await bytes("", { storage }), await bytes("", { storage })];
    expect(first.equals(second)).toBe(true);
  });

  it.each([
    ["reports/2018/", "attachment; filename=\"2018.zip\"; filename*=UTF-8''2018.zip"],
    ["", "attachment; filename=\"alice.zip\"; filename*=UTF-8''alice.zip"],
    ["%22%D7%A9%3A/", "attachment; filename=\"___.zip\"; filename*=UTF-8''%22%D7%A9_.zip"],
  ])("of /%s saves under the folder's name", async (path, disposition) => {
    const response = await open(path, undefined, { files: { ...FILES, '/alice/"ש:/': "" } });
    expect(response.status).toBe(200);
    expect(response.headers).toContainEqual(["Content-Type", "application/zip"]);
    expect(response.headers).toContainEqual(["Content-Disposition", disposition]);
    await (response.body as ByteSource).close();
  });

  it("ignores symbolic links, to files and to folders", async () => {
    const storage = withLinks(await createStorage(), ["/alice/reports/evil", "/alice/reports/2018/b.txt"]);
    const found = names(await archive("reports/", undefined, { storage }));
    expect(found.filter((name) => /evil|2018\/b/.test(name))).toEqual([]);
  });

  it("has virtual folders", async () => {
    const settings = { virtual_folders: [["/shared", "/bob"]] } as const;
    expect(names(await archive("shared/", undefined, { settings }))).toEqual(["shared/", "shared/foreign.txt"]);
    expect(names(await archive("", undefined, { settings }))).toContain("shared/foreign.txt");
  });

  it("leaves out files that the account may not read, and folders that it may not list", async () => {
    const settings = {
      permissions: [["allow-full-control"], ["*.csv", "allow-list"], ["/private", "allow-read"]],
    } as const;
    expect(names(await archive("", undefined, { settings }))).toEqual([
      "note.txt",
      "reports/",
      "reports/b.txt",
      "reports/2018/",
      "reports/2018/empty/",
    ]);
  });

  it("shows of a folder that may only be traversed the folders", async () => {
    const settings = { permissions: [["allow-full-control"], ["/private", "allow-traverse"]] } as const;
    expect(names(await archive("private/", undefined, { settings }))).toEqual([
      "private/",
      "private/more/",
      "private/more/public.txt",
    ]);
  });

  it("does not have the reserved name", async () => {
    expect(names(await archive("", undefined, { files: { "/alice/__svc__/x.txt": "x" } }))).toEqual([]);
  });

  it("reports what the storage denies, and leaves it out where no length was promised", async () => {
    const storage = await createStorageThatDenies("b.txt");
    const reported: unknown[] = [];
    const found = names(await archive("reports/", undefined, { storage, reported, compression: "deflate" }));
    expect(found).toEqual(["reports/", "reports/2018/", "reports/2018/a.csv", "reports/2018/empty/"]);
    expect(reported).toHaveLength(1);
  });

  it("reports what the storage denies, and promises no length where that shows at the begin", async () => {
    const storage = await createStorageThatDenies("b.txt");
    const reported: unknown[] = [];
    const response = await open("reports/", undefined, { storage, reported });
    expect(response.headers.map(([name]) => name)).not.toContain("Content-Length");
    expect(names(readZip(await readAll(toByteStream(response.body as ByteSource))))).not.toContain("reports/b.txt");
    // Once for each of the two times that it was to be read.
    expect(reported.map((error) => (error as Error).message)).toEqual(["EACCES", "EACCES"]);
  });

  it("reports what the storage denies, and breaks off where a length was promised", async () => {
    const storage = await createStorageThatDenies("b.txt", { ...FILES, "/alice/reports/a.bin": "a".repeat(100_000) });
    const reported: unknown[] = [];
    await expect(archive("reports/", undefined, { storage, reported })).rejects.toMatchObject({ code: "unavailable" });
    expect(reported).toHaveLength(1);
  });

  it.each<[string, string, object, Partial<AccountSettings>]>([
    ["missing", "nothing/", { code: "not-found" }, {}],
    ["a file", "note.txt/", { code: "not-found" }, {}],
    ["reserved", "__svc__/", { code: "not-found" }, {}],
    ["not to be listed", "reports/", { failure: "denied" }, { permissions: [["allow-read"]] }],
  ])("fails before its first byte where the folder is %s", async (_, path, error, settings) => {
    await expect(open(path, undefined, { settings })).rejects.toMatchObject(error);
  });
});

describe("the ZIP archive of chosen members (4.6, CONTRACT 4.6)", () => {
  it("has these alone, whole, with names relative to the folder", async () => {
    expect(names(await archive("reports/", ["2018"]))).toEqual(["2018/", "2018/a.csv", "2018/empty/"]);
    expect(names(await archive("", ["reports", "note.txt"]))).toEqual([
      "note.txt",
      "reports/",
      "reports/b.txt",
      "reports/2018/",
      "reports/2018/a.csv",
      "reports/2018/empty/",
    ]);
  });

  it("saves under the folder's name", async () => {
    const response = await open("reports/", ["b.txt"]);
    expect(new Map(response.headers).get("Content-Disposition")).toMatch(/filename="reports\.zip"/);
    await (response.body as ByteSource).close();
  });

  it("leaves out below them what the account may not read", async () => {
    const settings = { permissions: [["allow-full-control"], ["*.csv", "allow-list"]] } as const;
    expect(names(await archive("reports/", ["2018"], { settings }))).toEqual(["2018/", "2018/empty/"]);
  });

  it.each<[string, string, readonly string[], object, Partial<AccountSettings>]>([
    ["one is missing", "", ["note.txt", "nothing"], { code: "not-found" }, {}],
    ["one is a member of Object", "", ["__proto__"], { code: "not-found" }, {}],
    ["one is reserved", "", ["__svc__"], { code: "not-found" }, {}],
    ["the folder is missing", "nothing/", ["a"], { code: "not-found" }, {}],
    ["the folder is a file", "note.txt/", ["a"], { code: "not-found" }, {}],
    ["one may not be read", "", ["note.txt"], { failure: "denied" }, { permissions: [["allow-list"]] }],
    ["one may not be listed", "", ["reports"], { failure: "denied" }, { permissions: [["allow-read"]] }],
  ])("fails before its first byte where %s", async (_, path, members, error, settings) => {
    await expect(open(path, members, { settings })).rejects.toMatchObject(error);
  });

  it("does not have a link", async () => {
    const storage = withLinks(await createStorage(), ["/alice/evil"]);
    await expect(open("", ["evil"], { storage })).rejects.toMatchObject({ code: "not-found" });
  });
});

/** What a request finds. */
interface Environment {
  readonly storage?: StorageAdapter;
  /** Instead of {@link FILES}. */
  readonly files?: Readonly<Record<string, string>>;
  readonly settings?: Partial<AccountSettings>;
  /** Gets what is reported to the operator. */
  readonly reported?: unknown[];
  readonly method?: "GET" | "HEAD";
  /** Default: stored. */
  readonly compression?: "stored" | "deflate";
}

async function createStorage(files: Readonly<Record<string, string>> = FILES): Promise<StorageAdapter> {
  const storage = createMemoryStorage();
  await fillStorage(storage, files);
  return storage;
}

async function createStorageThatDenies(
  name: string,
  files: Readonly<Record<string, string>> = FILES,
): Promise<StorageAdapter> {
  const base = await createStorage(files);
  return overrideStorage(base, {
    async read(path, range) {
      if (path.endsWith(name)) throw new StorageError("denied", "EACCES");
      return base.read(path, range);
    },
  });
}

/** Claims of a service that counts nothing. */
const uncounted = createRequestPermits({
  limits: toLimits({
    transfersPerAccount: 0,
    transfersPerAddress: 0,
    pageBytesPerAccount: 0,
    pageBytesPerAddress: 0,
    pageBytesPerProcess: 0,
  }),
  logger: createRecordingLogger(),
  clock: Date.now,
});

async function open(path: string, members?: readonly string[], environment: Environment = {}): Promise<Reply> {
  const {
    storage = await createStorage(environment.files),
    settings = {},
    reported = [],
    method = "GET",
  } = environment;
  const { compression = "stored" } = environment;
  if ((await storage.stat("/alice")) === undefined) await storage.createFolder("/alice");
  const account = toAccount("alice", settings, new Map());
  const exchange = {
    request: new Request("http://files.example/", { method }),
    config: { archive: { method: compression } },
    path: parseResourcePath(path),
    account,
    files: createAccountFiles(account, storage, {
      queue: createFairQueue(),
      withWalkLock: createKeyedMutex(),
      limitCopiesAndMoves: createKeyedLimit(1),
    }),
    report: (error: unknown) => reported.push(error),
    failureOf: (error: unknown) => error,
    hasListeners: () => false,
    walks: createWalkQueue(),
    ...uncounted({ account: "alice" }, undefined),
  } as unknown as AccountContext;
  if (members === undefined) return archiveReply(exchange);
  const chosen: SelectedMember[] = [];
  for (const name of members) chosen.push(await chooseMember(exchange, name));
  return archiveReply(exchange, chosen);
}

async function bytes(path: string, environment: Environment = {}, members?: readonly string[]): Promise<Buffer> {
  const { body } = await open(path, members, environment);
  return readAll(toByteStream(body as ByteSource));
}

async function archive(
  path: string,
  members?: readonly string[],
  environment?: Environment,
): Promise<readonly ReadMember[]> {
  return readZip(await bytes(path, environment, members));
}

function names(members: readonly ReadMember[]): readonly string[] {
  return members.map(({ name }) => name);
}
