import type { ByteSource } from "../../contracts/byte-source.ts";
import { toStrongTag } from "../../contracts/entity-tags.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal, rejectionOf } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { areSameBytes, bodyBytes, bodyText, inChunks, noise, put, readFileText } from "./content.ts";

const TEXT = "0123456789";
const RANGES: readonly (readonly [offset: number, length: number, expected: string])[] = [
  [0, 10, "0123456789"],
  [0, 1, "0"],
  [0, 4, "0123"],
  [3, 4, "3456"],
  [9, 1, "9"],
  [6, 4, "6789"],
  [6, 1000, "6789"],
  [0, Number.MAX_SAFE_INTEGER, "0123456789"],
  [10, 1, ""],
  [11, 5, ""],
  [Number.MAX_SAFE_INTEGER - 1, 1, ""],
  [0, 0, ""],
  [5, 0, ""],
];

/** What `moveByCopying` tells versions by. */
function toVersion(entry: StorageEntry | undefined): unknown {
  return toStrongTag(entry?.etag) ?? [entry?.size, entry?.modified];
}

/** Cases about `read`. */
export const readingCases: readonly StorageCase[] = [
  {
    name: "list, stat, read and write: a version has the same strong entity-tag everywhere, or the same size and time",
    async run({ storage }) {
      await storage.createFolder("/folder");
      const version = toVersion(await put(storage, "/folder/file", TEXT));
      const { entry, body } = await storage.read("/folder/file");
      expectEqual(await bodyText(body), TEXT, "text");
      expectEqual(toVersion(entry), version, "version of read");
      expectEqual(toVersion(await storage.stat("/folder/file")), version, "version of stat");
      for await (const member of storage.list("/folder")) expectEqual(toVersion(member), version, "version of list");
    },
  },
  {
    name: "read: returns the complete file with its entry",
    async run({ storage }) {
      await put(storage, "/file", TEXT);
      const { entry, body } = await storage.read("/file");
      expectEqual(entry, await storage.stat("/file"), "entry");
      expectEqual(await bodyText(body), TEXT, "text");
    },
  },
  {
    name: "read: not-found for a missing file, not-a-file for a folder and the root",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/file", TEXT);
      for (const path of ["/missing", "/missing/a", "/file/a", "/file/a/b"]) {
        await expectRefusal(storage.read(path), "not-found");
      }
      for (const path of ["/folder", "/"]) await expectRefusal(storage.read(path), "not-a-file");
    },
  },
  {
    name: "read: returns ranges at the start, in the middle, at the end, after the end, and of length 0",
    async run({ storage }) {
      await put(storage, "/file", TEXT);
      for (const [offset, length, expected] of RANGES) {
        const { entry, body } = await storage.read("/file", { offset, length });
        expectEqual([entry.size, await bodyText(body)], [10, expected], `size, and text of ${length} from ${offset}`);
      }
    },
  },
  {
    name: "read: returns empty ranges of an empty file",
    async run({ storage }) {
      await put(storage, "/empty", "");
      for (const range of [undefined, { offset: 0, length: 0 }, { offset: 0, length: 5 }, { offset: 7, length: 5 }]) {
        const { entry, body } = await storage.read("/empty", range);
        expectEqual([entry.size, await bodyText(body)], [0, ""], "size and text");
      }
    },
  },
  {
    name: "read: returns ranges of a file of several MiB that was written in odd chunks",
    async run({ storage }) {
      const bytes = noise(3 * 1_048_576 + 1, 7);
      await storage.write("/file", inChunks(bytes, 77_777));
      for (const [offset, length] of [
        [0, 1],
        [77_776, 2],
        [262_143, 262_146],
        [1_000_000, 2_000_000],
        [3 * 1_048_576, 1],
      ]) {
        const start = offset ?? 0;
        const { body } = await storage.read("/file", { offset: start, length: length ?? 0 });
        const found = await bodyBytes(body);
        expect(areSameBytes(found, bytes.subarray(start, start + (length ?? 0))), `${length} bytes from ${offset}`);
      }
    },
  },
  {
    name: "read: a source, if there is one, has the bytes of the body and can be closed at any time",
    async run({ storage }) {
      const bytes = noise(300_000, 4);
      await storage.write("/file", inChunks(bytes, 100_000));
      for (const range of [undefined, { offset: 7, length: 200_000 }, { offset: 299_990, length: 99 }]) {
        const wanted = bytes.subarray(range?.offset ?? 0, (range?.offset ?? 0) + (range?.length ?? bytes.byteLength));
        const { source, body } = await storage.read("/file", range);
        const found = source === undefined ? await bodyBytes(body) : await sourceBytes(source);
        expect(areSameBytes(found, wanted), "the bytes of the source");
      }
      for (let round = 0; round < 30; round += 1) {
        const { source, body } = await storage.read("/file");
        if (source === undefined) await body.cancel();
        if (source === undefined || !("readInto" in source)) continue;
        const reading = round % 2 === 0 ? source.readInto(new Uint8Array(10)) : undefined;
        await Promise.all([source.close(), source.close()]);
        await reading;
        await source.close();
      }
    },
  },
  {
    name: "read: two readers of one file do not affect each other",
    async run({ storage }) {
      const bytes = noise(1_000_000, 3);
      await storage.write("/file", inChunks(bytes, 100_000));
      const [one, other] = await Promise.all([
        storage.read("/file"),
        storage.read("/file", { offset: 5, length: 900_000 }),
      ]);
      const [first, second] = await Promise.all([bodyBytes(one.body), bodyBytes(other.body)]);
      expect(areSameBytes(first, bytes), "the whole file");
      expect(areSameBytes(second, bytes.subarray(5, 900_005)), "the part");
    },
  },
  {
    name: "read: a reader that changes its chunks does not change the file",
    async run({ storage }) {
      await put(storage, "/file", TEXT);
      (await bodyChunk((await storage.read("/file")).body)).fill(0);
      expectEqual(await readFileText(storage, "/file"), TEXT, "text");
    },
  },
  {
    name: "read: a read that started before an overwrite returns the complete previous version",
    async run({ storage }) {
      const previous = noise(2_000_000, 1);
      await storage.write("/file", inChunks(previous, 500_000));
      const before = await storage.stat("/file");
      const unread = await storage.read("/file");
      const opened = await storage.read("/file");
      const reader = opened.body.getReader();
      const first = (await reader.read()).value ?? new Uint8Array();
      await storage.write("/file", inChunks(noise(3_000_000, 2), 500_000));
      reader.releaseLock();
      const rest = await bodyBytes(opened.body);
      expectEqual([unread.entry, opened.entry], [before, before], "entries");
      expect(areSameBytes(await bodyBytes(unread.body), previous), "unread body is the previous file");
      expectEqual(first.byteLength + rest.byteLength, previous.byteLength, "bytes of the half-read body");
      expect(areSameBytes(rest, previous.subarray(first.byteLength)), "half-read body is the previous file");
    },
  },
  {
    name: "read: a read that started before a removal returns the complete file or fails",
    async run({ storage }) {
      const bytes = noise(2_000_000, 1);
      await storage.write("/file", inChunks(bytes, 500_000));
      const { body } = await storage.read("/file");
      await storage.remove("/file");
      const found = await bodyBytes(body).catch(() => bytes);
      expect(areSameBytes(found, bytes), "the body was whole");
      expectEqual(await storage.stat("/file"), undefined, "stat");
    },
  },
  {
    name: "read: 300 bodies that are cancelled unread or half read leave no resources open",
    async run({ storage }) {
      await storage.write("/file", inChunks(noise(1_000_000, 1), 500_000));
      for (let round = 0; round < 300; round += 1) {
        const { body } = await storage.read("/file");
        const reader = body.getReader();
        if (round % 3 === 1) await reader.read();
        const pending = round % 3 === 2 ? reader.read() : undefined;
        await reader.cancel();
        await pending;
      }
      await put(storage, "/file", "new");
      expectEqual(await readFileText(storage, "/file"), "new", "text");
      await storage.remove("/file");
    },
  },
  {
    name: "read: a body can be cancelled after its end",
    async run({ storage }) {
      await put(storage, "/file", TEXT);
      const { body } = await storage.read("/file");
      await bodyText(body);
      await body.cancel();
      const empty = await storage.read("/file", { offset: 99, length: 1 });
      await empty.body.cancel();
      expectEqual(await readFileText(storage, "/file"), TEXT, "text");
    },
  },
  {
    name: "read: 30 parallel readers of a file that appears and disappears get complete files or not-found",
    async run({ storage }) {
      const bytes = noise(100_000, 5);
      const reader = async () => {
        for (let round = 0; round < 5; round += 1) {
          const opened = await storage.read("/file").catch((error: unknown) => ({ error }));
          if ("error" in opened) await expectRefusal(Promise.reject(opened.error), "not-found");
          else expect(areSameBytes(await bodyBytes(opened.body).catch(() => bytes), bytes), "the body was whole");
        }
      };
      const changer = async () => {
        for (let round = 0; round < 5; round += 1) {
          await storage.write("/file", inChunks(bytes, 30_000));
          await storage.remove("/file");
        }
      };
      await Promise.all([changer(), ...Array.from({ length: 30 }, reader)]);
      await rejectionOf(storage.read("/file"));
    },
  },
];

/** Reads all bytes of a source, with buffers of an odd size. */
async function sourceBytes(source: Uint8Array | ByteSource): Promise<Uint8Array> {
  if (!("readInto" in source)) return source;
  const buffer = new Uint8Array(7919);
  const parts: number[] = [];
  for (let count = await source.readInto(buffer); count > 0; count = await source.readInto(buffer)) {
    for (const byte of buffer.subarray(0, count)) parts.push(byte);
  }
  expectEqual(await source.readInto(buffer), 0, "bytes after the end");
  await source.close();
  return Uint8Array.from(parts);
}

async function bodyChunk(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const reader = body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return value ?? new Uint8Array();
}
