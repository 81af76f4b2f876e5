import { beforeAll, describe, expect, it } from "vitest";
import { openArea } from "../../../src/storage/area.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createTestService } from "../../support/service.ts";
import { createTrashService, TRASH } from "./setup.ts";

const rest = { api: "rest" } as const;
const json = { ...rest, headers: { "content-type": "application/json" } };
const ID = /^\d{8}T\d{9}Z-[0-9a-f]{16}$/;

/** A command of a folder for each target. */
function toBody(command: string, ...targets: readonly string[]): string {
  return JSON.stringify({ commands: targets.map((target) => ({ command, target })) });
}

/** A service with 5,000 entries in its trash, of which its process does not know where they are. */
async function openFullTrash() {
  const memory = createMemoryStorage();
  const filled = createTrashStorage(memory);
  const names = Array.from({ length: 5000 }, (_, index) => `old ${index}`);
  await createTestService({
    storage: filled,
    files: Object.fromEntries(names.map((name) => [`/alice/reports/${name}`, "old"])),
  });
  await Promise.all(names.map((name) => filled.remove(`/alice/reports/${name}`)));
  let [lists, listed] = [0, 0];
  const inner = openArea({
    ...memory,
    async *list(path, options) {
      lists += 1;
      for await (const entry of memory.list(path, options)) {
        listed += 1;
        yield entry;
      }
    },
  });
  const open = async () => {
    const storage = createTrashStorage(inner);
    return createTestService({ storage, trash: storage.trash });
  };
  return { open, counts: () => ({ lists, listed }) };
}

describe("the ID of what went to the trash", () => {
  it("is nowhere if the entry is larger than the trash may be, and gone at once", async () => {
    const { call, events, entries } = await createTrashService({ "/alice/f/a": "a".repeat(11) }, {}, { maxBytes: 10 });
    const deleted = await call("DELETE", "/home/f/a", rest);
    expect([deleted.status, deleted.header("trash-id")]).toEqual([204, null]);
    const ofIt = events.filter(({ id }) => id === 40012 || id === 49112).map(({ id, data }) => [id, data]);
    expect(ofIt).toEqual([
      [49112, expect.objectContaining({ path: "/alice/f/a", reason: "space" })],
      [40012, { path: "/f/a", real_path: "/alice/f/a" }],
    ]);
    expect(await entries()).toEqual({});
  });

  it("is in the result of the command, and of no other command", async () => {
    const { call, run, stored, entries } = await createTrashService({
      "/alice/f/a": "a",
      "/alice/f/folder/b": "b",
      "/alice/f/.DS_Store": "",
      "/alice/f/c": "c",
    });
    const deleted = await call("POST", "/home/f/", { ...json, body: toBody("delete", "a", "folder", ".DS_Store") });
    const ids = await entries();
    expect([deleted.status, JSON.parse(deleted.text)]).toEqual([
      200,
      {
        results: [
          { target: "a", message: null, trash: ids["/f/a"] },
          { target: "folder", message: null, trash: ids["/f/folder"] },
          { target: ".DS_Store", message: null },
        ],
      },
    ]);
    const purged = await call("POST", "/home/f/", { ...json, body: toBody("purge", "c") });
    expect(JSON.parse(purged.text)).toEqual({ results: [{ target: "c", message: null }] });
    const commands = ["/f/a", "/f/folder"].map((from) => ({ command: "restore", target: ids[from], from }));
    expect((await run(commands)).status).toBe(200);
    expect([await stored("/alice/f/a"), await stored("/alice/f/folder/b")]).toEqual(["a", "b"]);
  });

  it("is in the errors too, for each target that was deleted", async () => {
    const { call, entries } = await createTrashService({ "/alice/a": "a" });
    const answer = await call("POST", "/home/", { ...json, body: toBody("delete", "missing", "a") });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      422,
      {
        errors: [
          { target: "missing", message: "Not found." },
          { target: "a", message: null, trash: (await entries())["/a"] },
        ],
      },
    ]);
  });

  it("is a header of the response to DELETE, unless the removal is for good", async () => {
    const { call, entries } = await createTrashService({ "/alice/a": "a", "/alice/folder/b": "b", "/alice/c": "c" });
    const file = await call("DELETE", "/home/a", rest);
    const folder = await call("DELETE", "/home/folder/", rest);
    const ids = await entries();
    expect([file.header("trash-id"), folder.header("trash-id")]).toEqual([ids["/a"], ids["/folder"]]);
    const purged = await call("DELETE", "/home/c", { ...rest, headers: { "x-permanent": "1" } });
    expect([purged.status, purged.header("trash-id")]).toEqual([204, null]);
  });

  it("is not there in a dry run, nor in a service without a trash", async () => {
    const { call } = await createTrashService({ "/alice/a": "a" });
    const headers = { ...json.headers, prefer: "dry-run" };
    const dry = await call("POST", "/home/", { ...rest, headers, body: toBody("delete", "a") });
    expect(JSON.parse(dry.text)).toEqual({ results: [{ target: "a", message: null }] });
    const plain = await createTestService({ files: { "/alice/a": "a", "/alice/b": "b" } });
    const answer = await plain.call("POST", "/home/", { ...json, body: toBody("delete", "a") });
    expect(JSON.parse(answer.text)).toEqual({ results: [{ target: "a", message: null }] });
    expect((await plain.call("DELETE", "/home/b", rest)).header("trash-id")).toBe(null);
  });
});

describe("a trash of 5,000 entries", { timeout: 60_000 }, () => {
  let full: Awaited<ReturnType<typeof openFullTrash>>;
  beforeAll(async () => {
    full = await openFullTrash();
  }, 60_000);

  it("is not read to restore what was just deleted, also in another process", async () => {
    const { open, counts } = full;
    const [first, second] = [await open(), await open()];
    await first.call("PUT", "/home/reports/new", { ...rest, body: "new" });
    const deleted = await first.call("POST", "/home/reports/", { ...json, body: toBody("delete", "new") });
    const target: string = JSON.parse(deleted.text).results[0].trash;
    expect(target).toMatch(ID);
    const before = counts();
    const commands = [{ command: "restore", target, from: "/reports/new" }];
    const restored = await second.call("POST", TRASH, { ...json, body: JSON.stringify({ commands }) });
    expect([restored.status, await second.stored("/alice/reports/new")]).toEqual([200, "new"]);
    const after = counts();
    expect(after.lists - before.lists).toBeLessThan(20);
    expect(after.listed - before.listed).toBeLessThan(50);
  });

  it("finds an entry also where the path is left out, or is another one", async () => {
    const { open } = full;
    const first = await open();
    for (const [index, from] of [undefined, "/elsewhere", "/../x", "/", "//"].entries()) {
      const path = `/home/reports/${index}`;
      await first.call("PUT", path, { ...rest, body: "new" });
      const target = (await first.call("DELETE", path, rest)).header("trash-id") ?? "";
      const second = await open();
      const commands = [{ command: "restore", target, ...(from !== undefined && { from }) }];
      const restored = await second.call("POST", TRASH, { ...json, body: JSON.stringify({ commands }) });
      expect([restored.status, await second.stored(`/alice/reports/${index}`)]).toEqual([200, "new"]);
    }
  });
});

describe("the path of an entry in a command", () => {
  it("shows nothing of another account", async () => {
    const { call, run, entries } = await createTrashService({ "/bob/b": "b" });
    await call("DELETE", "/home/b", { ...rest, as: "bob" });
    const target = (await entries("bob"))["/b"];
    const commands = ["/b", "/../bob/b", "/bob/b"].map((from) => ({ command: "purge", target, from }));
    const answer = await run(commands);
    const messages = JSON.parse(answer.text).errors.map(({ message }: { message: string | null }) => message);
    expect([answer.status, messages]).toEqual([422, ["Not found.", "Not found.", "Not found."]]);
    expect(Object.keys(await entries("bob"))).toEqual(["/b"]);
  });

  it("belongs to one target, and is a path", async () => {
    const { call, run, entries } = await createTrashService({ "/alice/a": "a" });
    await call("DELETE", "/home/a", rest);
    const target = (await entries())["/a"];
    for (const command of [
      { command: "restore", target: [target], from: "/a" },
      { command: "restore", target, from: "a" },
      { command: "restore", target, from: 1 },
    ]) {
      expect((await run([command])).status).toBe(400);
    }
    expect((await run([{ command: "purge", target, from: "/a" }])).status).toBe(200);
  });
});
