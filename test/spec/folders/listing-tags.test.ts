import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const JSON_API = { variant: "json" } as const;
const FILES = { "/alice/f/a": "x", "/alice/f/sub/": "", "/alice/g/": "" };

async function tagOf({ call }: TestService, target: string): Promise<string> {
  return (await call("GET", target, JSON_API)).header("etag") ?? "none";
}

function ifNoneMatch(tag: string) {
  return { ...JSON_API, headers: { "if-none-match": tag } };
}

describe("the ETag of a listing, where the storage has one", () => {
  it("makes a listing 304 as long as it is the same, for GET and HEAD", async () => {
    const service = await createTestService({ files: FILES });
    const tag = await tagOf(service, "/home/f/");
    expect(tag).toMatch(/^W\/"[!-~]+"$/);
    for (const method of ["GET", "HEAD"]) {
      const answer = await service.call(method, "/home/f/", ifNoneMatch(`"x", ${tag}`));
      expect([answer.status, answer.text, answer.header("etag")]).toEqual([304, "", tag]);
      expect((await service.call(method, "/home/f/", ifNoneMatch('"x"'))).status).toBe(200);
    }
    const page = await service.call("GET", "/home/f/?limit=1", JSON_API);
    expect((await service.call("GET", "/home/f/?limit=1", ifNoneMatch(page.header("etag") ?? ""))).status).toBe(304);
  });

  it.each<[string, (service: TestService) => Promise<unknown>]>([
    ["a new file", ({ call }) => call("PUT", "/home/f/b", { ...JSON_API, body: "x" })],
    ["new content of a file", ({ call }) => call("PUT", "/home/f/a", { ...JSON_API, body: "other" })],
    ["a removed file", ({ call }) => call("DELETE", "/home/f/a", JSON_API)],
    ["a new folder", ({ call }) => call("PUT", "/home/f/new/", JSON_API)],
    [
      "a new member of a subfolder, which changes its time",
      ({ call }) => call("PUT", "/home/f/sub/x", { ...JSON_API, body: "" }),
    ],
    [
      "a folder that was replaced",
      async ({ call }) => {
        await call("DELETE", "/home/f/", JSON_API);
        await call("PUT", "/home/f/", JSON_API);
      },
    ],
  ])("changes with %s", async (_what, change) => {
    const service = await createTestService({ files: FILES });
    const [tag, other] = [await tagOf(service, "/home/f/"), await tagOf(service, "/home/g/")];
    await change(service);
    expect((await service.call("GET", "/home/f/", ifNoneMatch(tag))).status).toBe(200);
    expect(await tagOf(service, "/home/f/")).not.toBe(tag);
    expect(await tagOf(service, "/home/g/")).toBe(other);
  });

  it("differs between folders, orders and storages", async () => {
    const [one, other] = [await createTestService({ files: FILES }), await createTestService({ files: FILES })];
    const sorted = await one.call("GET", "/home/f/", { ...JSON_API, headers: { prefer: "order=name" } });
    const tags = [
      await tagOf(one, "/home/f/"),
      await tagOf(one, "/home/g/"),
      await tagOf(other, "/home/f/"),
      sorted.header("etag"),
    ];
    expect(new Set(tags).size).toBe(4);
  });

  it("changes with what the account may see, and is none without permission", async () => {
    const storage = createMemoryStorage();
    const services = [];
    for (const permission of ["allow-full-control", "allow-traverse", "allow-read"]) {
      const groups = { DEFAULT_GROUP: { permissions: [[permission]] } };
      services.push(await createTestService({ storage, files: FILES, groups }));
    }
    const [full, folders, none] = services as [TestService, TestService, TestService];
    const tag = await tagOf(full, "/home/f/");
    expect((await folders.call("GET", "/home/f/", ifNoneMatch(tag))).status).toBe(200);
    for (const method of ["GET", "HEAD"]) {
      const refused = await none.call(method, "/home/f/", ifNoneMatch(tag));
      expect([refused.status, refused.header("etag")]).toEqual([403, null]);
      expect((await none.call(method, "/home/f/", ifNoneMatch("*"))).status).toBe(403);
    }
  });

  it("changes with the virtual folders and their times", async () => {
    const storage = createMemoryStorage();
    const files = { ...FILES, "/shared/": "" };
    const withFolder = (virtual: string) =>
      createTestService({ storage, files, groups: { DEFAULT_GROUP: { virtual_folders: [[virtual, "/shared"]] } } });
    const one = await withFolder("/one");
    const tag = await tagOf(one, "/home/");
    expect((await one.call("GET", "/home/", ifNoneMatch(tag))).status).toBe(304);
    expect((await (await withFolder("/two")).call("GET", "/home/", ifNoneMatch(tag))).status).toBe(200);
    await one.call("PUT", "/home/one/x", { ...JSON_API, body: "" });
    expect((await one.call("GET", "/home/", ifNoneMatch(tag))).status).toBe(200);
  });

  it("is none of a storage that has none, of pages for browsers, and of what is no folder", async () => {
    const plain = await createTestService({ storage: overrideStorage(createMemoryStorage(), {}), files: FILES });
    expect(await tagOf(plain, "/home/f/")).toBe("none");
    expect((await plain.call("GET", "/home/f/", ifNoneMatch("*"))).status).toBe(200);
    const { call } = await createTestService({ files: FILES });
    expect((await call("GET", "/home/f/", { variant: "html" })).header("etag")).toBe(null);
    expect((await call("GET", "/home/none/", ifNoneMatch("*"))).status).toBe(404);
    expect((await call("GET", "/home/f/a/", ifNoneMatch("*"))).status).toBe(404);
  });
});
