import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageEntry } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { CONTENT, describeAnswer, expectedAnswer, MODIFIED, readingRows } from "../../support/conditional-read-rows.ts";
import { type ReadingStorage, readingStorages } from "../../support/reading-storages.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

describe.each(Object.entries(readingStorages))("reading from %s", (_name, create) => {
  let opened: ReadingStorage;
  let test: TestService;
  const tags = new Map<string, string>();

  beforeAll(async () => {
    opened = await create();
    test = await createTestService({ storage: opened.storage });
    for (const file of ["data.bin", "empty.txt"]) {
      tags.set(file, (await test.call("HEAD", `/home/${file}`, { as: "root" })).header("etag") ?? "");
    }
  });

  afterAll(() => opened.close());

  it.each(readingRows)("$method $file, $rule: $fields (CONTRACT 3.1, RFC 9110 13, 14)", async (row) => {
    const tag = tags.get(row.file) ?? "";
    const headers = Object.fromEntries(
      Object.entries(row.fields).map(([name, value]) => [name, value.replace("TAG", tag)]),
    );
    const answer = await test.call(row.method, `/home/${row.file}`, { as: "root", variant: "json", headers });
    expect(describeAnswer(row, answer)).toEqual(expectedAnswer(row));
  });
});

describe("reading from an adapter without entity-tags of its own", () => {
  it.each<readonly [fields: Record<string, string>, status: number]>([
    [{ "if-none-match": "TAG" }, 304],
    [{ "if-none-match": "*" }, 304],
    [{ "if-match": "TAG" }, 412],
    [{ "if-match": "*" }, 200],
    [{ "if-modified-since": "Mon, 06 May 2024 07:08:09 GMT" }, 304],
    [{ range: "bytes=0-9" }, 206],
    [{ range: "bytes=0-9", "if-range": "TAG" }, 200],
    [{ range: "bytes=0-9", "if-range": "Mon, 06 May 2024 07:08:09 GMT" }, 206],
    [{ range: "bytes=0-9,500-509" }, 206],
  ])("has weak ones, and with %j answers %i (CONTRACT 3.1, RFC 9110 8.8.3)", async (fields, status) => {
    const base = createMemoryStorage({ clock: () => MODIFIED });
    const storage = overrideStorage(base, {
      stat: async (path) => withoutTag(await base.stat(path)),
      async read(path, range) {
        const { entry, body } = await base.read(path, range);
        return { entry: withoutTag(entry), body };
      },
    });
    const { call } = await createTestService({ storage, files: { "/alice/data.bin": CONTENT } });
    const tag = (await call("HEAD", "/home/data.bin")).header("etag") ?? "";
    expect(tag).toMatch(/^W\/"/);
    const headers = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, value.replace("TAG", tag)]),
    );
    expect((await call("GET", "/home/data.bin", { headers })).status).toBe(status);
  });
});

function withoutTag<T extends StorageEntry | undefined>(entry: T): T {
  if (entry === undefined) return entry;
  const { etag: _, ...rest } = entry;
  return rest as T;
}

describe("the table of reading", () => {
  it("has all the rows that it had (CONTRACT 3.1)", () => {
    expect(readingRows.length).toBeGreaterThanOrEqual(180);
    const outcomes = readingRows.map(({ outcome }) => (typeof outcome === "number" ? outcome : 206));
    expect([...new Set(outcomes)].sort()).toEqual([200, 206, 304, 400, 404, 412, 416]);
  });
});
