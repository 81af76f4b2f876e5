import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { ContentLocation } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { createQuotaStorage, type QuotaLimit } from "../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { inChunks } from "../../../src/testing/storage/content.ts";
import { sendForm, uploadsOf } from "../../support/forms.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { createTestService, type TestService, variants } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const PATH = "/home/__svc__/quota";
const put = { api: "rest", body: "x".repeat(60) } as const;

interface Limits {
  readonly folders?: readonly QuotaLimit[];
  readonly quota_bytes?: number;
  readonly quota_files?: number;
  readonly virtual_folders?: readonly (readonly [string, string])[];
}

function createLimited({ folders = [], ...group }: Limits): Promise<TestService> {
  const storage = createQuotaStorage(createMemoryStorage(), { folders });
  return createTestService({ storage, quota: storage.quota, groups: { DEFAULT_GROUP: group } });
}

describe("an account with a quota", () => {
  it("gets 507 for what does not fit, in each variant, and nothing is stored", async () => {
    const test = await createLimited({ quota_bytes: 100 });
    const { call, stored } = test;
    expect((await call("PUT", "/home/a", put)).status).toBe(201);
    const form = [...uploadsOf({ b: put.body }), ["action", "upload-file"]] as const;
    for (const send of [
      () => call("PUT", "/home/b", put),
      () => call("PUT", "/home/b", { ...put, api: "webdav" }),
      () => sendForm(test, "/home/", form),
    ]) {
      const answer = await send();
      expect(answer.status).toBe(507);
      expect(answer.text).toContain("The quota is used up.");
    }
    expect((await call("PUT", "/home/b", put)).header("error-code")).toBe("quota-used-up");
    expect(await stored("/alice/b")).toBeUndefined();
    const german = await sendForm(test, "/home/", form, { headers: { "accept-language": "de" } });
    expect(german.text).toContain("Das Kontingent ist aufgebraucht.");
  });

  it("gets 507 for one file too many, and for copies", async () => {
    const { call } = await createLimited({ quota_files: 2 });
    for (const name of ["a", "b"]) expect((await call("PUT", `/home/${name}`, put)).status).toBe(201);
    expect((await call("PUT", "/home/c", put)).status).toBe(507);
    const command = { commands: [{ command: "copy", target: "a", destination: "/c" }] };
    const copied = await call("POST", "/home/", {
      api: "rest",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(command),
    });
    expect(copied.status).toBe(422);
    expect(copied.text).toContain("The quota is used up.");
    expect((await call("PUT", "/home/a", put)).status).toBe(201);
    expect((await call("DELETE", "/home/b", { api: "rest" })).status).toBe(204);
    expect((await call("PUT", "/home/c", put)).status).toBe(201);
  });

  it("has its own limits, else those of its group, else those of the default group", async () => {
    const accounts = [
      { username: "alice", password: "secret", home_folder_path: "/alice", group: "staff", quota_bytes: 50 },
      { username: "bob", password: "hunter2", group: "staff" },
      { username: "root", password: "toor", home_folder_path: "/", quota_bytes: 0 },
    ];
    const groups = { DEFAULT_GROUP: { quota_bytes: 100, quota_files: 9 }, staff: { quota_bytes: 70 } };
    const storage = createQuotaStorage(createMemoryStorage());
    const authentication = createAccountsAuthenticator({ accounts, logger: createRecordingLogger() });
    const { call } = await createTestService({ storage, quota: storage.quota, groups, authentication });
    const expected = { alice: [50, 9, 507], bob: [70, 9, 201], root: [null, 9, 201] } as const;
    for (const [name, [bytes, files, status]] of Object.entries(expected)) {
      const as = name as keyof typeof expected;
      const { results } = (await call("GET", PATH, { as })).json<{ results: Record<string, unknown>[] }>();
      expect(results, as).toEqual([expect.objectContaining({ path: "/", limit_bytes: bytes, limit_files: files })]);
      expect((await call("PUT", "/home/a", { ...put, as })).status, as).toBe(status);
    }
    // 0 is no limit at all, also where the default group has one.
    expect((await call("PUT", "/home/b", { ...put, as: "root", body: "x".repeat(101) })).status).toBe(201);
  });

  it("gets 507 for a restore from the trash and a rename over a file beyond a limit, and all files stay", async () => {
    const counted = createQuotaStorage(createMemoryStorage(), { folders: [{ path: "/shared", bytes: 100 }] });
    const storage = createTrashStorage(counted);
    const { call, stored } = await createTestService({
      storage,
      trash: storage.trash,
      quota: counted.quota,
      webdav: {},
      groups: { DEFAULT_GROUP: { virtual_folders: [["/team", "/shared"]] } },
      files: { "/shared/a": "a".repeat(60), "/alice/b": "b".repeat(101), "/alice/c": "c".repeat(101) },
    });
    const { header } = await call("DELETE", "/home/b", { api: "rest" });
    const restored = await call("POST", "/home/__svc__/trash", {
      api: "rest",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ commands: [{ command: "restore", target: header("trash-id"), to: "/team/b" }] }),
    });
    expect([restored.status, restored.text]).toEqual([422, expect.stringContaining("The quota is used up.")]);
    const moved = await call("MOVE", "/home/c", {
      headers: { destination: "/home/team/a", overwrite: "T" },
      undescribed: "OpenAPI has no place for the methods of WebDAV",
    });
    expect([moved.status, moved.header("error-code")]).toEqual([507, "quota-used-up"]);
    expect(await Promise.all(["/shared/a", "/shared/b", "/alice/c"].map(stored))).toEqual([
      "a".repeat(60),
      undefined,
      "c".repeat(101),
    ]);
    const { text } = await call("GET", "/home/__svc__/trash", { api: "rest" });
    expect(JSON.parse(text)).toMatchObject({ content: [{ path: "/b", size: 101 }] });
  });

  it("gets 201 for a file that is in its place when the counts cannot be reached, which are right later", async () => {
    const memory = createMemoryKeyValueStore();
    let isAway = false;
    const store = {
      ...memory,
      get: async (key: string) => (isAway ? Promise.reject(new Error("The connection is lost.")) : memory.get(key)),
    };
    const inner = createMemoryStorage();
    const late = overrideStorage(inner, {
      async write(...write) {
        const entry = await inner.write(...write);
        isAway = true;
        return entry;
      },
    });
    const storage = createQuotaStorage(late, { store });
    const { call } = await createTestService({
      storage,
      quota: storage.quota,
      groups: { DEFAULT_GROUP: { quota_bytes: 100 } },
    });
    expect((await call("PUT", "/home/a", put)).status).toBe(201);
    expect((await call("GET", "/home/a")).text).toBe(put.body);
    expect((await call("PUT", "/home/b", put)).status).toBe(503);
    expect((await call("GET", PATH)).status).toBe(503);
    isAway = false;
    expect((await call("PUT", "/home/b", put)).status).toBe(507);
    expect((await call("GET", PATH)).json()).toMatchObject({ results: [{ used_bytes: 60, used_files: 1 }] });
  });

  it("has its limit for uploads in several requests", async () => {
    const { call } = await createLimited({ quota_bytes: 100 });
    const create = (length: number) =>
      call("POST", "/home/", {
        api: "rest",
        headers: {
          "tus-resumable": "1.0.0",
          "upload-length": `${length}`,
          "upload-metadata": `filename ${btoa("a.bin")}`,
        },
      });
    expect((await create(101)).status).toBe(507);
    expect((await create(60)).status).toBe(201);
    expect((await create(60)).status).toBe(507);
  });
});

describe(`GET ${PATH}`, () => {
  it("shows the home folder with the limit of the account", async () => {
    const { call } = await createLimited({ quota_bytes: 100 });
    await call("PUT", "/home/a", put);
    for (const variant of variants) {
      const answer = await call("GET", PATH, { variant });
      expect([answer.status, answer.header("cache-control")]).toEqual([200, "no-store"]);
      expect(answer.json()).toEqual({
        results: [
          {
            path: "/",
            used_bytes: 60,
            limit_bytes: 100,
            available_bytes: 40,
            used_files: 1,
            limit_files: null,
            available_files: null,
          },
        ],
      });
    }
    expect((await call("HEAD", PATH)).status).toBe(200);
    expect((await call("GET", PATH, { as: null, variant: "json" })).status).toBe(401);
  });

  it("shows virtual folders with a limit, and what a stricter limit around them leaves", async () => {
    const { call, storage } = await createLimited({
      folders: [
        { path: "/", bytes: 200 },
        { path: "/shared", bytes: 150, files: 10 },
      ],
      virtual_folders: [["/team", "/shared"]],
    });
    await call("PUT", "/home/team/a", { ...put });
    await storage.write("/other", inChunks(new Uint8Array(120), 120));
    const { results } = (await call("GET", PATH)).json<{ results: Record<string, unknown>[] }>();
    expect(results).toEqual([
      expect.objectContaining({ path: "/", used_bytes: 0, limit_bytes: 200, available_bytes: 20 }),
      expect.objectContaining({ path: "/team", used_bytes: 60, limit_bytes: 150, available_bytes: 20, used_files: 1 }),
    ]);
  });

  it("shows it to WebDAV clients that ask for it by name (RFC 4331)", async () => {
    const storage = createQuotaStorage(createMemoryStorage());
    const groups = { DEFAULT_GROUP: { quota_bytes: 100 } };
    const files = { "/alice/a": "x".repeat(60), "/alice/sub/": "" };
    const { call } = await createTestService({ storage, quota: storage.quota, groups, files, webdav: {} });
    const ask = async (body: string): Promise<string> => {
      const headers = { depth: "1", "content-type": "application/xml" };
      const answer = await call("PROPFIND", "/home/", { headers, body: `<propfind xmlns="DAV:">${body}</propfind>` });
      expect(answer.status).toBe(207);
      return answer.text;
    };
    const named = await ask("<prop><quota-available-bytes/><quota-used-bytes/></prop>");
    expect(named.match(/<D:quota-available-bytes>40</g)).toHaveLength(2);
    expect(named.match(/<D:quota-used-bytes>60</g)).toHaveLength(2);
    expect(await ask("<allprop/>")).not.toContain("quota");
    expect(await ask("<propname/>")).not.toContain("quota");
  });

  it("shows WebDAV clients what is left for each listed folder, and asks once for all that share it", async () => {
    const asked: string[] = [];
    const disk = (name: string, free: number) => {
      const memory = createMemoryStorage();
      const locateContent = async (path: string): Promise<ContentLocation> => {
        asked.push(`${name}${path}`);
        return { storage: memory, path, medium: "disk", freeBytes: async () => free };
      };
      return overrideStorage(memory, { locateContent });
    };
    const root = disk("root", 500);
    await root.createFolder("/alice");
    const storage = createQuotaStorage(
      mountStorage({ "/": root, "/alice/old/disk": disk("old", 30), "/alice/tape": disk("tape", 20) }),
      {
        folders: [
          { path: "/alice/small", bytes: 40 },
          { path: "/team", bytes: 70 },
        ],
      },
    );
    const { call } = await createTestService({
      storage,
      quota: storage.quota,
      groups: {
        DEFAULT_GROUP: {
          quota_bytes: 100,
          virtual_folders: [
            ["/team", "/team"],
            ["/free", "/free"],
          ],
        },
      },
      files: { "/alice/a/": "", "/alice/b/c/": "", "/alice/small/s": "1", "/alice/tape/t/": "", "/team/t/": "" },
      webdav: { infiniteDepth: true },
    });
    const ask = async (path: string, depth: string): Promise<Record<string, number | undefined>> => {
      asked.length = 0;
      const headers = { depth, "content-type": "application/xml" };
      const body = '<propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>';
      const { text } = await call("PROPFIND", path, { headers, body });
      const responses = text
        .split("<D:response>")
        .slice(1)
        .filter((one) => /<D:href>[^<]*\/</.test(one));
      return Object.fromEntries(
        responses.map((one) => {
          const left = /<D:quota-available-bytes>(\d+)</.exec(one)?.[1];
          return [/<D:href>\/home([^<]*)</.exec(one)?.[1] ?? "", left === undefined ? undefined : Number(left)];
        }),
      );
    };
    expect(await ask("/home/", "1")).toEqual({
      "/": 99,
      "/a/": 99,
      "/b/": 99,
      "/old/": 99,
      "/small/": 39,
      "/tape/": 20,
      "/team/": 70,
      "/free/": undefined,
    });
    expect(asked.toSorted()).toEqual(["root/alice", "root/alice/old", "root/alice/small", "root/team", "tape/"]);
    const all = await ask("/home/", "infinity");
    expect(all).toMatchObject({ "/b/c/": 99, "/old/disk/": 30, "/tape/t/": 20, "/team/t/": 70 });
    for (const path of Object.keys(all)) expect(await ask(`/home${path}`, "0")).toEqual({ [path]: all[path] });
  });

  it("leaves no more than the disk has room for, to each kind of client", async () => {
    let free: number | undefined;
    const memory = createMemoryStorage();
    const disk = overrideStorage(memory, {
      locateContent: async (path) => ({ storage: memory, path, medium: "disk", freeBytes: async () => free }),
    });
    const counted = createQuotaStorage(disk);
    const wrapped = createTrashStorage(createVersionsStorage(counted));
    const { call } = await createTestService({
      storage: mountStorage({ "/": wrapped, "/archive": createMemoryStorage() }),
      quota: counted.quota,
      groups: { DEFAULT_GROUP: { quota_bytes: 100 } },
      files: { "/alice/a": "x".repeat(60) },
      webdav: {},
    });
    for (const [room, left] of [
      [25, 25],
      [0, 0],
      [41, 40],
      [undefined, 40],
    ] as const) {
      free = room;
      const { results } = (await call("GET", PATH)).json<{ results: Record<string, unknown>[] }>();
      expect(results).toEqual([expect.objectContaining({ used_bytes: 60, limit_bytes: 100, available_bytes: left })]);
      const found = await call("PROPFIND", "/home/", {
        headers: { depth: "0", "content-type": "application/xml" },
        body: '<propfind xmlns="DAV:"><prop><quota-available-bytes/></prop></propfind>',
      });
      expect(found.text).toContain(`<D:quota-available-bytes>${left}</D:quota-available-bytes>`);
      const page = await call("GET", "/home/", { variant: "html" });
      expect(page.text).toContain(`60 bytes of 100 bytes used, ${left} bytes free`);
    }
  });

  it("is a meter on the page of a folder, with its text", async () => {
    const { call } = await createLimited({ quota_bytes: 100, quota_files: 1000 });
    await call("PUT", "/home/a", put);
    const page = await call("GET", "/home/", { variant: "html" });
    expect(page.text).toMatch(/<meter min="0" max="100" low="75" high="90" optimum="0" value="60" /);
    expect(page.text).toContain("60 bytes of 100 bytes used, 40 bytes free");
    expect(page.text).toContain("1 of 1,000 files, 999 free");
    const german = await call("GET", "/home/", { variant: "html", headers: { "accept-language": "de" } });
    expect(german.text).toContain("60 Byte von 100 Byte belegt, 40 Byte frei");
  });

  it("is not on the page if there is no limit, or the files cannot be counted", async () => {
    const unlimited = await createLimited({});
    expect((await unlimited.call("GET", "/home/", { variant: "html" })).text).not.toContain("<meter");
    const storage = createQuotaStorage(createMemoryStorage());
    const usages = [
      async () => Promise.reject(new Error("The store does not respond.")),
      () => new Promise<never>(() => {}),
    ];
    for (const usage of usages) {
      const quota = { ...storage.quota, usage };
      const { call } = await createTestService({ storage, quota, groups: { DEFAULT_GROUP: { quota_bytes: 100 } } });
      const page = await call("GET", "/home/", { variant: "html" });
      expect([page.status, page.text.includes("<meter")]).toEqual([200, false]);
    }
  });

  it("is 404 without the option, and where a file of this name would be", async () => {
    const { call } = await createTestService();
    expect((await call("GET", PATH)).status).toBe(404);
    const limited = await createLimited({});
    expect((await limited.call("PUT", PATH, put)).status).toBe(405);
  });
});
