import { expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

/** How many copies of folders of an account run at a time. */
const MOST = 4;

/** A service whose storage copies a folder only when the test lets it. */
async function createWaiting(): Promise<{
  test: TestService;
  started: string[];
  end: (path: string) => void;
}> {
  const base = createMemoryStorage();
  await fillStorage(base, { "/alice/f/a.txt": "a", "/alice/a.txt": "a", "/bob/f/a.txt": "a" });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const copy: StorageAdapter["copy"] = async (from, to, options) => {
    if (options?.kind === "folder") {
      started.push(to);
      await new Promise<void>((resolve) => ends.set(to, resolve));
    }
    return base.copy(from, to, options);
  };
  const test = await createTestService({ storage: overrideStorage(base, { copy }) });
  return { test, started, end: (path) => ends.get(path)?.() };
}

/** Sends a command, and resolves with the status of the response. */
async function send(
  { call }: TestService,
  [command, target, destination]: readonly [string, string, string],
  options: { readonly as?: "bob"; readonly signal?: AbortSignal } = {},
): Promise<number> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ commands: [{ command, target, destination }] });
  return (await call("POST", "/home/", { body, variant: "json", headers, ...options })).status;
}

it("four folders of an account are copied at a time; files, moves and other accounts do not wait", async () => {
  const { test, started, end } = await createWaiting();
  const copies = Array.from({ length: MOST }, (_, index) => send(test, ["copy", "f", `copy-${index}`]));
  await expect.poll(() => started).toHaveLength(MOST);
  const client = new AbortController();
  const left = send(test, ["copy", "f", "left"], { signal: client.signal }).catch(() => "left");
  const last = send(test, ["copy", "f", "last"]);
  expect(await send(test, ["copy", "a.txt", "b.txt"])).toBe(200);
  expect(await send(test, ["move", "b.txt", "c.txt"])).toBe(200);
  const other = send(test, ["copy", "f", "g"], { as: "bob" });
  await expect.poll(() => started).toContain("/bob/g");
  end("/bob/g");
  expect(await other).toBe(200);
  expect(started).toHaveLength(MOST + 1);
  client.abort();
  await left;
  end("/alice/copy-0");
  expect(await copies[0]).toBe(200);
  await expect.poll(() => started).toContain("/alice/last");
  for (const path of ["/alice/last", ...copies.map((_, index) => `/alice/copy-${index}`)]) end(path);
  expect([await last, ...(await Promise.all(copies))]).toEqual(Array(MOST + 1).fill(200));
  // The client that disconnected while it waited has copied nothing.
  expect(started).not.toContain("/alice/left");
  expect(await test.storage.stat("/alice/left")).toBeUndefined();
});
