import fs from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { Request } from "@whatwg-node/fetch";
import { describe, expect, it, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { inChunks, namesIn, noise, put, readFileText } from "../../../src/testing/storage/content.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { AUTHORIZATION } from "../../support/served.ts";

type Names<T> = { [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never }[keyof T];

/** A storage on a folder of its own, with a file, and what is in the folder. */
async function startStorage(durability: "fsync" | "rename" = "fsync") {
  const root = await mkdtemp(join(tmpdir(), "fileferry-failures-"));
  onTestFinished(() => rm(root, { recursive: true }));
  const storage = createDiskStorage({ root, durability });
  await put(storage, "/file", "former");
  return { root, storage, names: () => readdir(root) };
}

/** What the system says when a call fails. */
function systemError(name: keyof typeof constants.errno, syscall: string): Error {
  return Object.assign(new Error(`${name}: failed, ${syscall}`), {
    errno: -constants.errno[name],
    code: name,
    syscall,
  });
}

/** Has a call of `node:fs` done by another function until the test ends. */
function replaceCall<T extends object, K extends Names<T>>(room: T, name: K, make: (own: T[K]) => unknown): void {
  const own = room[name];
  room[name] = make(own) as T[K];
  syncBuiltinESMExports();
  onTestFinished(() => {
    room[name] = own;
    syncBuiltinESMExports();
  });
}

describe("a move of a file whose old name is removed, although the system reports a failure", () => {
  it.each(["ENOENT", "EIO"] as const)("is done, and loses nothing: %s", async (code) => {
    const { storage, names } = await startStorage();
    replaceCall(fs.promises, "unlink", (unlink) => async (path: string) => {
      await unlink(path);
      throw systemError(code, "unlink");
    });
    expect(await storage.move?.("/file", "/new")).toBe("created");
    expect(await readFileText(storage, "/new")).toBe("former");
    expect(await names()).toEqual(["new"]);
  });

  it("fails if another process has moved it, which keeps its name", async () => {
    const { root, storage, names } = await startStorage();
    replaceCall(fs.promises, "unlink", (unlink) => async (path: string) => {
      if (String(path).endsWith("/file")) fs.renameSync(join(root, "file"), join(root, "elsewhere"));
      await unlink(path);
    });
    await expect(storage.move?.("/file", "/new")).rejects.toMatchObject({ code: "not-found" });
    expect(await names()).toEqual(["elsewhere"]);
  });
});

describe("a rename that was done, although the system reports a failure", () => {
  const NAME = "{urn:example}name";

  /** A storage whose file has properties, in which each rename to a name fails until it is mended. */
  async function startFailing(name: string, isDone: boolean) {
    const { root, storage } = await startStorage("rename");
    const set = (path: string, text?: string) =>
      storage.attributes?.change(path, { properties: new Map([[NAME, text]]) });
    const get = async (path: string) => (await storage.attributes?.properties(path))?.get(NAME);
    await storage.createFolder("/folder");
    await set("/file", "own");
    let isFailing = true;
    /** Returns whether a rename is to fail, after it was done or not. */
    const fails = (from: fs.PathLike, to: fs.PathLike): boolean => {
      const isMeant = isFailing && String(to).endsWith(`/${name}`);
      if (isMeant && isDone) renameSync(from, to);
      return isMeant;
    };
    const { renameSync } = fs;
    replaceCall(fs.promises, "rename", (own) => async (from: fs.PathLike, to: fs.PathLike) => {
      if (fails(from, to)) throw systemError("EIO", "rename");
      await own(from, to);
    });
    replaceCall(fs, "renameSync", (own) => (from: fs.PathLike, to: fs.PathLike) => {
      if (fails(from, to)) throw systemError("EIO", "rename");
      own(from, to);
    });
    replaceCall(fs, "rename", (own) => (from: fs.PathLike, to: fs.PathLike, done: fs.NoParamCallback) => {
      if (fails(from, to)) done(systemError("EIO", "rename"));
      else own(from, to, done);
    });
    const mend = () => {
      isFailing = false;
    };
    const recordsIn = async (folder: string) =>
      (await readdir(join(root, folder, ".fileferry-properties")).catch(() => [])).length;
    return { storage, set, get, mend, recordsIn };
  }

  it("keeps the properties of a file that it has moved", async () => {
    const { storage, get } = await startFailing("new", true);
    const moving = storage.move("/file", "/folder/new", { replace: true });
    await expect(moving).rejects.toMatchObject({ code: "unavailable" });
    expect(await storage.stat("/file")).toBe(undefined);
    expect(await get("/folder/new")).toBe("own");
  });

  it("keeps the properties of a file that it has overwritten", async () => {
    const { storage, get } = await startFailing("file", true);
    await expect(put(storage, "/file", "later")).rejects.toMatchObject({ code: "unavailable" });
    expect(await readFileText(storage, "/file")).toBe("later");
    expect(await get("/file")).toBe("own");
  });

  it("leaves nothing behind at the new place, if it was not done", async () => {
    const { storage, get, recordsIn } = await startFailing("new", false);
    const moving = storage.move("/file", "/folder/new", { replace: true });
    await expect(moving).rejects.toMatchObject({ code: "unavailable" });
    expect(await get("/file")).toBe("own");
    expect([await recordsIn(""), await recordsIn("folder")]).toEqual([1, 0]);
  });

  it("never gives back properties that were removed at the new place", async () => {
    const { storage, set, get, mend } = await startFailing("new", true);
    const moving = storage.move("/file", "/folder/new", { replace: true });
    await expect(moving).rejects.toMatchObject({ code: "unavailable" });
    mend();
    await set("/folder/new", undefined);
    await storage.move("/folder/new", "/file");
    expect(await get("/file")).toBe(undefined);
  });
});

describe("a copy of a file during which something happens", () => {
  const NAME = "{urn:example}name";

  /** A storage whose file and folder have properties. `act` is called before the next folder is made. */
  async function startActing(act: (root: string) => void) {
    const { root, storage } = await startStorage("rename");
    for (const path of ["/folder", "/tree"]) await storage.createFolder(path);
    for (const path of ["/file", "/tree"])
      await storage.attributes?.change(path, { properties: new Map([[NAME, "own"]]) });
    let isActing = true;
    replaceCall(fs.promises, "mkdir", (mkdir) => async (...args: Parameters<typeof mkdir>) => {
      if (isActing) act(root);
      isActing = false;
      return mkdir(...args);
    });
    const membersOf = (name: string) => fs.readdirSync(join(root, name)).sort();
    return { storage, membersOf };
  }

  it.each(["/file", "/tree"])(
    "leaves no properties of %s behind if it finds another file at its place",
    async (from) => {
      const { storage, membersOf } = await startActing((root) => fs.writeFileSync(join(root, "folder/new"), "other"));
      await expect(storage.copy(from, "/folder/new")).rejects.toMatchObject({ code: "already-exists" });
      expect(membersOf("folder")).toEqual(["new"]);
    },
  );

  it.each(["/file", "/tree"])("does not take its place if it is aborted when it is written: %s", async (from) => {
    const controller = new AbortController();
    const { storage, membersOf } = await startActing(() => controller.abort());
    const copying = storage.copy(from, "/folder/new", { signal: controller.signal });
    await expect(copying).rejects.toMatchObject({ name: "AbortError" });
    expect(membersOf("folder")).toEqual([]);
  });

  it("is not-found if a folder takes the place of the file", async () => {
    const { root, storage } = await startStorage("rename");
    const onRead = () => {
      fs.unlinkSync(join(root, "file"));
      fs.mkdirSync(join(root, "file"));
    };
    await expect(storage.copy("/file", "/new", { kind: "file", onRead })).rejects.toMatchObject({ code: "not-found" });
    expect(fs.readdirSync(root)).toEqual(["file"]);
  });

  it("that shares its bytes tells a missing folder from a missing file", async () => {
    const { root, storage } = await startStorage("rename");
    await storage.createFolder("/folder");
    let removed = "folder";
    replaceCall(fs.promises, "link", (link) => async (...args: Parameters<typeof link>) => {
      fs.rmSync(join(root, removed), { recursive: true });
      return link(...args);
    });
    const share = () => storage.copy("/file", "/folder/new", { mayShare: true });
    await expect(share()).rejects.toMatchObject({ code: "parent-missing" });
    await storage.createFolder("/folder");
    removed = "file";
    await expect(share()).rejects.toMatchObject({ code: "not-found" });
  });
});

describe("a creation that must not replace anything, where no hard link can be made", () => {
  const create = (storage: StorageAdapter) => storage.write("/new", inChunks(noise(10, 1), 10), { ifNoneMatch: "*" });

  it.each(["EPERM", "EACCES", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"] as const)(
    "is done by a rename on %s",
    async (code) => {
      const { storage, names } = await startStorage();
      replaceCall(fs.promises, "link", () => () => Promise.reject(systemError(code, "link")));
      await create(storage);
      expect((await names()).sort()).toEqual(["file", "new"]);
    },
  );

  it.each([
    ["EIO", "unavailable"],
    ["ENOMEM", "unavailable"],
    ["ENOSPC", "no-space"],
    ["EDQUOT", "no-space"],
    ["EROFS", "denied"],
  ] as const)("fails on %s, and replaces nothing that another process has just made", async (code, expected) => {
    const { root, storage, names } = await startStorage();
    replaceCall(fs.promises, "link", () => async () => {
      fs.writeFileSync(join(root, "new"), "another's");
      throw systemError(code, "link");
    });
    await expect(create(storage)).rejects.toMatchObject({ code: expected });
    expect(await readFileText(storage, "/new")).toBe("another's");
    expect((await names()).sort()).toEqual(["file", "new"]);
  });
});

it("tells of a folder that the process may not write to any more, where links are forbidden as well: 403", async () => {
  const { storage, names } = await startStorage();
  const forbid = (name: "link" | "rename") =>
    replaceCall(fs.promises, name, () => () => Promise.reject(systemError("EACCES", name)));
  forbid("link");
  forbid("rename");
  replaceCall(fs, "renameSync", () => () => {
    throw systemError("EACCES", "rename");
  });
  const writing = storage.write("/new", inChunks(noise(10, 1), 10), { ifNoneMatch: "*" });
  await expect(writing).rejects.toMatchObject({ code: "denied" });
  expect(await names()).toEqual(["file"]);
});

describe("a file system that tells at the end of a file that it could not keep its bytes", () => {
  it.each([
    ["fsync", "EIO", "unavailable", 10],
    ["rename", "EDQUOT", "no-space", 10],
    ["rename", "ENOSPC", "no-space", 200_000],
  ] as const)("fails the write (%s, %s), and the former file stays", async (durability, code, expected, size) => {
    const { storage, names } = await startStorage(durability);
    /** Files that were opened to be written: folders are closed, too. */
    const written = new Set<unknown>();
    const notice = (descriptor: unknown) => void written.add(descriptor);
    replaceCall(fs, "writeSync", (own) => (...args: Parameters<typeof own>) => {
      notice(args[0]);
      return own(...args);
    });
    replaceCall(fs, "write", (own) => (...args: Parameters<typeof own>) => {
      notice(args[0]);
      return own(...args);
    });
    replaceCall(fs, "closeSync", (own) => (descriptor: number) => {
      own(descriptor);
      if (written.delete(descriptor)) throw systemError(code, "close");
    });
    replaceCall(fs, "close", (own) => (descriptor: number, done: (error: Error | null) => void) => {
      own(descriptor, () => done(written.delete(descriptor) ? systemError(code, "close") : null));
    });
    const content = () => inChunks(noise(size, 1), 65_536);
    await expect(storage.write("/file", content())).rejects.toMatchObject({ code: expected });
    await expect(storage.write("/new", content(), { ifNoneMatch: "*" })).rejects.toMatchObject({ code: expected });
    expect(await readFileText(storage, "/file")).toBe("former");
    expect(await names()).toEqual(["file"]);
  });
});

describe("a folder that the system cannot be asked about", () => {
  it.each([
    ["EIO", 503],
    ["ESTALE", 503],
    ["ENOTCONN", 503],
    ["EACCES", 403],
  ] as const)("is %s: every change in it is %i, and the former state stays", async (code, status) => {
    const { root, storage, names } = await startStorage();
    const logger = createRecordingLogger();
    const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
    const authentication = createAccountsAuthenticator({ accounts, logger });
    const service = createFileService({ storage, authentication, logger });
    async function call(method: string, path: string, fields: Record<string, string> = {}): Promise<Response> {
      const headers = { Authorization: AUTHORIZATION, ...fields };
      const body = method === "PUT" ? { body: "new" } : {};
      return service.fetch(new Request(`http://x/home${path}`, { method, headers, ...body }), {});
    }
    expect((await call("GET", "/file")).status).toBe(200);
    const { ino } = fs.statSync(root);
    replaceCall(fs, "fstatSync", (own) => (descriptor: number, options: fs.StatSyncOptions) => {
      const found = own(descriptor, options as never) as unknown as fs.BigIntStats;
      if (Number(found.ino) === ino) throw systemError(code, "fstat");
      return found;
    });
    for (const [method, path] of [
      ["PUT", "/file"],
      ["PUT", "/new"],
      ["DELETE", "/file"],
    ] as const) {
      const answer = await call(method, path);
      expect([method, answer.status, answer.headers.has("Retry-After")]).toEqual([method, status, status === 503]);
    }
    expect(await readFileText(storage, "/file")).toBe("former");
    expect(await names()).toEqual(["file"]);
  });
});

describe("a temporary file that cannot be removed when its write has failed", () => {
  it("is removed by the next who lists the folder, as soon as that can be done", async () => {
    const { storage, names } = await startStorage();
    let isRefused = true;
    replaceCall(fs.promises, "unlink", (own) => async (path: string) => {
      if (isRefused) throw systemError("EIO", "unlink");
      return own(path);
    });
    await expect(storage.write("/new", inChunks(noise(10, 1), 5), { size: 11 })).rejects.toMatchObject({
      code: "incomplete",
    });
    expect(await names()).toHaveLength(2);
    expect(await namesIn(storage, "/")).toEqual(["file"]);
    expect(await names()).toHaveLength(2);
    isRefused = false;
    expect(await namesIn(storage, "/")).toEqual(["file"]);
    expect(await names()).toEqual(["file"]);
  });
});
