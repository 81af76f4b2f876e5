import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { mountTrash } from "../../../src/storage/mount-trash.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { createTestService } from "../../support/service.ts";
import { createTrashService, TRASH } from "./setup.ts";

const rest = { api: "rest" } as const;
const ID = /^\d{8}T\d{9}Z-[0-9a-f]{16}$/;

describe("the trash of an account", () => {
  it("has what was removed by any API, the newest first", async () => {
    const { call, events } = await createTrashService({
      "/alice/a.txt": "12345",
      "/alice/folder/b": "b",
      "/bob/c": "c",
    });
    expect((await call("DELETE", "/home/a.txt", rest)).status).toBe(204);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await call("DELETE", "/home/folder/", { api: "webdav" })).status).toBe(204);
    await call("DELETE", "/home/c", { ...rest, as: "bob" });
    const answer = await call("GET", TRASH, rest);
    expect([answer.status, answer.header("content-type"), answer.header("cache-control")]).toEqual([
      200,
      "application/json; charset=utf-8",
      "no-store",
    ]);
    const id = expect.stringMatching(ID);
    const removed = expect.any(Number);
    expect(JSON.parse(answer.text)).toEqual({
      content: [
        { id, path: "/folder", name: "folder", is_directory: true, size: 0, removed },
        { id, path: "/a.txt", name: "a.txt", is_directory: false, size: 5, removed },
      ],
    });
    const told = events.filter((event) => event.id === 40012 || event.id === 40026);
    expect(told.map(({ data }) => data)).toEqual([
      { path: "/a.txt", real_path: "/alice/a.txt", trash: id },
      { path: "/folder", real_path: "/alice/folder", trash: id },
      { path: "/c", real_path: "/bob/c", trash: id },
    ]);
    expect((await call("HEAD", TRASH, rest)).status).toBe(200);
  });

  it("neither looks empty nor is emptied if one of the storages of a tree fails", async () => {
    let isBroken = false;
    const faulty = createFaultyStorage(createMemoryStorage(), ({ step }) =>
      isBroken && step === "call" ? { fault: "error" } : undefined,
    );
    const [files, archive] = [createTrashStorage(createMemoryStorage()), createTrashStorage(faulty)];
    const { call } = await createTestService({
      storage: mountStorage({ "/": files, "/archive": archive }),
      trash: mountTrash({ "/": files.trash, "/archive": archive.trash }),
      files: { "/alice/a": "a", "/archive/b": "b" },
      groups: { DEFAULT_GROUP: { virtual_folders: [["/shared", "/archive"]] } },
    });
    const shown = async () => JSON.parse((await call("GET", TRASH, rest)).text).content as { path: string }[];
    for (const path of ["a", "shared/b"]) expect((await call("DELETE", `/home/${path}`, rest)).status).toBe(204);
    isBroken = true;
    for (const method of ["GET", "DELETE"]) expect((await call(method, TRASH, rest)).status).toBe(503);
    isBroken = false;
    expect((await shown()).map(({ path }) => path).sort()).toEqual(["/a", "/shared/b"]);
  });

  it("is restored by commands, to its place or another one", async () => {
    const { call, run, entries, stored, events } = await createTrashService({
      "/alice/a": "a",
      "/alice/folder/b": "b",
    });
    for (const path of ["a", "folder/"]) await call("DELETE", `/home/${path}`, rest);
    const ids = await entries();
    const answer = await run([
      { command: "restore", target: ids["/a"], to: "/new/place/c" },
      { command: "restore", target: [ids["/folder"]] },
    ]);
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      { results: [ids["/a"], ids["/folder"]].map((target) => ({ target, message: null })) },
    ]);
    expect([await stored("/alice/new/place/c"), await stored("/alice/folder/b")]).toEqual(["a", "b"]);
    expect(await entries()).toEqual({});
    expect(events.filter(({ id }) => id === 49111).map(({ data }) => data)).toEqual([
      { path: "/new/place/c", real_path: "/alice/new/place/c", trash: ids["/a"] },
      { path: "/folder", real_path: "/alice/folder", trash: ids["/folder"] },
    ]);
  });

  it("fails for each target alone, where the place is taken or there is no such entry", async () => {
    const { call, run, entries, stored } = await createTrashService({ "/alice/a": "old", "/alice/b": "b" });
    for (const path of ["a", "b"]) await call("DELETE", `/home/${path}`, rest);
    await call("PUT", "/home/a", { ...rest, body: "new" });
    const ids = await entries();
    const unknown = ["20260101T000000000Z-0123456789abcdef", "..", "a", "../../bob", ""];
    const answer = await run([{ command: "restore", target: [ids["/a"], ids["/b"], ids["/b"], ...unknown] }]);
    expect(answer.status).toBe(422);
    const messages = JSON.parse(answer.text).errors.map(({ message }: { message: string | null }) => message);
    expect(messages).toEqual([
      "Something of that name already exists.",
      null,
      "Something of that name already exists.",
      ...Array.from({ length: 5 }, () => "Not found."),
    ]);
    expect([await stored("/alice/a"), await stored("/alice/b")]).toEqual(["new", "b"]);
    for (const to of ["/x/../../bob/y", "/x//y", "/.."]) {
      const refused = await run([{ command: "restore", target: ids["/a"], to }]);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("invalid name")]);
    }
    for (const to of ["/", "/__svc__/x", "/__svc__"]) {
      expect((await run([{ command: "restore", target: ids["/a"], to }])).status).toBe(422);
    }
    expect((await run([{ command: "restore", target: ids["/a"], to: "/a/below" }])).text).toContain("A file exists");
  });

  it("is removed for good by commands and by DELETE", async () => {
    const { call, run, entries, events } = await createTrashService({
      "/alice/a": "a",
      "/alice/b": "b",
      "/alice/c/d": "d",
    });
    for (const path of ["a", "b", "c/"]) await call("DELETE", `/home/${path}`, rest);
    const ids = await entries();
    expect((await run([{ command: "purge", target: ids["/a"] }])).status).toBe(200);
    expect((await run([{ command: "purge", target: ids["/a"] }])).status).toBe(422);
    expect(Object.keys(await entries())).toHaveLength(2);
    expect((await call("DELETE", TRASH, rest)).status).toBe(204);
    expect(await entries()).toEqual({});
    const purged = events.filter((event) => event.id === 49112);
    expect(purged.map(({ data }) => [data.path, data.reason])).toEqual([
      ["/a", "account"],
      expect.arrayContaining(["account"]),
      expect.arrayContaining(["account"]),
    ]);
  });

  it("refuses what is no command of the trash", async () => {
    const { call, run } = await createTrashService({});
    for (const commands of [[], [{ command: "delete", target: "a" }], [{ command: "restore" }]]) {
      expect((await run(commands)).status).toBe(400);
    }
    expect((await run([{ command: "purge", target: "a", to: "/b" }])).status).toBe(400);
    expect((await run([{ command: "restore", target: ["a"], to: "/b" }])).status).toBe(400);
    expect((await run([{ command: "restore", target: Array.from({ length: 1001 }, () => "a") }])).status).toBe(400);
    const plain = { ...rest, headers: { "content-type": "text/plain" }, body: "x", undescribed: "no JSON" } as const;
    expect((await call("POST", TRASH, plain)).status).toBe(415);
    expect((await call("PUT", TRASH, { ...rest, body: "x", undescribed: "no method" })).status).toBe(405);
  });

  it("is only checked with Prefer: dry-run", async () => {
    const { call, run, entries, stored } = await createTrashService({ "/alice/a": "a", "/alice/b": "b" });
    for (const path of ["a", "b"]) await call("DELETE", `/home/${path}`, rest);
    await call("PUT", "/home/b", { ...rest, body: "new" });
    const ids = await entries();
    const commands = [
      { command: "purge", target: [ids["/a"], ids["/a"]] },
      { command: "restore", target: ids["/b"] },
      { command: "restore", target: ids["/b"], to: "/c" },
    ];
    const answer = await run(commands, { headers: { prefer: "dry-run" } });
    expect([answer.status, answer.header("preference-applied")]).toEqual([422, "dry-run"]);
    const messages = JSON.parse(answer.text).errors.map(({ message }: { message: string | null }) => message);
    expect(messages).toEqual([null, "Not found.", "Something of that name already exists.", null]);
    expect(await entries()).toEqual(ids);
    expect(await stored("/alice/c")).toBeUndefined();
  });

  it("is passed over with X-Permanent, and by the action and the command for good", async () => {
    const { call, entries, events } = await createTrashService({ "/alice/a": "a", "/alice/f/x": "x", "/alice/b": "b" });
    const permanent = { ...rest, headers: { "X-Permanent": "1" } };
    expect((await call("DELETE", "/home/a", permanent)).status).toBe(204);
    expect((await call("DELETE", "/home/f/", permanent)).status).toBe(204);
    const commands = { commands: [{ command: "purge", target: "b" }] };
    const headers = { "content-type": "application/json" };
    expect((await call("POST", "/home/", { ...rest, headers, body: JSON.stringify(commands) })).status).toBe(200);
    expect(await entries()).toEqual({});
    const removed = events.filter((event) => event.id === 40012 || event.id === 40026);
    expect(removed.map(({ data }) => "trash" in data)).toEqual([false, false, false]);
  });

  it("does not exist without the option", async () => {
    const { call } = await createTestService();
    expect((await call("GET", TRASH, { ...rest, undescribed: "no trash" })).status).toBe(404);
  });

  it("is swept with the service, which reports it", async () => {
    let now = Date.now();
    const { call, service, events, entries } = await createTrashService({ "/alice/a": "a" }, {}, { clock: () => now });
    await call("DELETE", "/home/a", rest);
    now += 31 * 86_400_000;
    expect(await entries()).toEqual({});
    expect(await service.sweep()).toBe(1);
    expect(events.filter((event) => event.id === 49112)).toMatchObject([
      { data: { path: "/alice/a", real_path: "/alice/a", reason: "age" } },
    ]);
    expect(await service.sweep()).toBe(0);
  });
});
