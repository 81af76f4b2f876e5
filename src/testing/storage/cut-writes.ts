import { expect, expectEqual, expectRefusal, rejectionOf } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { cutOff, namesIn, put, readFileText, stalled, textChunks, untouched } from "./content.ts";

/** Cases about writes that end early, and about what others see during a write. */
export const cutWriteCases: readonly StorageCase[] = [
  {
    name: "write: rejects with the content's own error and keeps the previous file",
    async run({ storage }) {
      await put(storage, "/file", "old");
      for (const texts of [[], ["new"], ["new", "new"]]) {
        const error = new Error("The connection was cut.");
        const found = await rejectionOf(storage.write("/file", cutOff(error, ...texts)));
        expectEqual(found === error, true, "the error of the content");
      }
      expectEqual(await readFileText(storage, "/file"), "old", "text");
      expectEqual(await namesIn(storage, "/"), ["file"], "members");
    },
  },
  {
    name: "write: does not map an error of the content as if the storage had failed",
    async run({ storage }) {
      const error = Object.assign(new Error("ENOENT: of another place"), { code: "ENOENT" });
      expectEqual(
        (await rejectionOf(storage.write("/file", cutOff(error, "x")))) === error,
        true,
        "the content's error",
      );
    },
  },
  {
    name: "write: content that throws creates no file",
    async run({ storage }) {
      await rejectionOf(storage.write("/file", cutOff(new Error("cut"), "some", "text")));
      expectEqual(await storage.stat("/file"), undefined, "stat");
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "write: incomplete if the content is shorter than its size",
    async run({ storage }) {
      await put(storage, "/file", "old");
      await expectRefusal(storage.write("/file", textChunks("1234"), { size: 5 }), "incomplete");
      await expectRefusal(storage.write("/file", textChunks(), { size: 1 }), "incomplete");
      await expectRefusal(storage.write("/new", textChunks("1234"), { size: 5 }), "incomplete");
      expectEqual(
        [await readFileText(storage, "/file"), await namesIn(storage, "/")],
        ["old", ["file"]],
        "what is there",
      );
    },
  },
  {
    name: "write: incomplete if the content is longer than its size",
    async run({ storage }) {
      await put(storage, "/file", "old");
      await expectRefusal(storage.write("/file", textChunks("123456"), { size: 5 }), "incomplete");
      await expectRefusal(storage.write("/file", textChunks("12345", "6"), { size: 5 }), "incomplete");
      await expectRefusal(storage.write("/file", textChunks("1"), { size: 0 }), "incomplete");
      expectEqual(
        [await readFileText(storage, "/file"), await namesIn(storage, "/")],
        ["old", ["file"]],
        "what is there",
      );
    },
  },
  {
    name: "write: stops reading endless content after its size, and releases the source",
    async run({ storage }) {
      let given = 0;
      let isReleased = false;
      async function* endless(): AsyncGenerator<Uint8Array> {
        try {
          for (;;) {
            given += 65_536;
            yield new Uint8Array(65_536);
          }
        } finally {
          isReleased = true;
        }
      }
      await expectRefusal(storage.write("/file", endless(), { size: 1_048_576 }), "incomplete");
      expect(given <= 16 * 1_048_576, `no more than 16 MiB were taken of 1 MiB announced, but ${given} bytes`);
      expect(isReleased, "the source was released");
    },
  },
  {
    name: "write: requests one chunk at a time",
    async run({ storage }) {
      let waiting = 0;
      let most = 0;
      let left = 50;
      const next = async (): Promise<IteratorResult<Uint8Array>> => {
        waiting += 1;
        most = Math.max(most, waiting);
        await new Promise((resolve) => setTimeout(resolve, 1));
        waiting -= 1;
        left -= 1;
        return left < 0 ? { done: true, value: undefined } : { done: false, value: new Uint8Array(10) };
      };
      const entry = await storage.write("/file", { [Symbol.asyncIterator]: () => ({ next }) });
      expectEqual([entry.size, most], [500, 1], "size, and chunks waited for at once");
    },
  },
  {
    name: "write: does not read the content if the signal is already aborted",
    async run({ storage }) {
      const content = untouched();
      const reason = new Error("gone");
      const found = await rejectionOf(storage.write("/file", content, { signal: AbortSignal.abort(reason) }));
      expectEqual([found === reason, content.wasTouched()], [true, false], "reason, and whether content was touched");
      expectEqual(await namesIn(storage, "/"), [], "members");
    },
  },
  {
    name: "write: a signal ends it promptly while the content is silent, and the previous file stays",
    async run({ storage }) {
      await put(storage, "/file", "old");
      for (const reason of [new Error("gone"), "a text as reason"]) {
        const controller = new AbortController();
        const content = stalled(() => setTimeout(() => controller.abort(reason), 5), "some", "text");
        const found = await rejectionOf(storage.write("/file", content, { signal: controller.signal, size: 100 }));
        expectEqual(found === reason, true, "the signal's reason");
      }
      expectEqual(
        [await readFileText(storage, "/file"), await namesIn(storage, "/")],
        ["old", ["file"]],
        "what is there",
      );
    },
  },
  {
    name: "write: a signal ends it between chunks and releases the source",
    async run({ storage }) {
      const controller = new AbortController();
      let isReleased = false;
      async function* content(): AsyncGenerator<Uint8Array> {
        try {
          for (let chunk = 0; ; chunk += 1) {
            if (chunk === 3) controller.abort();
            yield new Uint8Array(1000);
          }
        } finally {
          isReleased = true;
        }
      }
      const error = await rejectionOf(storage.write("/file", content(), { signal: controller.signal }));
      expectEqual([error === controller.signal.reason, isReleased], [true, true], "reason, and source released");
      expectEqual(await storage.stat("/file"), undefined, "stat");
    },
  },
  {
    name: "write: a signal that aborts after the last chunk leaves one complete file",
    async run({ storage }) {
      await put(storage, "/file", "old");
      const controller = new AbortController();
      async function* content(): AsyncGenerator<Uint8Array> {
        yield* textChunks("new");
        controller.abort();
      }
      const outcome = await storage.write("/file", content(), { signal: controller.signal }).then(
        () => "new",
        () => "old",
      );
      expectEqual(await readFileText(storage, "/file"), outcome, "text by the outcome");
    },
  },
  {
    name: "write: a signal that aborts after the end changes nothing",
    async run({ storage }) {
      const controller = new AbortController();
      await put(storage, "/file", "done", { signal: controller.signal });
      controller.abort();
      expectEqual(await readFileText(storage, "/file"), "done", "text");
    },
  },
  {
    name: "write: nothing is visible before it resolves",
    async run({ storage }) {
      await put(storage, "/old", "old");
      const seen: unknown[] = [];
      async function* looking(): AsyncGenerator<Uint8Array> {
        for (let chunk = 0; chunk < 3; chunk += 1) {
          yield new Uint8Array(100_000);
          seen.push([await namesIn(storage, "/"), await storage.stat("/new"), await readFileText(storage, "/old")]);
        }
      }
      await storage.write("/old", looking());
      await storage.write("/new", looking()).then(() => storage.remove("/new"));
      for (const found of seen.slice(0, 3)) expectEqual(found, [["old"], null, "old"], "while overwriting");
      for (const [names, entry] of seen.slice(3) as unknown[][]) {
        expectEqual([names, entry], [["old"], undefined], "while writing again");
      }
    },
  },
  {
    name: "write: 50 parallel writes that fail leave nothing",
    async run({ storage }) {
      const writes = Array.from({ length: 50 }, (_, index) =>
        rejectionOf(storage.write(`/file-${index % 5}`, cutOff(new Error("cut"), "some", "text"))),
      );
      await Promise.all(writes);
      expectEqual(await namesIn(storage, "/"), [], "members");
      await put(storage, "/file-0", "works");
      expectEqual(await readFileText(storage, "/file-0"), "works", "text");
    },
  },
];
