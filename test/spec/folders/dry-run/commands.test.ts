import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../../src/contracts/events/file-event.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { mountStorage } from "../../../../src/storage/mount.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../../src/stores/memory.ts";
import { createFaultyStorage } from "../../../../src/testing/faulty-storage.ts";
import { createTestService, type TestServiceOptions } from "../../../support/service.ts";

interface Command {
  readonly command: string;
  readonly target: string | readonly string[];
  readonly destination?: string;
  readonly overwrite?: boolean;
  readonly options?: object;
}

/** A service whose storage records everything that would change it. */
async function createWatched({ files = {}, ...options }: TestServiceOptions = {}) {
  const changes: string[] = [];
  const memory = createMemoryStorage();
  let isWatching = false;
  const storage = createFaultyStorage(memory, ({ verb }) => {
    const isChange = ["write", "createFolder", "remove", "copy", "move"].includes(verb);
    if (isWatching && isChange) changes.push(verb);
    return undefined;
  });
  const events: FileEvent[] = [];
  const test = await createTestService({ storage, files, onEvent: (event) => events.push(event), ...options });

  async function post(commands: readonly Command[], prefer?: string, path = "/home/") {
    const headers = { "content-type": "application/json", ...(prefer !== undefined && { prefer }) };
    const answer = await test.call("POST", path, { headers, body: JSON.stringify({ commands }), variant: "json" });
    const { results = [], errors = [] } = answer.json<Record<string, { target: string; message: string | null }[]>>();
    const outcomes = [...results, ...errors].map(({ target, message }) => `${target}: ${message ?? "done"}`);
    return { answer, outcomes };
  }

  /** Runs commands dry, then really: the outcomes are the same, and only the second run has changed anything. */
  async function compare(commands: readonly Command[], path?: string) {
    isWatching = true;
    const before = events.length;
    const dry = await post(commands, "dry-run", path);
    expect(dry.answer.header("preference-applied")).toBe("dry-run");
    expect(changes).toEqual([]);
    expect(events.slice(before).filter(({ id }) => id !== 40007)).toEqual([]);
    const real = await post(commands, undefined, path);
    expect(real.answer.header("preference-applied")).toBeNull();
    expect([dry.answer.status, dry.outcomes]).toEqual([real.answer.status, real.outcomes]);
    expect(dry.answer.header("error-code")).toBe(real.answer.header("error-code"));
    return dry.outcomes;
  }

  return { ...test, post, compare, changes, events };
}

const FILES = {
  "/alice/a.txt": "a",
  "/alice/b.txt": "b",
  "/alice/docs/one.txt": "1",
  "/alice/docs/deep/two.txt": "2",
  "/alice/empty/": "",
};

describe("Prefer: dry-run on commands (RFC 7240)", () => {
  it.each<[string, readonly Command[]]>([
    ["removes nothing", [{ command: "delete", target: "a.txt" }]],
    ["removes no folder", [{ command: "delete", target: "docs" }]],
    ["knows what is not there", [{ command: "delete", target: "none" }]],
    ["knows bad names", [{ command: "delete", target: ".." }]],
    ["knows reserved names", [{ command: "create-folder", target: "__svc__" }]],
    ["creates no folder", [{ command: "create-folder", target: "new" }]],
    ["knows a folder that is there", [{ command: "create-folder", target: "docs" }]],
    ["knows a file that is there", [{ command: "create-folder-if-missing", target: "a.txt" }]],
    ["creates none that is missing", [{ command: "create-folder-if-missing", target: "docs" }]],
    ["copies nothing", [{ command: "copy", target: "docs", destination: "copy" }]],
    ["knows a taken name", [{ command: "copy", target: "a.txt", destination: "b.txt" }]],
    ["replaces nothing", [{ command: "copy", target: "a.txt", destination: "b.txt", overwrite: true }]],
    ["moves nothing", [{ command: "move", target: "a.txt", destination: "docs/" }]],
    ["knows a missing parent", [{ command: "move", target: "a.txt", destination: "none/a.txt" }]],
    ["knows a parent that is a file", [{ command: "move", target: "a.txt", destination: "b.txt/a.txt" }]],
    ["knows a parent below a file", [{ command: "move", target: "a.txt", destination: "b.txt/c/a.txt" }]],
    ["knows a path in itself", [{ command: "copy", target: "docs", destination: "docs/deep/docs" }]],
    ["knows a bad destination", [{ command: "move", target: "a.txt", destination: "../a" }]],
  ])("%s", async (_, commands) => {
    const { compare } = await createWatched({ files: FILES });
    expect(await compare(commands)).toHaveLength(commands.length);
  });

  it("has the outcomes of commands that need one another", async () => {
    const { compare } = await createWatched({ files: FILES });
    expect(
      await compare([
        { command: "create-folder", target: "new" },
        { command: "create-folder", target: "new" },
        { command: "move", target: "docs", destination: "new/" },
        { command: "delete", target: "docs" },
        { command: "copy", target: "new", destination: "copy" },
        { command: "move", target: "a.txt", destination: "copy/a.txt" },
        { command: "move", target: "a.txt", destination: "copy/b.txt" },
        { command: "move", target: "b.txt", destination: "new/docs/deep/two.txt" },
        { command: "delete", target: "new" },
        { command: "create-folder-if-missing", target: "new" },
        { command: "move", target: "b.txt", destination: "new/docs/b.txt" },
        { command: "move", target: "b.txt", destination: "new/b.txt" },
      ]),
    ).toEqual([
      "new: done",
      "new: A file or folder with that name already exists.",
      "docs: done",
      "docs: Not found.",
      "new: done",
      "a.txt: done",
      "a.txt: Not found.",
      "b.txt: A file or folder with that name already exists.",
      "new: done",
      "new: done",
      "b.txt: The parent folder does not exist.",
      "b.txt: done",
    ]);
  });

  it("walks a folder for permissions, also one that was only moved dry", async () => {
    const { compare, changes } = await createWatched({
      files: FILES,
      groups: {
        DEFAULT_GROUP: { permissions: [["allow-full-control"], ["*two.txt", "allow-read", "allow-rename"]] },
      },
    });
    const denied = "The account's permissions do not allow this.";
    expect(await compare([{ command: "delete", target: "docs" }])).toEqual([`docs: ${denied}`]);
    expect(
      await compare([
        { command: "move", target: "docs", destination: "moved" },
        { command: "delete", target: "moved" },
      ]),
    ).toEqual(["docs: done", `moved: ${denied}`]);
    expect(changes).not.toEqual([]);
  });

  it("protects virtual folders and what is around them", async () => {
    const { compare } = await createWatched({
      files: { ...FILES, "/shared/s.txt": "s" },
      groups: { DEFAULT_GROUP: { virtual_folders: [["/docs/shared", "/shared"]] } },
    });
    await compare([
      { command: "delete", target: "docs" },
      { command: "move", target: "docs", destination: "moved" },
      { command: "copy", target: "docs", destination: "copied" },
      { command: "delete", target: "a.txt" },
    ]);
  });

  it("knows what quotas leave for copies", async () => {
    const counted = createQuotaStorage(createMemoryStorage());
    const { compare, post } = await createWatched({
      storage: counted,
      quota: counted.quota,
      files: { "/alice/a.txt": "12345", "/alice/docs/b.txt": "1234567", "/alice/docs/deep/c.txt": "1" },
      groups: { DEFAULT_GROUP: { quota_bytes: 20, quota_files: 10 } },
    });
    const full = "The quota is used up.";
    const commands = [
      { command: "copy", target: "docs", destination: "copy" },
      { command: "copy", target: "a.txt", destination: "docs/b.txt", overwrite: true },
      { command: "copy", target: "a.txt", destination: "again.txt" },
      { command: "copy", target: "a.txt", destination: "more.txt" },
    ];
    expect((await post(commands, "dry-run")).outcomes).toEqual([
      `docs: ${full}`,
      "a.txt: done",
      "a.txt: done",
      `a.txt: ${full}`,
    ]);
    expect(await compare([{ command: "copy", target: "docs", destination: "copy" }])).toEqual([`docs: ${full}`]);
  });

  it("knows what each limit leaves for moves and copies", async () => {
    const folders = [
      { path: "/team", bytes: 10 },
      { path: "/alice/docs", bytes: 8, files: 2 },
    ];
    const counted = createQuotaStorage(createMemoryStorage(), { folders });
    const { compare } = await createWatched({
      storage: counted,
      quota: counted.quota,
      files: { "/alice/a": "123456", "/alice/b": "123456", "/alice/docs/c": "1", "/team/d": "1" },
      groups: { DEFAULT_GROUP: { quota_bytes: 22, virtual_folders: [["/team", "/team"]] } },
    });
    const full = "The quota is used up.";
    const outcomes = await compare([
      { command: "move", target: "a", destination: "/team/a" },
      { command: "move", target: "b", destination: "/team/b" },
      { command: "copy", target: "b", destination: "/docs/b" },
      { command: "copy", target: "b", destination: "/docs/again" },
      { command: "move", target: "b", destination: "/renamed" },
    ]);
    expect(outcomes).toEqual(["a: done", `b: ${full}`, "b: done", `b: ${full}`, "b: done"]);
  });

  it("knows the limit of the folder that it makes, and the room that moves out of a limit leave", async () => {
    const folders = [{ path: "/alice/small", bytes: 5 }];
    const counted = createQuotaStorage(createMemoryStorage(), { folders });
    const { compare } = await createWatched({
      storage: counted,
      quota: counted.quota,
      files: { "/alice/a/x": "123456", "/alice/b": "123456", "/team/d": "1" },
      groups: { DEFAULT_GROUP: { quota_bytes: 12, virtual_folders: [["/team", "/team"]] } },
    });
    const full = "The quota is used up.";
    const outcomes = await compare([
      { command: "copy", target: "a", destination: "/small" },
      { command: "copy", target: "b", destination: "/again" },
      { command: "move", target: "a", destination: "/team/a" },
      { command: "copy", target: "b", destination: "/again" },
    ]);
    expect(outcomes).toEqual([`a: ${full}`, `b: ${full}`, "a: done", "b: done"]);
  });

  it.each([
    ["delete", false],
    ["delete", true],
    ["purge", true],
  ])("knows the room that removals leave: %s, with a trash: %s", async (command, hasTrash) => {
    const counted = createQuotaStorage(createMemoryStorage());
    const trashed = createTrashStorage(counted);
    const { compare } = await createWatched({
      ...(hasTrash ? { storage: trashed, trash: trashed.trash } : { storage: counted }),
      quota: counted.quota,
      files: { "/alice/a.txt": "12345", "/alice/docs/b.txt": "123456" },
      groups: { DEFAULT_GROUP: { quota_bytes: 12, quota_files: 2 } },
    });
    const outcomes = await compare([
      { command, target: "docs" },
      { command: "copy", target: "a.txt", destination: "again.txt" },
      { command: "copy", target: "a.txt", destination: "more.txt" },
    ]);
    expect(outcomes).toEqual(["docs: done", "a.txt: done", "a.txt: The quota is used up."]);
  });

  it("knows the room that the trash gives up for a copy, and that it gives none up with makeRoom: false", async () => {
    for (const makeRoom of [true, false]) {
      const counted = createQuotaStorage(createMemoryStorage());
      const trashed = createTrashStorage(counted, { makeRoom });
      const { compare, post } = await createWatched({
        storage: trashed,
        trash: trashed.trash,
        quota: counted.quota,
        files: { "/alice/a.txt": "12345", "/alice/b.txt": "12345", "/alice/c.txt": "12" },
        groups: { DEFAULT_GROUP: { quota_bytes: 12 } },
      });
      await post([{ command: "delete", target: "b.txt" }]);
      const outcomes = await compare([
        { command: "copy", target: "a.txt", destination: "again.txt" },
        { command: "delete", target: "c.txt" },
        { command: "copy", target: "a.txt", destination: "more.txt" },
      ]);
      const full = "a.txt: The quota is used up.";
      expect(outcomes).toEqual(makeRoom ? ["a.txt: done", "c.txt: done", full] : [full, "c.txt: done", full]);
    }
  });

  it("knows that an overwritten file becomes a version, which needs room", async () => {
    const counted = createQuotaStorage(createMemoryStorage());
    const versioned = createVersionsStorage(counted);
    const { compare } = await createWatched({
      storage: versioned,
      versions: versioned.versions,
      quota: counted.quota,
      files: { "/alice/a.txt": "12345", "/alice/b.txt": "123" },
      groups: { DEFAULT_GROUP: { quota_bytes: 12 } },
    });
    const outcomes = await compare([
      { command: "copy", target: "b.txt", destination: "a.txt", overwrite: true },
      { command: "move", target: "a.txt", destination: "b.txt", overwrite: true },
    ]);
    expect(outcomes).toEqual(["b.txt: The quota is used up.", "a.txt: done"]);
  });

  it("keeps what was done in a folder that is copied or moved", async () => {
    const { compare } = await createWatched({ files: FILES });
    const outcomes = await compare([
      { command: "move", target: "a.txt", destination: "docs/deep/a.txt" },
      { command: "copy", target: "docs", destination: "copied" },
      { command: "move", target: "docs", destination: "moved" },
      { command: "copy", target: "b.txt", destination: "copied/deep/a.txt" },
      { command: "copy", target: "b.txt", destination: "moved/deep/a.txt" },
    ]);
    const taken = "b.txt: A file or folder with that name already exists.";
    expect(outcomes).toEqual(["a.txt: done", "docs: done", "docs: done", taken, taken]);
  });

  it("reads no content for copies from one storage into another, and knows the quotas of both", async () => {
    let reads = 0;
    const main = createFaultyStorage(createMemoryStorage(), ({ verb }) => {
      if (verb === "read") reads += 1;
      return undefined;
    });
    const other = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/", bytes: 100_000 }] });
    const { post, compare } = await createWatched({
      storage: mountStorage({ "/": main, "/other": other }),
      files: { "/alice/a.txt": "a".repeat(90_000) },
      groups: { DEFAULT_GROUP: { virtual_folders: [["/other", "/other"]] } },
    });
    const commands = ["one", "two"].map((name) => ({
      command: "copy",
      target: "a.txt",
      destination: `/other/${name}`,
    }));
    const expected = ["a.txt: done", "a.txt: The quota is used up."];
    expect([(await post(commands, "dry-run")).outcomes, reads]).toEqual([expected, 0]);
    expect(await compare(commands)).toEqual(expected);
  });

  it("obeys locks, and ends none", async () => {
    const lockStore = createMemoryKeyValueStore();
    const { compare, post, call } = await createWatched({ files: FILES, webdav: { lockStore } });
    const body =
      '<?xml version="1.0"?><lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
    const lock = (as: "alice" | "root", path: string) =>
      call("LOCK", path, { as, body, headers: { "content-type": "application/xml" } });
    expect((await lock("root", "/home/alice/a.txt")).status).toBe(200);
    const locked = "Somebody is working on this.";
    expect(await compare([{ command: "delete", target: "a.txt" }])).toEqual([`a.txt: ${locked}`]);
    const own = await lock("alice", "/home/docs/");
    expect(own.status).toBe(200);
    const dry = await post([{ command: "delete", target: "docs" }], "dry-run");
    expect(dry.outcomes).toEqual([`docs: ${locked}`]);
    expect((await lock("root", "/home/alice/docs/")).status).toBe(423);
  });

  it("runs no trigger, but checks its members", async () => {
    let runs = 0;
    const run = (): void => {
      runs += 1;
    };
    const { post } = await createWatched({ files: FILES, triggers: { publish: { label: "Publish", run } } });
    const { outcomes } = await post([{ command: "publish", target: ["a.txt", "none", "docs"] }], "dry-run");
    expect([outcomes, runs]).toEqual([["a.txt: done", "none: Not found.", "docs: done"], 0]);
  });

  it("makes no link, but checks it", async () => {
    const store = createMemoryKeyValueStore();
    const links = { secret: "a secret of at least 32 characters", store, maxSeconds: 100 };
    const { post, call } = await createWatched({ files: FILES, links });
    const commands = [
      { command: "create-link", target: ["a.txt", "none"] },
      { command: "create-link", target: "a.txt", options: { expires_in: 1000 } },
    ];
    const { answer, outcomes } = await post(commands, "dry-run");
    expect(outcomes).toEqual(["a.txt: done", "none: Not found.", "a.txt: A link may last 100 seconds at most."]);
    expect(answer.text).not.toContain('link"');
    const kept = await call("GET", "/home/__svc__/links", { variant: "json" });
    expect(kept.json<{ content: unknown[] }>().content).toEqual([]);
  });

  it("counts the links of earlier commands against the limit of the account, as the real run does", async () => {
    const store = createMemoryKeyValueStore();
    const links = { secret: "a secret of at least 32 characters", store, maxPerAccount: 3 };
    const { post } = await createWatched({ files: FILES, links });
    await post([{ command: "create-link", target: "a.txt" }]);
    const commands = [
      { command: "create-link", target: ["none", "a.txt"] },
      { command: "create-link", target: ["a.txt", "a.txt"] },
    ];
    const tooMany = "a.txt: The account has 3 links already.";
    const expected = ["none: Not found.", "a.txt: done", "a.txt: done", tooMany];
    expect((await post(commands, "dry-run")).outcomes).toEqual(expected);
    expect((await post(commands)).outcomes).toEqual(expected);
  });

  it.each(["handling=lenient, dry-run", "Dry-Run", 'dry-run;a="b"', "dry-run, order=name"])(
    "may be among other preferences: %s",
    async (prefer) => {
      const { post, stored } = await createWatched({ files: FILES });
      const { answer } = await post([{ command: "delete", target: "a.txt" }], prefer);
      expect([answer.header("preference-applied"), await stored("/alice/a.txt")]).toEqual(["dry-run", "a"]);
      expect(answer.header("vary")).toContain("Prefer");
    },
  );

  it.each(["dry-run=no", "no-dry-run", "order=dry-run"])("is not %s", async (prefer) => {
    const { post, stored } = await createWatched({ files: FILES });
    const { answer } = await post([{ command: "delete", target: "a.txt" }], prefer);
    expect(answer.header("preference-applied")).toBe(null);
    expect(await stored("/alice/a.txt")).toBeUndefined();
  });

  it("refuses what is malformed, and folders that are not there, as ever", async () => {
    const { call } = await createWatched({ files: FILES });
    const headers = { "content-type": "application/json", prefer: "dry-run" };
    const send = async (path: string, body: string) =>
      (await call("POST", path, { headers, body, variant: "json" })).status;
    expect(await send("/home/", "{}")).toBe(400);
    expect(await send("/home/none/", '{"commands":[{"command":"delete","target":"a"}]}')).toBe(404);
  });
});
