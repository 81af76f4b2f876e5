import { createHash } from "node:crypto";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { createVersionsService, media, messagesOf, versionsOf } from "./setup.ts";

const rest = { api: "rest" } as const;
const ROOT_ONLY = [["allow-full-control"]];
const rules = (...own: readonly (readonly string[])[]) => ({ permissions: [...ROOT_ONLY, ...own] });
const DENIED = "The account's permissions do not allow this.";

describe.each(media)("what nobody gets by the URLs of versions, %s", (medium) => {
  it("is a version by the path of another file, or of another account", async () => {
    const test = await createVersionsService({ "/a": "a1", "/b": "b1" }, { medium });
    const { call, put, versions, contents, run, stored } = test;
    await put("/a", "a2");
    await put("/b", "b2");
    for (const body of ["bob 1", "bob 2"]) await call("PUT", "/home/a", { ...rest, as: "bob", body });
    const [ofB] = await versions("/b");
    const [ofBob] = await versions("/a", { as: "bob" });
    for (const id of [ofB?.id, ofBob?.id]) {
      for (const method of ["GET", "HEAD"]) {
        expect((await call(method, versionsOf("/a", id), rest)).status).toBe(404);
      }
      for (const command of ["restore", "purge"]) {
        expect(messagesOf(await run("/a", [{ command, target: id }]))).toEqual(["Not found."]);
      }
    }
    expect(await stored("/alice/a")).toBe("a2");
    expect([await contents("/a"), await contents("/b"), await contents("/a", { as: "bob" })]).toEqual([
      ["a1"],
      ["b1"],
      ["bob 1"],
    ]);
  });

  it("is anything by a path or an ID that climbs", async () => {
    const { call, put, versions, run, stored } = await createVersionsService({ "/f/a": "a1" }, { medium });
    await put("/f/a", "a2");
    for (const body of ["bob 1", "bob 2"]) await call("PUT", "/home/a", { ...rest, as: "bob", body });
    const [own] = await versions("/f/a");
    const [ofBob] = await versions("/a", { as: "bob" });
    const paths = [
      "",
      "/",
      "f/a",
      "//f/a",
      "/f//a",
      "/f/a/",
      "/f/./a",
      "/f/../a",
      "/../bob/a",
      "/..",
      "/f\\a",
      "/f/a\0",
    ];
    for (const path of [...paths, "/f/../../bob/a", "/f/a/../../../bob/a"]) {
      for (const url of [versionsOf(path), versionsOf(path, own?.id), versionsOf(path, ofBob?.id)]) {
        const answer = await call("GET", url, { ...rest, isProbe: true });
        expect([path, answer.status]).toEqual([path, 400]);
      }
      expect((await run(path, [{ command: "restore", target: ofBob?.id }], { isProbe: true })).status).toBe(400);
    }
    // What is decoded once is a name.
    for (const path of ["/f%2Fa", "/%2e%2e/bob/a", "/f/%2e%2e/f/a"]) {
      expect((await call("GET", versionsOf(path), rest)).status).toBe(404);
    }
    const missing = await call("GET", "/home/__svc__/versions", { ...rest, isProbe: true });
    expect([missing.status, missing.header("error-code")]).toEqual([400, "path-invalid"]);
    const ids = [
      "",
      ".",
      "..",
      "../a",
      "../../../../../bob/a~v/x",
      `../../../bob/a~v/${ofBob?.id}`,
      "a\0",
      "data",
      "*",
    ];
    const answer = await run("/f/a", [{ command: "restore", target: [...ids, "x".repeat(100_000)] }]);
    expect([answer.status, new Set(messagesOf(answer))]).toEqual([422, new Set(["Not found."])]);
    const purge = await run("/f/a", [{ command: "purge", target: ids }]);
    expect(new Set(messagesOf(purge))).toEqual(new Set(["Not found."]));
    for (const id of ["%2e%2e", "..%2F..%2Fbob", "%00", "a%5Cb"]) {
      expect([400, 404]).toContain((await call("GET", versionsOf("/f/a", id), { ...rest, isProbe: true })).status);
    }
    expect([await stored("/alice/f/a"), await stored("/bob/a")]).toEqual(["a2", "bob 2"]);
  });

  it("is anything that is no file now: folders, names below files, links, and where versions are kept", async () => {
    let root = "";
    const test = await createVersionsService({ "/f/a": "a1" }, { medium, onDisk: (path) => (root = path) });
    const { call, put, versions } = test;
    await put("/f/a", "a2");
    const [version] = await versions("/f/a");
    const paths = ["/f", "/f/a/b", "/none", "/f/none", "/__svc__", "/__svc__/versions", `/__svc__/versions/f/a~v`];
    if (medium === "disk") {
      await symlink("a", join(root, "alice", "f", "link"));
      paths.push("/f/link");
    }
    for (const path of paths) {
      for (const method of ["GET", "HEAD"]) {
        for (const url of [versionsOf(path), versionsOf(path, version?.id)]) {
          expect([path, (await call(method, url, rest)).status]).toEqual([path, 404]);
        }
      }
      const answer = await test.run(path, [{ command: "restore", target: version?.id }]);
      expect([path, answer.status, messagesOf(answer)]).toEqual([path, 422, ["Not found."]]);
    }
    // The account of the storage's root sees no more of it.
    const area = `/__svc__/versions/alice/f/a~v/${version?.id}`;
    for (const url of [`/home${area}`, versionsOf(area), versionsOf("/__svc__/versions/alice/f/a~v")]) {
      expect((await call("GET", url, { ...rest, as: "root", isProbe: true })).status).toBe(404);
    }
  });

  it("is what the permissions of the path refuse now", async () => {
    const group = rules(
      ["/closed/*", "allow-write"],
      ["/shown/*", "allow-read"],
      ["/cleaned/*", "allow-delete-file"],
      ["/none/*", "allow-list"],
    );
    const test = await createVersionsService({}, { medium, group });
    const { call, run, storage } = test;
    const ids: Record<string, string> = {};
    for (const folder of ["closed", "shown", "cleaned", "none"]) {
      await call("PUT", `/home/alice/${folder}/`, { ...rest, as: "root" });
      for (const body of ["one", "two"]) await call("PUT", `/home/alice/${folder}/a`, { ...rest, as: "root", body });
      for await (const { id } of storage.versions.list(`/alice/${folder}/a`)) ids[folder] = id;
    }
    const read = async (folder: string) => {
      const urls = [versionsOf(`/${folder}/a`), versionsOf(`/${folder}/a`, ids[folder])];
      return Promise.all(
        urls.flatMap((url) => ["GET", "HEAD"].map(async (method) => (await call(method, url, rest)).status)),
      );
    };
    expect(await read("shown")).toEqual([200, 200, 200, 200]);
    for (const folder of ["closed", "cleaned", "none"]) expect(await read(folder)).toEqual([403, 403, 403, 403]);
    // The answer must not reveal whether there is a file or a version.
    expect((await call("GET", versionsOf("/none/unknown"), rest)).status).toBe(403);
    expect((await call("GET", versionsOf("/none/a", "unknown"), rest)).status).toBe(403);
    const unknown = await run("/none/unknown", [{ command: "restore", target: "x" }]);
    expect(messagesOf(unknown)).toEqual([DENIED]);
    const all = async (command: string) =>
      Promise.all(
        Object.entries(ids).map(async ([folder, target]) =>
          messagesOf(await run(`/${folder}/a`, [{ command, target }])).at(0),
        ),
      );
    expect(await all("restore")).toEqual([null, DENIED, DENIED, DENIED]);
    expect(await all("purge")).toEqual([DENIED, DENIED, null, DENIED]);
    expect(await test.stored("/alice/closed/a")).toBe("one");
    expect(await test.stored("/alice/shown/a")).toBe("two");
  });

  it("is anything behind a virtual folder, whose own files have versions", async () => {
    const group = { virtual_folders: [["/team", "/shared/team"]] };
    const test = await createVersionsService({ "/team/hidden": "h1" }, { medium, group });
    const { call, put, versions, contents, run, stored, storage, events } = test;
    await call("PUT", "/home/alice/team/hidden", { ...rest, as: "root", body: "h2" });
    expect((await storage.versions.list("/alice/team/hidden")[Symbol.asyncIterator]().next()).done).toBe(false);
    expect((await call("GET", versionsOf("/team/hidden"), rest)).status).toBe(404);
    expect((await call("GET", versionsOf("/team"), rest)).status).toBe(404);
    await put("/team/a", "a1", "a2");
    expect(await contents("/team/a")).toEqual(["a1"]);
    const [version] = await versions("/team/a");
    expect((await run("/team/a", [{ command: "restore", target: version?.id }])).status).toBe(200);
    expect(await stored("/shared/team/a")).toBe("a1");
    expect(events.at(-1)).toMatchObject({ id: 40017, data: { path: "/team/a", real_path: "/shared/team/a" } });
    expect(await contents("/shared/team/a", { as: "root" })).toContain("a2");
    expect((await call("GET", versionsOf("/shared/team/a"), rest)).status).toBe(404);
  });

  it("is more than the own permissions, for accounts with one home", async () => {
    const account = (username: string, group: string) =>
      ({ username, password: username === "bob" ? "hunter2" : "secret", group, home_folder_path: "/alice" }) as const;
    const test = await createVersionsService(
      { "/a": "one" },
      {
        medium,
        authentication: createAccountsAuthenticator({ accounts: [account("alice", "full"), account("bob", "guests")] }),
        groups: { full: rules(), guests: { permissions: [["allow-read", "allow-list"]], max_file_bytes: 1 } },
      },
    );
    const { put, contents, versions, run } = test;
    await put("/a", "two", "three");
    expect(await contents("/a", { as: "bob" })).toEqual(["two", "one"]);
    const [two, one] = await versions("/a");
    for (const command of ["restore", "purge"]) {
      expect(messagesOf(await run("/a", [{ command, target: one?.id }], { as: "bob" }))).toEqual([DENIED]);
    }
    expect((await run("/a", [{ command: "purge", target: two?.id }])).status).toBe(200);
    expect(await contents("/a", { as: "bob" })).toEqual(["one"]);
  });

  it("is an earlier content of a link's file: a link leads to what is there now", async () => {
    const test = await createVersionsService({ "/f/a": "one" }, { medium, links: { secret: LINK_SECRET } });
    const { call, put, contents } = test;
    await put("/f/a", "two");
    const body = JSON.stringify({
      path: "/f",
      permissions: ["allow-read", "allow-list", "allow-write", "allow-delete-file"],
    });
    const headers = { "content-type": "application/json" };
    const made = await call("POST", "/home/__svc__/links", { ...rest, headers, body });
    const url = new URL(JSON.parse(made.text).results[0].url).pathname;
    const visitor = { ...rest, as: null, undescribed: "no versions" } as const;
    for (const path of ["/a", "/f/a"]) {
      const below = versionsOf(path).replace("/home/", url);
      expect((await call("GET", below, visitor)).status).toBe(404);
      expect((await call("GET", below.replace("?", "/x?"), visitor)).status).toBe(404);
    }
    // What a link replaces is a version of its account.
    const origin = { origin: "http://files.example" };
    expect((await call("PUT", `${url}a`, { ...rest, as: null, headers: origin, body: "three" })).status).toBe(201);
    expect(await contents("/f/a")).toEqual(["two", "one"]);
  });
});

describe("requests for versions", () => {
  it("need a login, and come from the own site", async () => {
    const { call, put, versions, run, stored } = await createVersionsService({ "/a": "one" });
    await put("/a", "two");
    const [one] = await versions("/a");
    for (const url of [versionsOf("/a"), versionsOf("/a", one?.id)]) {
      expect((await call("GET", url, { ...rest, as: null })).status).toBe(401);
    }
    const headers = { origin: "http://other.example", "sec-fetch-site": "cross-site" };
    expect((await run("/a", [{ command: "restore", target: one?.id }], { headers })).status).toBe(403);
    expect(await stored("/alice/a")).toBe("two");
  });

  it("are never answered by another server, which would send the present content", async () => {
    const test = await createVersionsService(
      { "/a": "one" },
      { medium: "disk", offload: { type: "nginx", prefix: "/protected/" }, isDescribed: false },
    );
    const { call, put, versions } = test;
    await put("/a", "two");
    const [one] = await versions("/a");
    const connection = { peer: { address: "127.0.0.1", port: 4711, family: "IPv4", protocol: "TCP" } } as const;
    const present = await call("GET", "/home/a", { ...rest, connection });
    expect(present.header("x-accel-redirect")).not.toBeNull();
    const former = await call("GET", versionsOf("/a", one?.id), { ...rest, connection });
    expect([former.header("x-accel-redirect"), former.text]).toEqual([null, "one"]);
  });

  it("have the digests of the version that they send", async () => {
    const { call, put, versions } = await createVersionsService({ "/a": "one" }, { digests: {} });
    await put("/a", "two");
    const [one] = await versions("/a");
    const headers = { "want-repr-digest": "sha-256=1" };
    const digests = [];
    for (const url of ["/home/a", versionsOf("/a", one?.id), "/home/a", versionsOf("/a", one?.id)]) {
      const answer = await call("GET", url, { ...rest, headers });
      expect(answer.header("vary")).toContain("Want-Repr-Digest");
      digests.push(answer.header("repr-digest"));
    }
    const [ofPresent, ofVersion] = ["two", "one"].map(
      (content) => `sha-256=:${createHash("sha256").update(content).digest("base64")}:`,
    );
    expect(digests).toEqual([ofPresent, ofVersion, ofPresent, ofVersion]);
  });

  it("count as transfers of the account", async () => {
    const { open, call, put, versions, events } = await createVersionsService(
      { "/a": "x".repeat(300_000) },
      { medium: "disk", limits: { transfersPerAccount: 1 } },
    );
    await put("/a", "two");
    const [one] = await versions("/a");
    const running = await open("GET", versionsOf("/a", one?.id), rest);
    const more = await call("GET", versionsOf("/a", one?.id), rest);
    expect([more.status, more.header("error-code")]).toEqual([503, "too-many-transfers"]);
    expect(events.at(-1)).toMatchObject({ id: 40035, data: { path: "/a", version: one?.id } });
    expect((await call("GET", versionsOf("/a"), rest)).status).toBe(503);
    await running.body?.cancel();
    expect((await call("GET", versionsOf("/a"), rest)).status).toBe(200);
  });
});
