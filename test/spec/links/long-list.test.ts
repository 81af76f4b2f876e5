import { describe, expect, it } from "vitest";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { LINKS, setOwner } from "./owner-setting.ts";

const COUNT = 400;

/** An account with many links, in a store that counts how many of them are read. */
async function open() {
  const store = createMemoryKeyValueStore();
  let count = 0;
  const counted = {
    ...store,
    get: (key: string) => {
      if (key.startsWith("link:")) count += 1;
      return store.get(key);
    },
  };
  const setting = await setOwner({
    links: { secret: LINK_SECRET, store: counted },
    limits: { transfersPerAccount: 1 },
  });
  for (let number = 0; number < COUNT; number += 1) {
    await setting.service.links.create({ username: "alice", path: "/reports", label: `${number} ${"x".repeat(190)}` });
  }
  return {
    ...setting,
    readCount: () => count,
    restart: () => {
      count = 0;
    },
  };
}

const numbersOf = (labels: readonly string[]): readonly number[] => labels.map((label) => Number.parseInt(label, 10));
const NEWEST_FIRST = Array.from({ length: COUNT }, (_, index) => COUNT - 1 - index);

describe("a list of many links (SHARING 3.6)", () => {
  it("is read while it is sent, and has all of them, newest first", async () => {
    const { open: ask, call, readCount, restart } = await open();
    for (const variant of ["json", "html"] as const) {
      restart();
      const response = await ask("GET", LINKS, { variant });
      const early = readCount();
      expect(early).toBeGreaterThan(0);
      expect(early).toBeLessThan(COUNT / 2);
      const text = await response.text();
      expect(readCount()).toBe(COUNT);
      const labels =
        variant === "json"
          ? (JSON.parse(text) as { content: LinkBody[] }).content.map(({ label }) => label)
          : [...text.matchAll(/<small><bdi>(\d+) x+<\/bdi>/g)].map(([, number]) => number ?? "");
      expect(numbersOf(labels)).toEqual(NEWEST_FIRST);
      expect(text).toMatch(variant === "json" ? /^\{"content":\[.*\]\}$/s : /<\/html>\s*$/);
    }
    const head = await call("HEAD", LINKS, { variant: "json" });
    expect([head.status, head.text, head.header("content-type")]).toEqual([200, "", "application/json; charset=utf-8"]);
  });

  it("is not read on when the client leaves, and counts as a transfer until then", async () => {
    const { open: ask, readCount, restart } = await open();
    restart();
    const { body } = await ask("GET", LINKS, { variant: "json" });
    expect((await ask("GET", "/home/reports/a.csv")).status).toBe(503);
    await body?.cancel();
    const left = readCount();
    expect(left).toBeLessThan(COUNT / 2);
    expect((await ask("GET", "/home/reports/a.csv")).status).toBe(200);
    expect(readCount()).toBe(left);
  });
});
