import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { mountTrash } from "../../../src/storage/mount-trash.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { createTestService } from "../../support/service.ts";
import { fillStorage } from "../../support/storage.ts";
import { createTrashService, TRASH } from "./setup.ts";

const rest = { api: "rest" } as const;
/** An account that may do everything, but a few things below some folders. */
const rules = (...own: readonly (readonly string[])[]) => ({ permissions: [["allow-full-control"], ...own] });

describe("what an account may do with the trash", () => {
  it("is about its own files: others are as unknown", async () => {
    const { call, run, entries, stored } = await createTrashService({ "/alice/a": "a", "/bob/b": "b" });
    await call("DELETE", "/home/b", { ...rest, as: "bob" });
    const [id] = Object.values(await entries("bob"));
    expect(await entries()).toEqual({});
    for (const command of ["restore", "purge"]) {
      const answer = await run([{ command, target: id }]);
      expect([answer.status, JSON.parse(answer.text).errors[0].message]).toEqual([422, "Not found."]);
    }
    expect((await run([{ command: "restore", target: id, to: "/mine" }])).status).toBe(422);
    expect((await call("DELETE", TRASH, rest)).status).toBe(204);
    expect(Object.keys(await entries("bob"))).toEqual(["/b"]);
    expect(Object.keys(await entries("root"))).toEqual(["/bob/b"]);
    expect(await stored("/alice/mine")).toBeUndefined();
  });

  it("is seen where it may list the folder now", async () => {
    const group = rules([
      "/hidden | /hidden/*",
      "allow-read",
      "allow-write",
      "allow-delete-file",
      "allow-delete-folder",
    ]);
    const { call, entries, run } = await createTrashService({ "/alice/hidden/a": "a", "/alice/shown/b": "b" }, group);
    expect((await call("DELETE", "/home/hidden/a", rest)).status).toBe(204);
    expect((await call("DELETE", "/home/shown/b", rest)).status).toBe(204);
    expect(Object.keys(await entries())).toEqual(["/shown/b"]);
    const root = await entries("root");
    expect(Object.keys(root)).toHaveLength(2);
    expect((await run([{ command: "restore", target: root["/alice/hidden/a"] }])).text).toContain("Not found.");
  });

  it("needs write for a file, create-folder for a folder, and both for everything in it", async () => {
    const group = rules(
      ["/fixed | /fixed/*", "allow-read", "allow-list", "allow-delete-file", "allow-delete-folder"],
      ["*/secret", "allow-read", "allow-list", "allow-delete-file", "allow-delete-folder"],
    );
    const files = { "/alice/fixed/a": "a", "/alice/fixed/f/x": "x", "/alice/g/secret": "s", "/alice/h/x": "h" };
    const { call, entries, run, storage } = await createTrashService(files, group);
    for (const path of ["fixed/a", "fixed/f/", "g/", "h/"]) await call("DELETE", `/home/${path}`, rest);
    const ids = await entries();
    const denied = "permissions do not allow this";
    for (const path of ["/fixed/a", "/fixed/f", "/g"]) {
      expect((await run([{ command: "restore", target: ids[path] }])).text).toContain(denied);
      expect(await storage.stat(`/alice${path}`)).toBeUndefined();
    }
    expect((await run([{ command: "restore", target: ids["/h"], to: "/fixed/h" }])).text).toContain(denied);
    expect((await run([{ command: "restore", target: ids["/h"], to: "/fixed/new/h" }])).text).toContain(denied);
    expect((await run([{ command: "restore", target: ids["/fixed/a"], to: "/elsewhere" }])).status).toBe(200);
    expect((await run([{ command: "restore", target: ids["/h"] }])).status).toBe(200);
  });

  it("keeps in the trash what it may not remove for good", async () => {
    const { call, entries, run, storage } = await createTrashService(
      { "/alice/f/kept": "k", "/alice/a": "a" },
      rules(["*/kept", "allow-read", "allow-list", "allow-write"]),
    );
    await storage.remove("/alice/f");
    await storage.remove("/alice/a");
    const ids = await entries();
    expect((await run([{ command: "purge", target: ids["/f"] }])).text).toContain("permissions do not allow this");
    expect((await call("DELETE", TRASH, rest)).status).toBe(403);
    expect(Object.keys(await entries())).toEqual(["/f"]);
  });

  it("needs to read what it restores to another path", async () => {
    const files = { "/alice/private/a": "a", "/alice/private/f/x": "x", "/alice/private/g/": "" };
    const group = rules(["/private/*", "allow-list", "allow-write", "allow-create-folder", "allow-delete-file"]);
    const { call, entries, run, stored } = await createTrashService(files, group);
    for (const path of ["a", "f/"]) await call("DELETE", `/home/alice/private/${path}`, { ...rest, as: "root" });
    const ids = await entries();
    for (const path of ["/private/a", "/private/f"]) {
      const answer = await run([{ command: "restore", target: ids[path], to: "/open" }]);
      expect(answer.text).toContain("permissions do not allow this");
    }
    expect((await run([{ command: "restore", target: [ids["/private/a"], ids["/private/f"]] }])).status).toBe(200);
    expect(await stored("/alice/open")).toBeUndefined();
  });

  it("is the same in virtual folders", async () => {
    const group = {
      virtual_folders: [
        ["/team", "/shared/team"],
        ["/team/inner", "/shared/other"],
      ],
    };
    const { call, entries, run, stored } = await createTrashService(
      { "/shared/team/a": "a", "/shared/other/b": "b", "/shared/team/inner/hidden": "h", "/alice/c": "c" },
      group,
    );
    for (const path of ["team/a", "team/inner/b", "c"]) {
      expect((await call("DELETE", `/home/${path}`, rest)).status).toBe(204);
    }
    await call("DELETE", "/home/shared/team/inner/hidden", { ...rest, as: "root" });
    const ids = await entries();
    expect(Object.keys(ids).sort()).toEqual(["/c", "/team/a", "/team/inner/b"]);
    expect((await run([{ command: "restore", target: [ids["/team/a"], ids["/c"]] }])).status).toBe(200);
    expect((await run([{ command: "restore", target: ids["/team/inner/b"], to: "/mine" }])).status).toBe(200);
    expect([await stored("/shared/team/a"), await stored("/alice/mine")]).toEqual(["a", "b"]);
    expect((await run([{ command: "restore", target: ids["/c"], to: "/team" }])).status).toBe(422);
  });

  it("restores nothing to a folder that is only the way to another one, as nothing is stored there", async () => {
    const group = { virtual_folders: [["/team/docs", "/shared/docs"]] };
    const { call, entries, run, stored } = await createTrashService({ "/alice/a": "a", "/shared/docs/b": "b" }, group);
    await call("DELETE", "/home/a", rest);
    const { "/a": target } = await entries();
    expect((await call("PUT", "/home/team/a", { ...rest, body: "a" })).status).toBe(403);
    for (const to of ["/team/a", "/team/new/a"]) {
      const answer = await run([{ command: "restore", target, to }]);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("The storage denied access.")]);
    }
    expect(await stored("/alice/team/a")).toBe(undefined);
    expect((await run([{ command: "restore", target, to: "/team/docs/new/a" }])).status).toBe(200);
    expect(await stored("/shared/docs/new/a")).toBe("a");
  });

  it("is the same in the folders of several storages", async () => {
    const own = createTrashStorage(createMemoryStorage());
    await fillStorage(own, { "/alice/a": "a" });
    const test = await createTestService({
      storage: mountStorage({ "/": own, "/alice/way/archive": createMemoryStorage() }),
      trash: mountTrash({ "/": own.trash, "/alice/way/archive": undefined }),
    });
    const target = (await test.call("DELETE", "/home/a", rest)).header("trash-id");
    const restore = async (to: string) => {
      const body = JSON.stringify({ commands: [{ command: "restore", target, to }] });
      const headers = { "content-type": "application/json" };
      return test.call("POST", "/home/__svc__/trash", { ...rest, headers, body });
    };
    expect((await restore("/way/a")).text).toContain("The storage denied access.");
    expect(await own.stat("/alice/way")).toBe(undefined);
    await own.createFolder("/alice/way");
    expect((await restore("/way/a")).status).toBe(200);
  });

  it("is refused where a lock is", async () => {
    const { call, entries, run } = await createTrashService({ "/alice/a": "a" }, {}, { webdav: {} });
    await call("DELETE", "/home/a", rest);
    const body = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
    const lock = { api: "webdav", body, as: "root", undescribed: "LOCK" } as const;
    expect((await call("LOCK", "/home/alice/a", lock)).status).toBe(201);
    const ids = await entries();
    for (const to of ["/a", "/a/b"]) {
      const answer = await run([{ command: "restore", target: ids["/a"], to }]);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Somebody is working on this.")]);
    }
    expect((await run([{ command: "restore", target: ids["/a"], to: "/b" }])).status).toBe(200);
  });

  it("is refused where a lock forbids the folders that are missing around it", async () => {
    const { call, entries, run } = await createTrashService({ "/alice/a/b/c/d": "d" }, {}, { webdav: {} });
    await call("DELETE", "/home/a/b/c/d", rest);
    const forGood = { ...rest, headers: { "X-Permanent": "1" } };
    await call("DELETE", "/home/a/b/", forGood);
    const body = '<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>';
    const headers = { depth: "0" };
    const lock = { api: "webdav", body, headers, as: "root", undescribed: "LOCK" } as const;
    expect((await call("LOCK", "/home/alice/a/", lock)).status).toBe(200);
    const { "/a/b/c/d": target } = await entries();
    for (const to of [undefined, "/a/b/d"]) {
      const answer = await run([{ command: "restore", target, to }]);
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining("Somebody is working on this.")]);
    }
    expect((await call("GET", "/home/a/", rest)).text).toContain('"content":[]');
    expect((await run([{ command: "restore", target, to: "/b/c/d" }])).status).toBe(200);
  });

  it("has what a link has removed, which cannot remove for good", async () => {
    const { call, entries } = await createTrashService(
      { "/alice/shared/a": "a", "/alice/shared/b": "b" },
      {},
      { links: { secret: LINK_SECRET } },
    );
    const permissions = ["allow-read", "allow-list", "allow-delete-file"];
    const made = await call("POST", "/home/__svc__/links", {
      ...rest,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path: "/shared", permissions }),
    });
    const url = new URL(JSON.parse(made.text).results[0].url).pathname;
    for (const name of ["a", "b"]) {
      const headers = { "X-Permanent": "1", origin: "http://files.example" };
      const undescribed = "a field without meaning";
      const deleted = await call("DELETE", `${url}${name}`, { ...rest, as: null, headers, undescribed });
      expect([deleted.status, deleted.header("trash-id")]).toEqual([204, null]);
    }
    expect(Object.keys(await entries()).sort()).toEqual(["/shared/a", "/shared/b"]);
    const below = await call("GET", `${url}__svc__/trash`, { ...rest, as: null, undescribed: "no trash" });
    expect(below.status).toBe(404);
    const commands = { commands: [{ command: "purge", target: "a" }] };
    const purge = await call("POST", url, {
      ...rest,
      as: null,
      headers: { "content-type": "application/json", origin: "http://files.example" },
      body: JSON.stringify(commands),
      undescribed: "no such command",
    });
    expect(purge.status).toBe(400);
  });
});
