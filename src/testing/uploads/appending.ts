import { hasCode } from "../../contracts/storage-adapter.ts";
import { expect, expectEqual, expectRefusal, rejectionOf } from "../expectations.ts";
import {
  areSameBytes,
  bodyBytes,
  cutOff,
  inChunks,
  noise,
  readFileText,
  stalled,
  untouched,
} from "../storage/content.ts";
import type { UploadCase } from "./case.ts";
import { appendText, beginUpload, newKey, offsetOf, uploadsOf } from "./setup.ts";

/** Cases about the content of uploads. */
export const appendingCases: readonly UploadCase[] = [
  {
    name: "append: content in several calls becomes one file",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file", { size: 11 });
      expectEqual((await appendText(storage, key, 0, "hello")).offset, 5, "offset");
      expectEqual((await appendText(storage, key, 5, " ", "world")).offset, 11, "offset");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "hello world", "text");
    },
  },
  {
    name: "append: several MiB in parts of odd sizes stay unchanged",
    async run({ storage }) {
      const bytes = noise(9 * 1_048_576 + 13, 7);
      const { key } = await beginUpload(storage, "/file");
      let offset = 0;
      for (const size of [1, 3_000_001, 65_536, 5_242_880]) {
        const part = bytes.subarray(offset, offset + size);
        offset = (await uploadsOf(storage).append(key, offset, inChunks(part, 99_991))).offset;
      }
      await uploadsOf(storage).append(key, offset, inChunks(bytes.subarray(offset), 1_048_576));
      const { size } = await uploadsOf(storage).complete(key);
      expectEqual(size, bytes.byteLength, "size");
      expect(areSameBytes(await bodyBytes((await storage.read("/file")).body), bytes), "the bytes are unchanged");
    },
  },
  {
    name: "append: another offset is `offset-mismatch`, and the content is not read",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file", { size: 10 });
      await appendText(storage, key, 0, "hello");
      for (const offset of [0, 4, 6, 11]) {
        const content = untouched();
        await expectRefusal(uploadsOf(storage).append(key, offset, content), "offset-mismatch");
        expect(!content.wasTouched(), "the content is not read");
      }
      expectEqual(await offsetOf(storage, key), 5, "offset");
    },
  },
  {
    name: "append: content that fails keeps what has arrived",
    async run({ storage }) {
      const failure = new Error("cut");
      const { key } = await beginUpload(storage, "/file", { size: 9 });
      const cut = uploadsOf(storage).append(key, 0, cutOff(failure, "abc", "def"));
      expect((await rejectionOf(cut)) === failure, "the append rejects with the error of the content");
      expectEqual(await offsetOf(storage, key), 6, "offset");
      await appendText(storage, key, 6, "ghi");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "abcdefghi", "text");
    },
  },
  {
    name: "append: an aborted signal keeps what has arrived",
    async run({ storage }) {
      const controller = new AbortController();
      const { key } = await beginUpload(storage, "/file");
      const reason = new Error("gone");
      const content = stalled(() => controller.abort(reason), "abc");
      const cut = uploadsOf(storage).append(key, 0, content, { signal: controller.signal });
      expect((await rejectionOf(cut)) === reason, "the append rejects with the reason of the signal");
      expectEqual(await offsetOf(storage, key), 3, "offset");
    },
  },
  {
    name: "append: an upload without content has offset 0, and its file is empty",
    async run({ storage }) {
      const { key, offset } = await beginUpload(storage, "/file", { size: 0 });
      expectEqual(offset, 0, "offset");
      expectEqual((await appendText(storage, key, 0)).offset, 0, "offset after an empty append");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "", "text");
    },
  },
  {
    name: "append: more than the limit is `too-large`, and what is within it is kept",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      const content = (async function* () {
        yield new TextEncoder().encode("abc");
        yield new TextEncoder().encode("def");
      })();
      await expectRefusal(uploadsOf(storage).append(key, 0, content, { limit: 4 }), "too-large");
      expectEqual(await offsetOf(storage, key), 4, "offset");
    },
  },
  {
    name: "append: a check that passes keeps all of the content",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      let checked = 0;
      const content = (async function* () {
        yield new TextEncoder().encode("abc");
        checked = -1;
      })();
      const verify = async (): Promise<void> => {
        expectEqual(checked, -1, "the check comes after the last byte");
        checked = 1;
      };
      const { offset } = await uploadsOf(storage).append(key, 0, content, { verify });
      expectEqual([offset, checked], [3, 1], "offset, and calls of the check");
    },
  },
  {
    name: "append: a check that fails, and a checked append that is cut, keep nothing",
    async run({ storage }) {
      const failure = new Error("checksum");
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      const verify = async (): Promise<void> => {
        throw failure;
      };
      const wrong = uploadsOf(storage).append(key, 3, inChunks(noise(200_000, 3), 65_536), { verify });
      expect((await rejectionOf(wrong)) === failure, "the append rejects with the error of the check");
      expectEqual(await offsetOf(storage, key), 3, "offset after a wrong checksum");
      const cut = uploadsOf(storage).append(key, 3, cutOff(failure, "def"), { verify: async () => undefined });
      expect((await rejectionOf(cut)) === failure, "the append rejects with the error of the content");
      expectEqual(await offsetOf(storage, key), 3, "offset after a cut");
      await appendText(storage, key, 3, "def");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "abcdef", "text");
    },
  },
  {
    name: "append: without such an upload, and after its completion, nothing is read",
    async run({ storage }) {
      const content = untouched();
      await expectRefusal(uploadsOf(storage).append(newKey(), 0, content), "not-found");
      const { key } = await beginUpload(storage, "/file");
      await appendText(storage, key, 0, "abc");
      await uploadsOf(storage).complete(key);
      await expectRefusal(uploadsOf(storage).append(key, 3, content), "offset-mismatch");
      expect(!content.wasTouched(), "the content is not read");
      expectEqual(await readFileText(storage, "/file"), "abc", "text");
    },
  },
  {
    name: "append: a later one takes over: the running one keeps its bytes and is `locked`",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      let waits: () => void = () => undefined;
      const isWaiting = new Promise<void>((resolve) => {
        waits = resolve;
      });
      const running = rejectionOf(uploadsOf(storage).append(key, 0, stalled(waits, "abc")));
      await isWaiting;
      expectEqual(await offsetOf(storage, key), 3, "offset that `find` returns");
      const error = await running;
      expect(hasCode(error, "locked"), "the running append is `locked`");
      await appendText(storage, key, 3, "def");
      await uploadsOf(storage).complete(key);
      expectEqual(await readFileText(storage, "/file"), "abcdef", "text");
    },
  },
  {
    name: "append: of 10 at one offset at once, the bytes of exactly one count",
    async run({ storage }) {
      const { key } = await beginUpload(storage, "/file");
      const texts = Array.from({ length: 10 }, (_, number) => String(number).repeat(5));
      const results = await Promise.allSettled(texts.map((text) => appendText(storage, key, 0, text)));
      expectEqual(await offsetOf(storage, key), 5, "offset");
      await uploadsOf(storage).complete(key);
      const text = await readFileText(storage, "/file");
      expect(texts.includes(text), `the text is that of one append: ${text}`);
      const stored = results.filter(({ status }) => status === "fulfilled").length;
      expect(stored <= 1, "at most one append resolves");
    },
  },
];
