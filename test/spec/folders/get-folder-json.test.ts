import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, createTestService } from "../../support/service.ts";
import { overrideStorage, withLargeFolder } from "../../support/storage.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** The bytes of buffers that something still holds. */
function heldBuffers(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

interface Entry {
  readonly name: string;
  readonly is_directory: boolean;
  readonly modified: number;
  readonly size: number;
}

function entriesOf(answer: Answer): readonly Entry[] {
  return answer.json<{ content: readonly Entry[] }>().content;
}

describe("GET /home/<folder>/ as JSON", () => {
  it("answers 200, Server-Path and UTF-8 JSON (4.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/a.txt": "x" } });
    const answer = await call("GET", "/home/f/", { variant: "json" });
    expect(answer.status).toBe(200);
    expect(answer.header("server-path")).toBe("/f");
    expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
  });

  it("has a length if it is short: it is sent at once", async () => {
    const { call } = await createTestService({ files: { "/alice/ä.txt": "x" } });
    const answer = await call("GET", "/home/", { variant: "json" });
    expect(answer.header("content-length")).toBe(`${answer.bytes.byteLength}`);
  });

  it("lists every member with exactly the four fields of the spec (2.1)", async () => {
    const storage = createMemoryStorage({ clock: () => 1_715_000_123_456 });
    const files = { "/alice/a.txt": "content", "/alice/empty": "", "/alice/sub/deep": "x" };
    const { call } = await createTestService({ storage, files });
    const answer = await call("GET", "/home/", { variant: "json" });
    expect(Object.keys(answer.json<object>())).toEqual(["content"]);
    const modified = 1_715_000_123.456;
    expect([...entriesOf(answer)].sort((one, other) => (one.name < other.name ? -1 : 1))).toEqual([
      { name: "a.txt", is_directory: false, modified, size: 7 },
      { name: "empty", is_directory: false, modified, size: 0 },
      { name: "sub", is_directory: true, modified, size: 0 },
    ]);
  });

  it("gives modified in POSIX seconds with at most three decimals (2.1, CONTRACT 3.3)", async () => {
    for (const milliseconds of [1_700_000_000_000, 1_700_000_000_001, 1_700_000_000_120, 1_699_999_999_999, 1]) {
      const storage = createMemoryStorage({ clock: () => milliseconds });
      const { call } = await createTestService({ storage, files: { "/alice/a": "", "/alice/f/": "" } });
      const answer = await call("GET", "/home/", { variant: "json" });
      for (const { modified } of entriesOf(answer)) expect(modified * 1000).toBeCloseTo(milliseconds, 3);
      for (const [, number] of answer.text.matchAll(/"modified":([^,}]*)/g))
        expect(number).toMatch(/^\d+(\.\d{1,3})?$/);
    }
  });

  it("gives at most three decimals where the storage's clock is finer (CONTRACT 3.3)", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list() {
        yield { name: "old", kind: "file", size: 1, modified: new Date(-1500) };
        yield { name: "a", kind: "file", size: 1, modified: new Date(1_700_000_000_123.9) };
      },
    });
    const { call } = await createTestService({ storage });
    const answer = await call("GET", "/home/", { variant: "json" });
    expect(entriesOf(answer).map(({ modified }) => modified)).toEqual([-1.5, 1_700_000_000.123]);
  });

  it("shows size 0 for folders, whatever the storage says (2.1)", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list() {
        yield { name: "f", kind: "folder", size: 4096, modified: new Date(0) };
      },
    });
    const { call } = await createTestService({ storage });
    expect(entriesOf(await call("GET", "/home/", { variant: "json" }))).toEqual([
      { name: "f", is_directory: true, modified: 0, size: 0 },
    ]);
  });

  it("lists an empty folder as an empty list (2.1)", async () => {
    const { call } = await createTestService();
    expect((await call("GET", "/home/", { variant: "json" })).json()).toEqual({ content: [] });
  });

  it("lists members, not what is below them (2.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/g/h.txt": "x", "/alice/f/i.txt": "x" } });
    expect(entriesOf(await call("GET", "/home/f/", { variant: "json" })).map(({ name }) => name)).toEqual([
      "g",
      "i.txt",
    ]);
    expect(entriesOf(await call("GET", "/home/", { variant: "json" })).map(({ name }) => name)).toEqual(["f"]);
  });

  it("keeps the storage's order (CONTRACT 3.3)", async () => {
    const names = ["b", "Z", "a", "\u00e9", "1", "B"];
    const files = Object.fromEntries(names.map((name) => [`/alice/${name}`, ""]));
    const { call, storage } = await createTestService({ files });
    const order: string[] = [];
    for await (const { name } of storage.list("/alice")) order.push(name);
    expect(entriesOf(await call("GET", "/home/", { variant: "json" })).map(({ name }) => name)).toEqual(order);
  });

  it.each(['"quoted"', "back\u2028line", "\u{1f600}", "<script>", "caf\u00e9", "cafe\u0301", "__proto__", "a,b]}"])(
    "names a member %j as it is (2.1)",
    async (name) => {
      const { call } = await createTestService({ files: { [`/alice/${name}`]: "" } });
      expect(entriesOf(await call("GET", "/home/", { variant: "json" })).map((entry) => entry.name)).toEqual([name]);
    },
  );

  it("answers 404 for a missing folder and for a file (4.6, CONTRACT 2.5)", async () => {
    const { call } = await createTestService({ files: { "/alice/a.txt": "" } });
    for (const path of ["/home/missing/", "/home/a.txt/", "/home/a.txt/b/"]) {
      expect((await call("GET", path, { variant: "json" })).status).toBe(404);
    }
  });
});

describe("a listing of 100,000 members", () => {
  const SIZE = 100_000;

  it("is whole and well-formed (2.1, CONTRACT 3.3)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE);
    const { call } = await createTestService({ storage });
    const entries = entriesOf(await call("GET", "/home/", { variant: "json" }));
    expect(entries).toHaveLength(SIZE);
    expect(entries.at(-1)).toEqual({
      name: `member-${SIZE - 1}.txt`,
      is_directory: false,
      modified: (1_700_000_000_000 + SIZE - 1) / 1000,
      size: SIZE - 1,
    });
    expect(storage.folder.ended).toBe(true);
  });

  it("takes members from the storage only as the client reads (CONTRACT 3.3)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE);
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", { variant: "json" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(storage.folder.taken).toBeLessThan(2000);
    let bytes = 0;
    let ahead = 0;
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      // No member takes more than 100 bytes of text, nor less than 70.
      ahead = Math.max(ahead, storage.folder.taken - bytes / 100);
      expect(storage.folder.taken * 70).toBeLessThan(bytes + 2000 * 100);
    }
    expect(storage.folder.taken).toBe(SIZE);
    expect(ahead).toBeLessThan(SIZE / 2);
  });

  it("does not grow memory with the response (CONTRACT 3.3)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE * 3);
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", { variant: "json" });
    let bytes = 0;
    let measuredAt = 0;
    let peak = 0;
    const before = heldBuffers();
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes - measuredAt < 2_000_000) continue;
      measuredAt = bytes;
      peak = Math.max(peak, heldBuffers() - before);
    }
    expect(bytes).toBeGreaterThan(20_000_000);
    expect(peak).toBeLessThan(bytes);
  });

  it("ends in the storage when the client goes away (CONTRACT 3.3, SECURITY 11)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE);
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", { variant: "json" });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(storage.folder.ended).toBe(true);
    expect(storage.folder.taken).toBeLessThan(2000);
  });

  it("ends in the storage when its answer is never read (SECURITY 11)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE);
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", { variant: "json" });
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(storage.folder.ended).toBe(true);
    expect(storage.folder.taken).toBeLessThan(2000);
  });

  it("is not read for HEAD (4.2)", async () => {
    const storage = withLargeFolder(createMemoryStorage(), SIZE);
    const { call } = await createTestService({ storage });
    expect((await call("HEAD", "/home/", { variant: "json" })).status).toBe(200);
    expect(storage.folder.taken).toBeLessThan(2000);
    expect(storage.folder.ended).toBe(true);
  });

  it("breaks off where the storage fails midway, instead of looking whole (SECURITY 9)", async () => {
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async *list() {
        for (let index = 0; index < 5000; index++)
          yield { name: `${index}`, kind: "file", size: 0, modified: new Date(0) };
        throw new StorageError("unavailable", "disk on fire");
      },
    });
    const { open } = await createTestService({ storage });
    const response = await open("GET", "/home/", { variant: "json" });
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });
});
