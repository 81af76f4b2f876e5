import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAnswer, expectedAnswer, readingRows } from "../support/reading-rows.ts";
import { type ReadingStorage, readingStorages } from "../support/reading-storages.ts";
import { createTestService, type TestService } from "../support/service.ts";

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

describe("the table of reading", () => {
  it("has all the rows that it had (CONTRACT 3.1)", () => {
    expect(readingRows.length).toBeGreaterThanOrEqual(180);
    const outcomes = readingRows.map(({ outcome }) => (typeof outcome === "number" ? outcome : 206));
    expect([...new Set(outcomes)].sort()).toEqual([200, 206, 304, 400, 404, 412, 416]);
  });
});
