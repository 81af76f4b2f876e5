import { hasCode } from "../../contracts/storage-adapter.ts";
import type { UploadKey } from "../../contracts/storage-uploads.ts";
import { expect, expectEqual, expectRefusal, rejectionOf } from "../expectations.ts";
import { areSameBytes, bodyBytes, inChunks, namesIn, noise, put, readFileText, stalled } from "../storage/content.ts";
import type { UploadCase } from "./case.ts";
import { appendText, beginUpload, newKey, offsetOf, uploadsOf } from "./setup.ts";

/** Cases about joined uploads, and about several processes. */
export const partCases: readonly UploadCase[] = [
  {
    name: "read: yields the bytes that are stored",
    needs: "read",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc", "def");
      await appendText(storage, key, 6, "g");
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of uploadsOf(storage).read?.(key) ?? []) text += decoder.decode(chunk, { stream: true });
      expectEqual(text, "abcdefg", "text");
      await uploadsOf(storage).complete(key);
      const read = uploadsOf(storage).read?.(key)[Symbol.asyncIterator]();
      await expectRefusal(read?.next() ?? Promise.resolve(), "not-found");
    },
  },
  {
    name: "join: makes a file of several uploads in their order, and keeps them",
    needs: "join",
    async run({ storage }) {
      const { join } = uploadsOf(storage);
      const [one, two] = [await beginUpload(storage, "/part"), await beginUpload(storage, "/part")];
      await appendText(storage, one.key, 0, "abc");
      await appendText(storage, two.key, 0, "de");
      const entry = await join?.([two.key, one.key, two.key], "/file", { size: 7 });
      expectEqual(entry, await storage.stat("/file"), "entry");
      expectEqual(await readFileText(storage, "/file"), "deabcde", "text");
      expectEqual([await offsetOf(storage, one.key), await offsetOf(storage, two.key)], [3, 2], "offsets");
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
    },
  },
  {
    name: "join: takes uploads of any size that were created with `isPartial`, again and again",
    needs: "join",
    async run({ storage }) {
      const contents = [noise(6 * 1_048_576 + 1, 2), noise(10, 3)] as const;
      const keys: UploadKey[] = [];
      for (const [index, bytes] of contents.entries()) {
        const { key } = await beginUpload(storage, `/part-${index}`, { isPartial: true });
        await uploadsOf(storage).append(key, 0, inChunks(bytes, 65_536));
        keys.push(key);
      }
      const order = [1, 0, 1, 0] as const;
      const expected = await bodyBytes(new Blob(order.map((index) => new Uint8Array(contents[index]))).stream());
      for (const path of ["/one", "/two"]) {
        await uploadsOf(storage).join?.(
          order.map((index) => keys[index] ?? newKey()),
          path,
        );
        expect(areSameBytes(await bodyBytes((await storage.read(path)).body), expected), `the bytes of ${path}`);
      }
      for (const key of keys) expectEqual(await uploadsOf(storage).discard(key), "unfinished", "discard");
      expectEqual(await namesIn(storage, "/"), ["one", "two"], "members");
    },
  },
  {
    name: "join: refuses as a write does, and leaves the file",
    needs: "join",
    async run({ storage }) {
      const join = uploadsOf(storage).join as NonNullable<ReturnType<typeof uploadsOf>["join"]>;
      await put(storage, "/file", "previous");
      const { key } = await beginUpload(storage, "/part");
      await appendText(storage, key, 0, "abc");
      await expectRefusal(join([key, newKey()], "/file"), "not-found");
      await expectRefusal(join([key], "/file", { ifNoneMatch: "*" }), "precondition-failed");
      await expectRefusal(join([key], "/file", { size: 4 }), "incomplete");
      await expectRefusal(join([key], "/missing/file"), "parent-missing");
      const done = await beginUpload(storage, "/done");
      await uploadsOf(storage).complete(done.key);
      await expectRefusal(join([key, done.key], "/file"), "not-found");
      expectEqual(await readFileText(storage, "/file"), "previous", "text");
    },
  },
  {
    name: "another process continues an upload, completes it, and sees that it is done",
    needs: "open",
    async run({ storage, open }) {
      const other = await (open as NonNullable<typeof open>)();
      const { key } = await beginUpload(storage, "/file", { size: 6 });
      await appendText(storage, key, 0, "abc");
      expectEqual(await offsetOf(other, key), 3, "offset in the other process");
      await appendText(other, key, 3, "def");
      expectEqual(await offsetOf(storage, key), 6, "offset in the first process");
      const entry = await uploadsOf(storage).complete(key);
      expectEqual((await uploadsOf(other).find(key))?.done, entry, "the file, in the other process");
      expectEqual(await readFileText(other, "/file"), "abcdef", "text");
      expectEqual(await uploadsOf(other).discard(key), "done", "discard in the other process");
      expectEqual(await uploadsOf(storage).find(key), undefined, "the upload, in the first process");
    },
  },
  {
    name: "discard tells an upload that another process has completed at the same moment from one without a file",
    needs: "open",
    async run({ storage, open }) {
      const other = await (open as NonNullable<typeof open>)();
      for (let round = 0; round < 10; round += 1) {
        const path = `/file-${round}`;
        const { key } = await beginUpload(storage, path, { size: 3 });
        await appendText(storage, key, 0, "abc");
        const completing = uploadsOf(storage).complete(key);
        const [completed, discarded] = await Promise.all([
          completing.then(
            () => true,
            () => false,
          ),
          uploadsOf(other).discard(key),
        ]);
        const isThere = (await storage.stat(path)) !== undefined;
        expectEqual(isThere, completed, "a file is there if its completion says so");
        if (discarded === "done") expectEqual(isThere, true, "a file is there if what was discarded had become one");
        if (!completed) expectEqual(discarded, "unfinished", "what was discarded has no file");
      }
    },
  },
  {
    name: "an upload is not lost because another process lists while it is created",
    needs: "open",
    async run({ storage, open }) {
      const other = await (open as NonNullable<typeof open>)();
      const keys = Array.from({ length: 20 }, () => newKey());
      let isCreated = false;
      const lists = (async () => {
        while (!isCreated) for await (const { lost } of uploadsOf(other).list()) expectEqual(lost, undefined, "lost");
      })();
      for (const key of keys) await beginUpload(storage, "/file", {}, key);
      isCreated = true;
      await lists;
      for (const key of keys) expectEqual(await offsetOf(storage, key), 0, "offset");
    },
  },
  {
    name: "another process takes over from a running append, which then stores nothing more",
    needs: "open",
    async run({ storage, open }) {
      const other = await (open as NonNullable<typeof open>)();
      const { key } = await beginUpload(storage, "/file");
      let waits: () => void = () => undefined;
      const isWaiting = new Promise<void>((resolve) => {
        waits = resolve;
      });
      const running = rejectionOf(uploadsOf(storage).append(key, 0, stalled(waits, "abc")));
      await isWaiting;
      const offset = await offsetOf(other, key);
      expect(offset === 0 || offset === 3, `the offset is one of the running append: ${offset}`);
      await appendText(other, key, offset ?? 0, "xyz");
      const error = await running;
      expect(hasCode(error, "locked"), "the running append is `locked`");
      await uploadsOf(other).complete(key);
      expectEqual((await readFileText(storage, "/file")).slice(offset), "xyz", "text");
    },
  },
  {
    name: "a process that is killed during an append leaves an upload that goes on",
    needs: "kill",
    async run({ storage, kill }) {
      const bytes = noise(6 * 1_048_576, 5);
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      await (kill as NonNullable<typeof kill>)(key, 3, bytes, { verify: false });
      const offset = (await offsetOf(storage, key)) ?? -1;
      expect(offset >= 3 && offset <= 3 + bytes.byteLength, `the offset is possible: ${offset}`);
      const rest = bytes.subarray(offset - 3);
      await uploadsOf(storage).append(key, offset, one(rest));
      await uploadsOf(storage).complete(key);
      const stored = await bodyBytes((await storage.read("/file")).body);
      expect(areSameBytes(stored.subarray(3), bytes), "the bytes are unchanged");
    },
  },
  {
    name: "a process that is killed during an append with a checksum leaves nothing of it",
    needs: "kill",
    async run({ storage, kill }) {
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      await (kill as NonNullable<typeof kill>)(key, 3, noise(6 * 1_048_576, 5), { verify: true });
      expectEqual(await offsetOf(storage, key), 3, "offset");
      await appendText(storage, key, 3, "def");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "abcdef", "text");
    },
  },
];

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
