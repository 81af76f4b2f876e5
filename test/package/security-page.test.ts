import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const project = fileURLToPath(new URL("../../", import.meta.url));
/** How the failures of others are cited, on the page and in the names of tests. */
const ADVISORY = /\b(?:CVE-\d{4}-\d+|GHSA(?:-\w{4}){3}|issues? \d+)\b/g;

function findAdvisories(text: string): readonly string[] {
  return [...new Set([...text.matchAll(ADVISORY)].map(([advisory]) => advisory))].sort();
}

/** The list of the page: what is cited in each item, by the file of tests that the item names. */
async function readPage(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(`${project}docs/security.md`, "utf8");
  const items = page.split(/^(?=- |#)/m).filter((part) => /^- [\s\S]*test\/security\/[\w-]+\.test\.ts/.test(part));
  return new Map(
    items.map((item) => [/test\/security\/([\w-]+\.test\.ts)/.exec(item)?.[1] ?? "", findAdvisories(item)]),
  );
}

/** What a file's tests are named after. */
async function readTests(file: string): Promise<readonly string[]> {
  return findAdvisories(await readFile(`${project}test/security/${file}`, "utf8"));
}

describe("the page of security", () => {
  it("names each failure of others that a test is named after, beside its file, and no other", async () => {
    const page = await readPage();
    const files = (await readdir(`${project}test/security`)).filter((name) => name.endsWith(".test.ts"));
    expect([...page.keys()].sort()).toEqual(files.sort());
    for (const file of files) {
      const cited = await readTests(file);
      expect(cited.length, file).toBeGreaterThan(1);
      expect([file, page.get(file)]).toEqual([file, cited]);
    }
  });
});
