import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { openFolder } from "../../src/archive/entries.ts";
import type { ZipEntry } from "../../src/archive/read-ahead.ts";
import { toByteSource } from "../../src/contracts/byte-source.ts";
import type { StorageEntry } from "../../src/contracts/storage-adapter.ts";
import { readZip } from "../unit/archive/read-zip.ts";
import { entryOf, streamZip } from "../unit/archive/zip-entries.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const MODIFIED = new Date("2018-05-04T12:34:56Z");
const SMALL = 1000;
const LARGE = 500_000;

describe.each([
  ["a member of one chunk", SMALL],
  ["a large member", LARGE],
])("%s", (_, size) => {
  it.each([
    ["ends early", (content: Source) => content.end(size - 1)],
    ["is empty", (content: Source) => content.end(0)],
    ["goes on", (content: Source) => content.end(size + 1)],
    ["fails at its first byte", (content: Source) => content.fail(0)],
    ["fails midway", (content: Source) => content.fail(size / 2)],
    ["fails at its very end", (content: Source) => content.fail(size)],
  ])("that %s breaks the archive off, which nothing takes for whole", async (_name, damage) => {
    const source = createSource();
    damage(source);
    const after = createSource();
    after.end(3);
    let hasEnded = false;

    async function* entries(): AsyncGenerator<ZipEntry> {
      try {
        yield toEntry("good", 5, goodBody());
        yield toEntry("bad", size, source.body);
        yield toEntry("after", 3, after.body);
      } finally {
        hasEnded = true;
      }
    }

    const { bytes, error } = await readUntilError(streamZip(entries()));
    expect(error).toBeInstanceOf(Error);
    expect(() => readZip(bytes)).toThrow();
    expect(bytes.includes("PK\u0001\u0002")).toBe(false);
    expect(source.isOpen()).toBe(false);
    expect(after.isOpen()).toBe(false);
    await expect.poll(() => hasEnded).toBe(true);
  });

  it("whose reading is cancelled is closed at once, and the walk with it", async () => {
    const sources: Source[] = [];
    let hasEnded = false;

    async function* entries(): AsyncGenerator<ZipEntry> {
      try {
        for (;;) {
          const source = createSource();
          source.end(size);
          sources.push(source);
          yield toEntry("a", size, source.body);
        }
      } finally {
        hasEnded = true;
      }
    }

    const reader = streamZip(entries()).getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(() => hasEnded).toBe(true);
    expect(sources.filter((source) => source.isOpen())).toEqual([]);
  });

  it("that never answers is let go when the archive is cancelled", async () => {
    const source = createSource();
    source.hang(size / 2);
    const reader = streamZip([toEntry("a", size, source.body)]).getReader();
    const reading = readToEnd(reader);
    await expect.poll(() => source.isHanging()).toBe(true);
    await reader.cancel("enough");
    await reading;
    expect(source.isOpen()).toBe(false);
  });
});

describe("a cancelled archive", () => {
  it("that nobody has read from has opened nothing", async () => {
    const opened: string[] = [];
    const entries = await openFolder(toFolder(10, opened), [], () => undefined);
    await streamZip(entries).cancel();
    expect(opened).toEqual([]);
  });

  it("lets a member go that was being opened at that moment", async () => {
    const source = createSource();
    source.end(LARGE);
    let opened: (() => void) | undefined;

    async function* entries(): AsyncGenerator<ZipEntry> {
      await new Promise<void>((resolve) => {
        opened = resolve;
      });
      yield toEntry("late", LARGE, source.body);
    }

    const reader = streamZip(entries()).getReader();
    const reading = reader.read();
    await expect.poll(() => opened !== undefined).toBe(true);
    await reader.cancel();
    opened?.();
    await reading;
    await expect.poll(() => source.isOpen()).toBe(false);
  });

  it("does not wait for a listing that never comes", async () => {
    async function* entries(): AsyncGenerator<ZipEntry> {
      await new Promise(() => undefined);
    }

    const reader = streamZip(entries()).getReader();
    const reading = reader.read();
    await reader.cancel();
    expect((await reading).done).toBe(true);
  });
});

describe("a failing walk", () => {
  it("breaks the archive off", async () => {
    async function* entries(): AsyncGenerator<ZipEntry> {
      yield toEntry("good", 5, goodBody());
      throw new Error("the disk is gone");
    }

    const { bytes, error } = await readUntilError(streamZip(entries()));
    expect(error).toMatchObject({ message: "the disk is gone" });
    expect(() => readZip(bytes)).toThrow();
  });
});

describe("the pace of an archive", () => {
  it("is the reader's: nothing is read before it asks, and never more than a chunk ahead", async () => {
    const source = createSource();
    source.end(LARGE);
    const stream = streamZip([toEntry("a", LARGE, source.body)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(source.taken()).toBe(0);

    const reader = stream.getReader();
    let received = 0;
    for (let round = 0; round < 5; round++) {
      received += (await reader.read()).value?.byteLength ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(source.taken()).toBeLessThanOrEqual(received + CHUNK);
    }
    await reader.cancel();
  });

  it("leaves memory flat: 100,000 members in one folder", async () => {
    const entries = await openFolder(toFolder(100_000, []), [], () => undefined);
    const reader = streamZip(entries).getReader();
    let length = 0;
    let peak = 0;
    let measured = 0;
    await reader.read();
    const before = usedMemory();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.byteLength;
      if (length - measured < 1e6) continue;
      measured = length;
      peak = Math.max(peak, usedMemory());
    }
    expect(length).toBeGreaterThan(100_000 * 120);
    // The central directory grows to 9 MB; nothing that was sent is kept.
    expect(peak - before).toBeLessThan(15e6);
  });
});

const CHUNK = 65_536;

/** A content that ends, fails or hangs at a place. */
interface Source {
  readonly body: ReadableStream<Uint8Array>;
  end(at: number): void;
  fail(at: number): void;
  hang(at: number): void;
  taken(): number;
  isHanging(): boolean;
  /** Neither read to its end, nor failed, nor cancelled. */
  isOpen(): boolean;
}

function createSource(): Source {
  let plan: { readonly at: number; readonly next: "end" | "fail" | "hang" } = { at: 0, next: "end" };
  let taken = 0;
  let isOpen = true;
  let isHanging = false;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const length = Math.min(CHUNK, plan.at - taken);
    if (length > 0) {
      taken += length;
      return controller.enqueue(new Uint8Array(length));
    }
    if (plan.next === "hang") {
      isHanging = true;
      return new Promise(() => undefined);
    }
    isOpen = false;
    if (plan.next === "end") return controller.close();
    throw new Error("the read failed");
  }

  const cancel = () => {
    isOpen = false;
  };
  return {
    body: new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 }),
    end: (at) => {
      plan = { at, next: "end" };
    },
    fail: (at) => {
      plan = { at, next: "fail" };
    },
    hang: (at) => {
      plan = { at, next: "hang" };
    },
    taken: () => taken,
    isHanging: () => isHanging,
    isOpen: () => isOpen,
  };
}

/** A folder of small files, made as they are listed and read. */
function toFolder(size: number, opened: string[]): Parameters<typeof openFolder>[0] {
  const entry = (name: string): StorageEntry => ({ name, kind: "file", size: 10, modified: MODIFIED });
  return {
    async *list() {
      for (let index = 0; index < size; index++) yield entry(`member-${index}.txt`);
    },
    mayRead: async () => true,
    async read(segments) {
      const name = segments.at(-1) ?? "";
      if (size < 100) opened.push(name);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new Uint8Array(10));
          controller.close();
        },
      });
      return { entry: entry(name), body };
    },
  };
}

function goodBody(): ReadableStream<Uint8Array> {
  const source = createSource();
  source.end(5);
  return source.body;
}

function toEntry(name: string, size: number, body: ReadableStream<Uint8Array>): ZipEntry {
  return entryOf(name, { modified: MODIFIED, size, source: toByteSource(body) });
}

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  return Buffer.concat(chunks);
}

/** What came before a stream failed, and why it did. */
async function readUntilError(stream: ReadableStream<Uint8Array>): Promise<{ bytes: Buffer; error: unknown }> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) chunks.push(chunk);
    return { bytes: Buffer.concat(chunks), error: undefined };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error };
  }
}

/** What is held, without what a collection has only not come to. */
function usedMemory(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
