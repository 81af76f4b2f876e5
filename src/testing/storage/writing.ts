import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import {
  areSameBytes,
  bodyBytes,
  inChunks,
  namesIn,
  noise,
  put,
  readFileText,
  textChunks,
  untouched,
} from "./content.ts";

/** Cases about writes that succeed, or are rejected because of their path. */
export const writingCases: readonly StorageCase[] = [
  {
    name: "write: stores a file and resolves with its entry",
    async run({ storage }) {
      const entry = await put(storage, "/file", "hello");
      expectEqual([entry.name, entry.kind, entry.size], ["file", "file", 5], "entry");
      expectEqual(entry, await storage.stat("/file"), "entry as stat returns it");
      expectEqual(await readFileText(storage, "/file"), "hello", "text");
    },
  },
  {
    name: "write: replaces a file with a longer and with a shorter one",
    async run({ storage }) {
      for (const text of ["middle", "somewhat longer", "short"]) {
        const entry = await put(storage, "/file", text);
        expectEqual([await readFileText(storage, "/file"), entry.size], [text, text.length], "text and size");
      }
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
    },
  },
  {
    name: "write: creates an empty file from no chunk and from an empty chunk",
    async run({ storage }) {
      expectEqual((await storage.write("/none", textChunks())).size, 0, "size of no chunk");
      expectEqual((await storage.write("/empty", textChunks(""), { size: 0 })).size, 0, "size of an empty chunk");
      expectEqual([await readFileText(storage, "/none"), await readFileText(storage, "/empty")], ["", ""], "texts");
    },
  },
  {
    name: "write: an empty file replaces a file with content",
    async run({ storage }) {
      await put(storage, "/file", "full");
      await storage.write("/file", textChunks(), { size: 0 });
      expectEqual(
        [await readFileText(storage, "/file"), (await storage.stat("/file"))?.size],
        ["", 0],
        "text and size",
      );
    },
  },
  {
    name: "write: joins chunks of any size, including empty ones",
    async run({ storage }) {
      await storage.write("/file", textChunks("a", "", "bcd", "", "", "e"), { size: 5 });
      expectEqual(await readFileText(storage, "/file"), "abcde", "text");
    },
  },
  {
    name: "write: stores several MiB of binary content unchanged, with and without a size",
    async run({ storage }) {
      const bytes = noise(5 * 1_048_576 + 17, 1);
      await storage.write("/sized", inChunks(bytes, 65_536), { size: bytes.byteLength });
      await storage.write("/unsized", inChunks(bytes, 999_983));
      for (const path of ["/sized", "/unsized"]) {
        const { entry, body } = await storage.read(path);
        expectEqual(entry.size, bytes.byteLength, "size");
        expect(areSameBytes(await bodyBytes(body), bytes), `${path} has the bytes that were written`);
      }
    },
  },
  {
    name: "write: copies bytes if the source reuses one buffer",
    async run({ storage }) {
      async function* reusing(): AsyncGenerator<Uint8Array> {
        const buffer = new Uint8Array(4);
        for (const byte of [97, 98, 99]) yield buffer.fill(byte);
        buffer.fill(120);
      }
      await storage.write("/file", reusing());
      expectEqual(await readFileText(storage, "/file"), "aaaabbbbcccc", "text");
    },
  },
  {
    name: "write: parent-missing below a missing folder, not-a-folder below a file, not-a-file for a folder and the root",
    async run({ storage }) {
      await storage.createFolder("/folder");
      await put(storage, "/folder/kept", "kept");
      await put(storage, "/file", "kept");
      const content = untouched();
      await expectRefusal(storage.write("/missing/a", content), "parent-missing");
      await expectRefusal(storage.write("/missing/a/b", content), "parent-missing");
      await expectRefusal(storage.write("/file/a", content), "not-a-folder");
      await expectRefusal(storage.write("/file/a/b", content), "not-a-folder");
      await expectRefusal(storage.write("/folder", content), "not-a-file");
      await expectRefusal(storage.write("/", content), "not-a-file");
      expect(!content.wasTouched(), "content was left alone");
      expectEqual(
        [await readFileText(storage, "/folder/kept"), await readFileText(storage, "/file")],
        ["kept", "kept"],
        "content",
      );
      expectEqual(await namesIn(storage, "/"), ["file", "folder"], "members");
    },
  },
  {
    name: "write: 20 parallel writers of one path leave one complete file",
    async run({ storage }) {
      const contents = Array.from({ length: 20 }, (_, writer) => noise(50_000 + writer, writer));
      await Promise.all(contents.map((bytes) => storage.write("/race", inChunks(bytes, 7_919))));
      const { entry, body } = await storage.read("/race");
      const found = await bodyBytes(body);
      expectEqual(entry.size, found.byteLength, "size");
      expect(
        contents.some((bytes) => areSameBytes(bytes, found)),
        "the file is whole, of one writer",
      );
      expectEqual(await namesIn(storage, "/"), ["race"], "members");
    },
  },
  {
    name: "write: readers during 30 overwrites see complete versions only",
    async run({ storage }) {
      await storage.write("/file", inChunks(noise(40_000, 0), 10_000));
      let isWriting = true;
      const writer = async () => {
        for (let version = 1; version <= 30; version += 1) {
          await storage.write("/file", inChunks(noise(40_000 + version, version), 10_000));
        }
      };
      const reader = async () => {
        while (isWriting) {
          const { entry, body } = await storage.read("/file");
          const version = entry.size - 40_000;
          expect(areSameBytes(await bodyBytes(body), noise(entry.size, version)), `version ${version} came whole`);
        }
      };
      const readers = [reader(), reader(), reader()];
      await writer().finally(() => {
        isWriting = false;
      });
      await Promise.all(readers);
    },
  },
  {
    name: "entity-tags of one version are equal in write, read, stat and list",
    needs: "strongTags",
    async run({ storage }) {
      const { etag } = await put(storage, "/file", "text");
      expect(/^"[\x21\x23-\x7e]*"$/.test(etag ?? ""), `${etag} is a strong entity-tag`);
      const { entry, body } = await storage.read("/file");
      await body.cancel();
      const listed: unknown[] = [];
      for await (const member of storage.list("/")) listed.push(member.etag);
      expectEqual([entry.etag, (await storage.stat("/file"))?.etag, ...listed], [etag, etag, etag], "read, stat, list");
    },
  },
  {
    name: "entity-tags of different contents differ, even with equal size and in quick succession",
    needs: "strongTags",
    async run({ storage }) {
      const tags = new Set<string | undefined>();
      for (let version = 0; version < 60; version += 1)
        tags.add((await put(storage, "/file", `${1000 + version}`)).etag);
      expectEqual(tags.size, 60, "different tags of 60 versions");
    },
  },
];
