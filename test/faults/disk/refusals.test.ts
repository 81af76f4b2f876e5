import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toStorageError } from "../../../src/storage/disk/errors.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { inChunks, namesIn, noise, put, readFileText } from "../../../src/testing/storage/content.ts";
import { mountSmallDisk, unmount } from "../../support/small-disk.ts";
import { entriesOf } from "../../unit/storage/trash/setup.ts";
import { outputOf, prepareDiskProcesses, startDiskProcess } from "./process.ts";

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;

describe("a disk that is full", () => {
  const mounted = mountSmallDisk();
  const withFewInodes = mountSmallDisk({ inodes: 24 });

  afterAll(async () => {
    for (const disk of [mounted, withFewInodes]) await unmount(disk);
  });

  const title = "answers no-space, keeps the former file and no other (skipped where no small disk can be mounted)";
  it.skipIf(mounted === undefined)(title, async () => {
    const storage = createDiskStorage({ root: mounted ?? "" });
    await put(storage, "/file", "former");
    const large = () => inChunks(noise(3_000_000, 1), 65_536);
    await expect(storage.write("/file", large())).rejects.toMatchObject({ code: "no-space" });
    await expect(storage.write("/new", large(), { size: 3_000_000 })).rejects.toMatchObject({ code: "no-space" });
    expect(await readFileText(storage, "/file")).toBe("former");
    expect(await readdir(mounted ?? "")).toEqual(["file"]);
    await put(storage, "/file", "and works again");
    expect(await readFileText(storage, "/file")).toBe("and works again");
  });

  it.skipIf(mounted === undefined)("has room for a copy by what goes from the trash, but no content", async () => {
    const storage = createTrashStorage(createDiskStorage({ root: mounted ?? "" }));
    const quota = { path: "/home" };
    const fill = (path: string, size: number) => storage.write(path, inChunks(noise(size, 1), 65_536), { size, quota });
    await storage.createFolder("/home");
    await fill("/home/kept", 300_000);
    // The oldest entry alone is not enough.
    for (const [path, size] of [
      ["/home/older", 10],
      ["/home/old", 600_000],
    ] as const) {
      await fill(path, size);
      await storage.remove(path);
    }
    await storage.copy("/home/kept", "/home/copy", { quota });
    expect((await storage.stat("/home/copy"))?.size).toBe(300_000);
    expect(await entriesOf(storage)).toEqual([]);
    await storage.remove("/home/copy");
    await expect(fill("/home/new", 600_000)).rejects.toMatchObject({ code: "no-space" });
    expect(await entriesOf(storage)).toHaveLength(1);
  });

  it.skipIf(withFewInodes === undefined)("has a place for a file by what goes from the trash", async () => {
    const root = withFewInodes ?? "";
    const storage = createTrashStorage(createDiskStorage({ root }));
    await storage.createFolder("/home");
    await put(storage, "/home/old", "the former content");
    await storage.remove("/home/old");
    const fillUp = async (): Promise<void> => {
      for (let number = 0; ; number += 1) await writeFile(join(root, `${number}`), "");
    };
    await expect(fillUp()).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(put(storage, "/home/new", "new")).rejects.toMatchObject({ code: "no-space" });
    await put(storage, "/home/new", "new", { size: 3, quota: { path: "/home" } });
    expect(await readFileText(storage, "/home/new")).toBe("new");
    expect(await entriesOf(storage)).toEqual([]);
  });
});

describe("what the system calls by a number", () => {
  it.each([
    ["EDQUOT", "no-space"],
    ["ESTALE", "unavailable"],
    ["EIO", "unavailable"],
    ["EROFS", "denied"],
    ["EOPNOTSUPP", "denied"],
    ["ENOSYS", "denied"],
    ["EMLINK", "no-space"],
    ...(
      [
        "EAGAIN",
        "EINTR",
        "ENOLCK",
        "ETXTBSY",
        "EXDEV",
        "ECONNRESET",
        "ENOTCONN",
        "EHOSTUNREACH",
        "ENETDOWN",
        "EBADMSG",
        "EPROTO",
      ] as const
    ).map((name) => [name, "unavailable"] as const),
    ["ENAMETOOLONG", "bad-name"],
    ["ELOOP", "not-found"],
  ] as const)("%s is %s, with the system's error as its cause", (name, code) => {
    const errno = -constants.errno[name];
    const error = Object.assign(new Error("failed"), { errno, code: `Unknown system error ${errno}` });
    expect(toStorageError(error)).toMatchObject({ code, cause: error });
  });

  it.each([
    ["EUCLEAN", 117, "unavailable"],
    ["EREMOTEIO", 121, "unavailable"],
    ["EHOSTDOWN", 112, "unavailable"],
    ["ENOMEDIUM", 123, "unavailable"],
    ["ENOKEY", 126, "denied"],
    ["EKEYEXPIRED", 127, "denied"],
  ] as const)("%s, of which Node knows no name on Linux, is found by its number %i", (_name, number, code) => {
    const error = Object.assign(new Error("failed"), { errno: -number, code: `Unknown system error -${number}` });
    expect(toStorageError(error)).toMatchObject({ code: process.platform === "linux" ? code : `${error.code}` });
  });

  it("is left alone where it means nothing to a client, and so is what the system did not throw", () => {
    const errors = [
      Object.assign(new Error("failed"), { errno: -constants.errno.EPIPE, code: "EPIPE" }),
      Object.assign(new Error("not found"), { code: "ENOENT" }),
      new TypeError("a defect"),
    ];
    for (const error of errors) expect(toStorageError(error)).toBe(error);
  });
});

describe("a file larger than the process may write", () => {
  it("answers too-large and keeps the former file", async () => {
    const folder = await prepareDiskProcesses();
    const root = await mkdtemp(join(tmpdir(), "fileferry-refusals-"));
    await writeFile(join(root, "file"), "former");
    const text = `
      process.on("SIGXFSZ", () => {});
      const storage = createDiskStorage({ root });
      const content = async function* () { for (let i = 0; i < 64; i += 1) yield new Uint8Array(65_536) };
      console.log(await storage.write("/file", content()).catch((error) => error.code));
    `;
    expect(await outputOf(startDiskProcess(folder, root, text, { fileBlocks: 1024 }))).toBe("too-large\n");
    expect(await readdir(root)).toEqual(["file"]);
    expect(await readFile(join(root, "file"), "utf8")).toBe("former");
    for (const path of [root, folder]) await rm(path, { recursive: true });
  });
});

describe("permissions of the system (skipped unless root, which alone can become another user)", () => {
  let program: string;
  let root: string;

  beforeAll(async () => {
    program = await prepareDiskProcesses();
    root = await mkdtemp(join(tmpdir(), "fileferry-denied-"));
    await mkdir(join(root, "closed"), { mode: 0o700 });
    await mkdir(join(root, "readable"), { mode: 0o755 });
    for (const path of ["closed/file", "readable/file", "secret"]) await writeFile(join(root, path), "kept");
    await chmod(join(root, "secret"), 0o600);
    await chmod(root, 0o755);
  });

  afterAll(async () => {
    for (const path of [program, root]) await rm(path, { recursive: true });
  });

  it.skipIf(!isRoot)("answer denied, and nothing changes", async () => {
    const text = `
      const storage = createDiskStorage({ root });
      const code = (promise) => promise.then(() => "done", (error) => error.code);
      const content = async function* () { yield new Uint8Array(3) };
      console.log(JSON.stringify(await Promise.all([
        code(storage.read("/readable/file")),
        code(storage.read("/secret")),
        code(storage.stat("/closed/file")),
        code(storage.list("/closed").next()),
        code(storage.write("/closed/file", content())),
        code(storage.write("/readable/file", content())),
        code(storage.write("/new", content())),
        code(storage.createFolder("/readable/new")),
        code(storage.remove("/readable/file")),
        code(storage.remove("/readable")),
      ])));
    `;
    const output = await outputOf(startDiskProcess(program, root, text, { uid: NOBODY, gid: NOBODY }));
    const [read, ...others] = JSON.parse(output);
    expect(read).toBe("done");
    expect(others).toEqual(Array(9).fill("denied"));
    const storage = createDiskStorage({ root });
    expect(await namesIn(storage, "/")).toEqual(["closed", "readable", "secret"]);
    expect(await namesIn(storage, "/readable")).toEqual(["file"]);
  });

  it.skipIf(!isRoot)(
    "refuse a folder for an owner that cannot be set, whoever puts something into it meanwhile",
    async () => {
      const mine = join(root, "mine");
      await mkdir(mine);
      await chown(mine, NOBODY, NOBODY);
      const text = `
      const storage = createDiskStorage({ root, durability: "rename" });
      const code = (promise) => promise.then(() => "done", (error) => error.code);
      const content = async function* () { yield new Uint8Array(3) };
      const outcomes = [];
      for (let round = 0; round < 50; round += 1) {
        const home = "/mine/home" + round;
        const owned = [1, 2, 3].map(() => code(storage.createFolder(home, { owner: { user: "12345" } })));
        const written = [1, 2, 3].map((name) => code(storage.write(home + "/" + name, content())));
        outcomes.push(...(await Promise.all([...owned, ...written])));
      }
      console.log(JSON.stringify([...new Set(outcomes)]));
    `;
      const output = await outputOf(startDiskProcess(program, root, text, { uid: NOBODY, gid: NOBODY }));
      expect(JSON.parse(output).sort()).toEqual(["denied", "parent-missing"]);
      expect(await readdir(mine)).toEqual([]);
      await rm(mine, { recursive: true });
    },
  );

  it.skipIf(!isRoot)("give no rights to another group than a file had, where its group cannot be kept", async () => {
    const shared = join(root, "shared");
    await mkdir(shared);
    await writeFile(join(shared, "file"), "former");
    await chmod(join(shared, "file"), 0o640);
    await chown(join(shared, "file"), 0, 4242);
    await chown(shared, NOBODY, NOBODY);
    const text = `
      const content = async function* () { yield new Uint8Array(3) };
      await createDiskStorage({ root }).write("/shared/file", content());
    `;
    await outputOf(startDiskProcess(program, root, text, { uid: NOBODY, gid: NOBODY }));
    const { uid, gid, mode, size } = await stat(join(shared, "file"));
    expect({ uid, gid, mode: mode & 0o777, size }).toEqual({ uid: NOBODY, gid: NOBODY, mode: 0o600, size: 3 });
    await rm(shared, { recursive: true });
  });
});
