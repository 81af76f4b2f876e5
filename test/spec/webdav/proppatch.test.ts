import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { Answer, TestService, TestServiceOptions } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { call, createDav, prop, set, undescribed } from "./calls.ts";

const DATE = "Mon, 01 Jan 2001 00:00:00 GMT";
const LOCK_BODY = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;

type Permissions = NonNullable<AccountSettings["permissions"]>;

function createFor(permissions: Permissions, options: TestServiceOptions = {}): Promise<TestService> {
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/alice", permissions }];
  return createDav({ authentication: createAccountsAuthenticator({ accounts }), ...options });
}

function windows(name: string, value: string): string {
  return `<z:${name} xmlns:z="urn:schemas-microsoft-com:">${value}</z:${name}>`;
}

/** The local names of the properties by their status. */
function statusesOf({ text }: Answer): Readonly<Record<string, readonly string[]>> {
  const propstats = text.matchAll(/<D:propstat><D:prop>(.*?)<\/D:prop><D:status>HTTP\/1\.1 (\d+)/g);
  return Object.fromEntries(
    Array.from(propstats, ([, names = "", status = ""]) => [status, names.match(/(?<=<\w+:)\w+/g) ?? []]),
  );
}

/** A storage that keeps no times, as a bucket does. */
function createTimeless(): StorageAdapter {
  const inner = createMemoryStorage();
  return overrideStorage(inner, {
    attributes: {
      properties: async (path) => inner.attributes?.properties(path) ?? new Map(),
      async change(path, asked) {
        if (asked.modified !== undefined || inner.attributes === undefined) throw new StorageError("unsupported");
        return inner.attributes.change(path, asked);
      },
    },
  });
}

describe("PROPPATCH of what Explorer sets", () => {
  it("is 423 while the file is locked, as every PROPPATCH", async () => {
    for (const permissions of [[["allow-full-control"]], [["allow-read", "allow-write"]]] as const) {
      const test = await createFor(permissions);
      expect((await call(test, "LOCK", "/home/a.txt", {}, LOCK_BODY)).status).toBe(200);
      for (const property of [
        windows("Win32FileAttributes", "00000020"),
        windows("Win32LastModifiedTime", DATE),
        ...(permissions[0][0] === "allow-full-control" ? ["<d:getetag>1</d:getetag>"] : []),
      ]) {
        expect((await call(test, "PROPPATCH", "/home/a.txt", {}, set(property))).status).toBe(423);
      }
    }
  });

  it("sets all or nothing together with other properties", async () => {
    const test = await createDav();
    const both = set(`<x:a>1</x:a>${windows("Win32LastModifiedTime", DATE)}`);
    expect(statusesOf(await call(test, "PROPPATCH", "/home/a.txt", {}, both))).toEqual({
      200: ["a", "Win32LastModifiedTime"],
    });
    expect((await test.call("HEAD", "/home/a.txt")).header("last-modified")).toBe(DATE);
    const refused = set(
      `${windows("Win32FileAttributes", "0")}<d:getlastmodified>soon</d:getlastmodified><x:a>2</x:a>`,
    );
    expect(statusesOf(await call(test, "PROPPATCH", "/home/a.txt", {}, refused))).toEqual({
      409: ["getlastmodified"],
      424: ["Win32FileAttributes", "a"],
    });
    const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<x:a/>"));
    expect(text).toContain(">1<");
  });
});

describe("PROPPATCH where the storage keeps no times", () => {
  it("refuses a time, and no other property then", async () => {
    const test = await createDav({ storage: createTimeless() });
    const body = set(`<d:getlastmodified>${DATE}</d:getlastmodified><x:a>1</x:a>`);
    const answer = await call(test, "PROPPATCH", "/home/a.txt", {}, body);
    expect(statusesOf(answer)).toEqual({ 403: ["getlastmodified"], 424: ["a"] });
    expect(answer.text).not.toContain("protected");
  });

  it("accepts the time of Explorer, and sets the other properties", async () => {
    const test = await createDav({ storage: createTimeless() });
    const body = set(`<x:a>1</x:a>${windows("Win32LastModifiedTime", DATE)}`);
    expect(statusesOf(await call(test, "PROPPATCH", "/home/a.txt", {}, body))).toEqual({
      200: ["a", "Win32LastModifiedTime"],
    });
    const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<x:a/>"));
    expect(text).toContain(">1<");
  });

  it("changes nothing at all if the store fails", async () => {
    const inner = createMemoryStorage();
    const storage = overrideStorage(inner, {
      attributes: {
        properties: async () => new Map(),
        change: async () => Promise.reject(new StorageError("unavailable")),
      },
    });
    const test = await createDav({ storage });
    const body = set(`<x:a>1</x:a>${windows("Win32LastModifiedTime", DATE)}`);
    expect((await call(test, "PROPPATCH", "/home/a.txt", {}, body)).status).toBe(503);
  });
});

describe("the events of PROPPATCH", () => {
  it.each([
    ["a property", "<x:a>1</x:a>", [49006]],
    ["a protected property", "<x:a>1</x:a><d:getetag>1</d:getetag>", [49007]],
    ["no date", "<d:getlastmodified>soon</d:getlastmodified>", [49007]],
    ["what is only answered", windows("Win32FileAttributes", "0"), []],
  ])("are one for %s", async (_, property, ids) => {
    const events: FileEvent[] = [];
    const test = await createDav({ onEvent: (event) => void events.push(event) });
    await call(test, "PROPPATCH", "/home/a.txt", {}, set(property));
    const found = events.filter(({ id }) => id !== 40007);
    expect(found.map(({ id }) => id)).toEqual(ids);
    for (const { data } of found) expect(data).toMatchObject({ path: "/a.txt", real_path: "/alice/a.txt" });
  });

  it("are 49007 without the permission, too", async () => {
    const events: FileEvent[] = [];
    const test = await createFor([["allow-read", "allow-write"]], { onEvent: (event) => void events.push(event) });
    for (const property of ["<x:a>1</x:a>", "<d:getetag>1</d:getetag>"]) {
      events.length = 0;
      expect((await call(test, "PROPPATCH", "/home/a.txt", {}, set(property))).status).toBe(403);
      expect(events.map(({ id }) => id)).toContain(49007);
    }
  });
});

describe("X-OC-Mtime", () => {
  it("is ignored without the permission to set attributes, and without an answer", async () => {
    const test = await createFor([["allow-read", "allow-write"]]);
    const headers = { "x-oc-mtime": "978307200" };
    const put = await test.call("PUT", "/home/new.txt", { body: "x", headers, undescribed });
    expect([put.status, put.header("x-oc-mtime")]).toEqual([201, null]);
    expect(put.header("last-modified")).not.toBe(DATE);
  });
});
