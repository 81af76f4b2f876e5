import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, readAnswer, type TestServiceOptions, variants } from "../../support/service.ts";
import { fillStorage, overrideStorage, withLargeFolder } from "../../support/storage.ts";
import { type ReadMember, readZip } from "../../unit/archive/read-zip.ts";

const FILES = {
  "/alice/reports/2018/a.csv": "1,2",
  "/alice/reports/b.txt": "b".repeat(200_000),
  "/alice/reports/photo.jpg": "j".repeat(2000),
  "/alice/note.txt": "n",
};
const NAMES = ["reports/", "reports/b.txt", "reports/photo.jpg", "reports/2018/", "reports/2018/a.csv"];
/** Of which one member changes, behind what is read before the answer. */
const CHANGED = { "/alice/0.bin": "0".repeat(100_000), "/alice/a.txt": "abc" };
const ZIP = { headers: { accept: "application/zip" } };
const FORM = "multipart/form-data; boundary=b";

describe("GET /home/<folder>/ with Accept: application/zip", () => {
  it("answers 200 and the archive of the whole folder including sub-folders, with full paths (4.2)", async () => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/reports/", ZIP);
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/zip");
    expect(answer.header("content-disposition")).toMatch(/^attachment; filename="reports\.zip"/);
    expect(answer.header("server-path")).toBe("/reports");
    expect(answer.header("vary")).toContain("Accept");
    const members = readZip(answer.bytes);
    expect(names(members)).toEqual(NAMES);
    expect(String(members[1]?.content())).toBe(FILES["/alice/reports/b.txt"]);
  });

  it.each([
    ["application/zip", true],
    ["Application/ZIP", true],
    ["application/zip, */*;q=0.8", true],
    ["application/zip, */*", true],
    ["application/zip;q=0.9, application/json;q=0.8", true],
    ["text/html;q=0.5, application/zip;q=0.6", true],
    ["application/zip;q=0.5, application/json;q=0.8", false],
    ["text/html, application/zip;q=0.9", false],
    ["application/zip;q=0", false],
    ["application/*", false],
    ["*/*", false],
    ["application/json", false],
  ])("is asked for by Accept %j, with its q-values: %s (4.2)", async (accept, isArchive) => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/reports/", { headers: { accept } });
    expect(answer.status).toBe(200);
    expect(answer.header("content-type") === "application/zip").toBe(isArchive);
  });

  it("is the archive in each API that is mounted alone (1.1, 4.2)", async () => {
    const { call } = await createTestService({ files: FILES });
    for (const api of ["rest", "webdav", "browser"] as const) {
      expect(names(readZip((await call("GET", "/home/reports/", { ...ZIP, api })).bytes))).toEqual(NAMES);
    }
  });

  it("is told without a length, and as it can be read, once a promised length could not be kept (CONTRACT 3.4)", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, FILES);
    const storage = overrideStorage(base, {
      async read(path, range) {
        if (path.endsWith("photo.jpg")) throw new StorageError("denied", "EACCES");
        return base.read(path, range);
      },
    });
    const { call } = await createTestService({ storage });
    await expect(call("GET", "/home/reports/", ZIP)).rejects.toThrow();
    const again = await call("GET", "/home/reports/", ZIP);
    expect([again.status, again.header("content-length")]).toEqual([200, null]);
    expect(names(readZip(again.bytes))).toEqual(NAMES.filter((name) => !name.endsWith("photo.jpg")));
    const elsewhere = await call("GET", "/home/reports/2018/", ZIP);
    expect(elsewhere.header("content-length")).toBe(`${elsewhere.bytes.byteLength}`);
  });

  it.each([
    ["denies a file", new StorageError("denied", "EACCES"), 200, ["reports/2018/", "reports/2018/a.csv"]],
    ["does not answer for a file", new StorageError("unavailable", "EIO"), 503, []],
  ])(
    "has its status when the storage %s at its begin: nothing is promised that cannot be kept",
    async (_, error, status, rest) => {
      const base = createMemoryStorage();
      await fillStorage(base, FILES);
      const reads: string[] = [];
      const storage = overrideStorage(base, {
        async read(path, range) {
          reads.push(path);
          if (path.startsWith("/alice/reports/b") || path.endsWith("photo.jpg")) throw error;
          return base.read(path, range);
        },
      });
      const { call } = await createTestService({ storage });
      const answer = await call("GET", "/home/reports/", ZIP);
      expect([answer.status, answer.header("content-length") === null]).toEqual([status, status === 200]);
      if (status === 200) expect(names(readZip(answer.bytes))).toEqual(["reports/", ...rest]);
      else {
        expect(answer.header("retry-after")).not.toBeNull();
        // A request that has waited for a storage that is down does not wait again.
        expect(reads.filter((path) => path.endsWith("b.txt"))).toHaveLength(1);
      }
    },
  );

  it("is no answer to a client that goes while a storage that hangs is read at its begin, and keeps no slot", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/alice/a": "a", "/alice/f/b": "b" });
    const leaving = new AbortController();
    const storage = overrideStorage(base, {
      async read(path, range) {
        if (path !== "/alice/f/b") return base.read(path, range);
        leaving.abort(new Error("gone"));
        return new Promise(() => undefined);
      },
    });
    const { call } = await createTestService({ storage, limits: { transfersPerAccount: 1 } });
    expect((await call("GET", "/home/f/", { ...ZIP, signal: leaving.signal })).status).toBe(400);
    expect((await call("GET", "/home/a")).status).toBe(200);
  });

  it("ends its walk when nobody is left to send it to", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/alice/a": "a" });
    const leaving = new AbortController();
    let listed = 0;
    const storage = overrideStorage(base, {
      async *list() {
        for (; listed < 100_000; listed += 1) {
          if (listed === 1000) leaving.abort(new Error("gone"));
          yield { name: `${listed}`, kind: "file", size: 1, modified: new Date(0) };
        }
      },
    });
    const { call } = await createTestService({ storage });
    const answer = await call("GET", "/home/", { ...ZIP, signal: leaving.signal });
    expect(answer.status).toBe(400);
    expect(listed).toBeLessThan(5000);
  });

  it("is told to a session, too", async () => {
    const { call, login } = await createTestService({ files: FILES });
    const headers = { ...ZIP.headers, authorization: `session ${await login()}` };
    expect(names(readZip((await call("GET", "/home/reports/", { as: null, headers })).bytes))).toEqual(NAMES);
  });

  it("redirects to the URL with / as any folder does (4.2, CONTRACT 2.5)", async () => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/reports?x=1", ZIP);
    expect([answer.status, answer.header("location")]).toEqual([302, "/home/reports/?x=1"]);
  });

  it("changes nothing of what a file's URL answers", async () => {
    const { call } = await createTestService({ files: FILES });
    expect((await call("GET", "/home/note.txt", ZIP)).text).toBe("n");
  });

  it.each([
    ["/home/missing/", 404],
    ["/home/note.txt/", 404],
    ["/home/__svc__/", 404],
    ["/home/%2e%2e/", 400],
  ])("answers %s with %i, as the errors body (CONTRACT 1)", async (target, status) => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", target, ZIP);
    expect(answer.status).toBe(status);
    expect(answer.json()).toEqual({ errors: [{ message: expect.any(String) }] });
  });

  it("tells of failures as a page where HTML is the next best (CONTRACT 1)", async () => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/missing/", { headers: { accept: "application/zip, text/html;q=0.5" } });
    expect([answer.status, answer.header("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  });

  it("asks for credentials by 401 (7.1)", async () => {
    const { call } = await createTestService({ files: FILES });
    const answer = await call("GET", "/home/reports/", { ...ZIP, as: null });
    expect(answer.status).toBe(401);
    expect(answer.header("www-authenticate")).toContain("basic");
  });

  it("answers 503 where a folder below fails before anything is sent", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, FILES);
    const storage = overrideStorage(base, {
      list: (path) => {
        if (path.endsWith("2018")) throw new StorageError("unavailable");
        return base.list(path);
      },
    });
    const { call } = await createTestService({ storage });
    expect((await call("GET", "/home/reports/", ZIP)).status).toBe(503);
  });
});

describe("the length of an archive", () => {
  it("is told by GET alone; HEAD has the other fields, and walks no folder for it (4.2)", async () => {
    const { call } = await createTestService({ files: FILES });
    const got = await call("GET", "/home/reports/", ZIP);
    expect(got.header("content-length")).toBe(String(got.bytes.length));
    const head = await call("HEAD", "/home/reports/", ZIP);
    expect([head.status, head.bytes.length, head.header("content-length")]).toEqual([200, 0, null]);
    for (const name of ["content-type", "content-disposition", "server-path", "vary"]) {
      expect(head.header(name)).toBe(got.header(name));
    }
    for (const variant of variants) expect((await call("HEAD", "/home/", { variant })).status).toBe(200);
  });

  it("is told of chosen members (4.6)", async () => {
    const { call } = await createTestService({ files: FILES });
    const fields = [
      ["action", "download-members"],
      ["selected-members", "2018"],
      ["selected-members", "b.txt"],
    ];
    const parts = fields.map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const options = { headers: { "content-type": FORM }, body: `${parts.join("")}--b--\r\n` };
    const answer = await call("POST", "/home/reports/", options);
    expect(answer.header("content-length")).toBe(String(answer.bytes.length));
    expect(names(readZip(answer.bytes))).toEqual(["b.txt", "2018/", "2018/a.csv"]);
  });

  it("counts what the account may not read as it is: not there", async () => {
    const permissions = [["allow-full-control"], ["*.csv", "allow-list"]] as const;
    const groups = { DEFAULT_GROUP: { permissions } };
    const { call } = await createTestService({ files: FILES, groups });
    const answer = await call("GET", "/home/reports/", ZIP);
    expect(answer.header("content-length")).toBe(String(answer.bytes.length));
    expect(names(readZip(answer.bytes))).toEqual(NAMES.filter((name) => !name.endsWith(".csv")));
  });

  it("is not told of a tree too large to be looked at first, which is listed once all the same", async () => {
    const storage = withLargeFolder(createMemoryStorage(), 20_000);
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", ZIP);
    expect(response.headers.get("content-length")).toBeNull();
    expect(storage.folder.taken).toBe(20_000);
    await response.body?.cancel();
    const head = await open("HEAD", "/home/", ZIP);
    expect([head.status, head.headers.get("content-length")]).toEqual([200, null]);
  });

  it.each(["stored", "deflate"] as const)("reads no file for HEAD: %s", async (method) => {
    const base = createMemoryStorage();
    await fillStorage(base, FILES);
    const reads: string[] = [];
    const read: StorageAdapter["read"] = (path, range) => {
      reads.push(path);
      return base.read(path, range);
    };
    const { call } = await createTestService({ storage: overrideStorage(base, { read }), archive: { method } });
    expect((await call("HEAD", "/home/reports/", ZIP)).status).toBe(200);
    expect(reads).toEqual([]);
  });

  it.each<[string, (path: string, size: number) => unknown]>([
    ["has another size", (_, size) => size + 1],
    ["is gone", () => new StorageError("not-found")],
    ["is denied", () => new StorageError("denied")],
  ])("breaks the archive off when it has been told and a member %s by then", async (_, change) => {
    const { call } = await createTestService({ files: CHANGED });
    const { open } = await createTestService(await withChange(change));
    const response = await open("GET", "/home/", ZIP);
    const { bytes } = await call("GET", "/home/", ZIP);
    expect(response.headers.get("content-length")).toBe(`${bytes.byteLength}`);
    await expect(readAnswer(response)).rejects.toThrow();
  });

  it("leaves a member out that is gone by then where it was not told", async () => {
    const gone = await withChange(() => new StorageError("not-found"));
    const { call } = await createTestService({ ...gone, archive: { method: "deflate" } });
    expect(names(readZip((await call("GET", "/home/", ZIP)).bytes))).toEqual(["0.bin"]);
  });
});

describe("the option archive.method", () => {
  it("deflate compresses but what is compressed already, and tells no length", async () => {
    const { call } = await createTestService({ files: FILES, archive: { method: "deflate" } });
    const answer = await call("GET", "/home/reports/", ZIP);
    expect(answer.header("content-length")).toBeNull();
    const members = readZip(answer.bytes);
    expect(names(members)).toEqual(NAMES);
    for (const member of members) member.content();
    const [, text, photo] = members;
    expect(text?.storedSize).toBeLessThan(1000);
    expect(photo).toMatchObject({ method: 0, storedSize: 2000 });
  });
});

/** A storage one of whose files is not as it was listed when it is read: another size, or an error. */
async function withChange(change: (path: string, size: number) => unknown): Promise<TestServiceOptions> {
  const base = createMemoryStorage();
  await fillStorage(base, CHANGED);
  const storage = overrideStorage(base, {
    async read(path) {
      if (!path.endsWith("a.txt")) return base.read(path);
      const { entry } = await base.read(path);
      const found = change(path, entry.size);
      if (typeof found !== "number") throw found;
      return { entry: { ...entry, size: found }, body: new Blob([new Uint8Array(found)]).stream() };
    },
  });
  return { storage };
}

function names(members: readonly ReadMember[]): readonly string[] {
  return members.map(({ name }) => name);
}
