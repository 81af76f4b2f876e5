import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { ByteSource } from "../../src/contracts/byte-source.ts";
import { toByteStream } from "../../src/contracts/byte-source.ts";
import { type StorageAdapter, type StorageEntry, StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { AUTHORIZATION, type Served, serve } from "../support/served.ts";
import { overrideStorage } from "../support/storage.ts";
import { readZip } from "../unit/archive/read-zip.ts";

const MODIFIED = new Date("2018-05-04T12:34:56Z");
/**
 * More than any buffer between a storage and a client: what is wrong with the last member shows when the first ones are
 * there.
 */
const LARGE = 8_000_000;
const SIZES = { "1-good.bin": LARGE, "2-bad.bin": 0, "3-good.bin": 500 };

let served: Served | undefined;

afterEach(() => served?.close());

describe.each([
  ["a small member", 1000],
  ["a large member", LARGE],
])("%s of an archive on its way to a client", (_, size) => {
  describe.each([
    ["with a length", true],
    ["without a length", false],
  ])("%s", (_length, isPlanned) => {
    it.each<[string, number, number | undefined]>([
      ["fails at its first byte", size, 0],
      ["fails in its middle", size, size / 2],
      ["fails at its last byte", size, size - 1],
      ["is cut short by one byte", size - 1, undefined],
      ["grows by one byte", size + 1, undefined],
    ])("that %s breaks the transfer off", async (_name, actual, failsAt) => {
      const opened = new Set<string>();
      served = await serve(createStorage({ size, actual, failsAt, isPlanned, opened }));
      const response = await get(`${served.origin}/home/`);
      expect(response.statusCode).toBe(200);
      expect(response.headers["content-length"] !== undefined).toBe(isPlanned);
      const { bytes, isWhole } = await readUntilBroken(response);
      expect(isWhole).toBe(false);
      expect(() => readZip(bytes)).toThrow();
      await expect.poll(() => [...opened]).toEqual([]);
    });
  });
});

describe("an archive", () => {
  it("whose client goes away lets its members go", async () => {
    const opened = new Set<string>();
    served = await serve(createStorage({ size: LARGE, actual: LARGE, isPlanned: true, opened }));
    const response = await get(`${served.origin}/home/`);
    await once(response, "data");
    expect(opened.size).toBeGreaterThan(0);
    response.destroy();
    await expect.poll(() => [...opened]).toEqual([]);
  });
});

interface Fault {
  /** The size of the bad member, as the storage reports it. */
  readonly size: number;
  /** How many bytes it has. */
  readonly actual: number;
  readonly failsAt?: number | undefined;
  /** Whether the members can be listed soon enough for a length. */
  readonly isPlanned: boolean;
  /** Gets the names of what is open. */
  readonly opened: Set<string>;
}

function createStorage({ size, actual, failsAt, isPlanned, opened }: Fault): StorageAdapter {
  const sizes: Readonly<Record<string, number>> = { ...SIZES, "2-bad.bin": size };

  function toEntry(name: string): StorageEntry {
    return { name, kind: "file", size: sizes[name] ?? 0, modified: MODIFIED };
  }

  async function* list(): AsyncGenerator<StorageEntry> {
    for (const name of Object.keys(sizes)) yield toEntry(name);
    if (isPlanned) return;
    for (let index = 0; index < 11_000; index++) yield toEntry(`9-${index}`);
  }

  function open(name: string): ByteSource {
    const isBad = name === "2-bad.bin";
    let left = isBad ? actual : (sizes[name] ?? 0);
    const end = isBad && failsAt !== undefined ? actual - failsAt : undefined;
    opened.add(name);
    return {
      async readInto(buffer) {
        if (left === end) {
          opened.delete(name);
          throw new StorageError("unavailable", "the read failed");
        }
        const count = Math.min(buffer.byteLength, 100_000, end === undefined ? left : left - end);
        left -= count;
        if (left === 0) opened.delete(name);
        return count;
      },
      async close() {
        opened.delete(name);
      },
    };
  }

  return overrideStorage(createMemoryStorage(), {
    list,
    async read(path) {
      const name = path.slice(1);
      const source = open(name);
      return { entry: toEntry(name), source, body: toByteStream(source) };
    },
  });
}

async function get(url: string): Promise<IncomingMessage> {
  const sent = request(url, { headers: { accept: "application/zip", authorization: AUTHORIZATION } });
  sent.end();
  const [response] = await once(sent, "response");
  return response;
}

async function readUntilBroken(response: IncomingMessage): Promise<{ bytes: Buffer; isWhole: boolean }> {
  const chunks: Buffer[] = [];
  response.on("data", (chunk) => chunks.push(chunk));
  response.on("error", () => undefined);
  await new Promise((resolve) => response.on("close", resolve));
  return { bytes: Buffer.concat(chunks), isWhole: response.complete };
}
