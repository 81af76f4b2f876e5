import { Files, FilesError } from "files-sdk";
import { describe, expect, it } from "vitest";
import { toFilesSdkAdapter } from "../../src/bridges/files-sdk.ts";
import { fillStorage } from "../support/storage.ts";
import type { PlayedStorage } from "./storages.ts";

/** The code of the error that a call rejects with. */
export async function failureOfFiles(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(FilesError);
  return (error as FilesError).code;
}

function streamOf(...chunks: (string | Error)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      const next = chunks.shift();
      if (next === undefined) controller.close();
      else if (typeof next === "string") controller.enqueue(new TextEncoder().encode(next));
      else controller.error(next);
    },
  });
}

/** Plays files-sdk over storages. */
export function playFilesSdk(storages: readonly PlayedStorage[]): void {
  describe.each(storages)("files-sdk over %s", (_name, create) => {
    it("uploads and downloads every form of a body", async () => {
      const storage = await create();
      const files = new Files({ adapter: toFilesSdkAdapter(storage) });
      const bytes = new TextEncoder().encode("text");
      const bodies = {
        text: "text",
        bytes,
        buffer: bytes.buffer,
        view: new DataView(bytes.buffer),
        blob: new Blob(["text"]),
        stream: streamOf("te", "xt"),
      };
      for (const [name, body] of Object.entries(bodies)) {
        const { size, etag } = await files.upload(`in/${name}.txt`, body);
        const found = await storage.stat(`/in/${name}.txt`);
        expect({ size, etag: `"${etag}"` }).toEqual({ size: 4, etag: found?.etag });
        expect(await (await files.download(`in/${name}.txt`)).text()).toBe("text");
      }
    });

    it("streams downloads, and parts of them", async () => {
      const files = new Files({ adapter: toFilesSdkAdapter(await create()) });
      await files.upload("digits.txt", "0123456789");
      const stream = (await files.download("digits.txt", { as: "stream" })).stream();
      expect(await new Response(stream).text()).toBe("0123456789");
      for (const [range, text] of [
        [{ start: 2, end: 4 }, "234"],
        [{ start: 7 }, "789"],
        [{ start: 8, end: 90 }, "89"],
      ] as const) {
        const part = await files.download("digits.txt", { range });
        expect([part.size, await part.text()]).toEqual([text.length, text]);
      }
    });

    it("leaves the file before as it was if an upload breaks", async () => {
      const files = new Files({ adapter: toFilesSdkAdapter(await create()) });
      await files.upload("file.txt", "before");
      expect(await failureOfFiles(files.upload("file.txt", streamOf("some", new Error("broken"))))).toBe("Provider");
      expect(await (await files.download("file.txt")).text()).toBe("before");
    });

    it("has metadata and content of what it finds, and NotFound for what is missing", async () => {
      const files = new Files({ adapter: toFilesSdkAdapter(await create()) });
      const { etag, lastModified } = await files.upload("a/report.pdf", "12345", { contentType: "text/plain" });
      const head = await files.head("a/report.pdf");
      expect(head).toMatchObject({ key: "a/report.pdf", size: 5, type: "application/pdf", etag, lastModified });
      expect(await head.text()).toBe("12345");
      expect([await files.exists("a/report.pdf"), await files.exists("a"), await files.exists("a//b")]).toEqual([
        true,
        false,
        false,
      ]);
      expect(await failureOfFiles(files.head("no"))).toBe("NotFound");
      expect(await failureOfFiles(files.download("no"))).toBe("NotFound");
      expect(await failureOfFiles(files.download("../no"))).toBe("NotFound");
      expect(await failureOfFiles(files.copy("no", "to"))).toBe("NotFound");
      await files.delete("no");
      await files.delete("a");
      expect(await files.exists("a/report.pdf")).toBe(true);
      await files.delete("a/report.pdf");
      expect(await files.exists("a/report.pdf")).toBe(false);
    });

    it("lists by any prefix, by folders, and in pages, each key once", async () => {
      const storage = await create();
      const files = new Files({ adapter: toFilesSdkAdapter(storage) });
      const keys = ["b-c/f", "b.txt", "b/c.txt", "b/d/e.txt", "b/d/f/g", "bb", "c/x", "😀", "\uffee"];
      await fillStorage(storage, { ...Object.fromEntries(keys.map((key) => [`/${key}`, ""])), "/empty/": "" });
      const all: string[] = [];
      for (const limit of [1, 2, 1000]) {
        all.length = 0;
        for await (const { key } of files.listAll({ limit })) all.push(key);
        expect(all.sort()).toEqual([...keys].sort());
      }
      const keysOf = async (prefix: string) => (await files.list({ prefix })).items.map(({ key }) => key).sort();
      expect(await keysOf("b")).toEqual(keys.slice(0, 6));
      expect(await keysOf("b/")).toEqual(["b/c.txt", "b/d/e.txt", "b/d/f/g"]);
      expect(await keysOf("b/d/f")).toEqual(["b/d/f/g"]);
      expect(await keysOf("bb")).toEqual(["bb"]);
      expect(await keysOf("../")).toEqual([]);
      const folders = await files.list({ prefix: "b", delimiter: "/" });
      expect([folders.items.map(({ key }) => key), folders.prefixes?.sort()]).toEqual([
        ["b.txt", "bb"],
        ["b-c/", "b/"],
      ]);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await files.list({ delimiter: "/", limit: 2, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.items.map(({ key }) => key), ...(page.prefixes ?? []));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen.sort()).toEqual(["b-c/", "b.txt", "b/", "bb", "c/", "empty/", "😀", "\uffee"].sort());
      expect(await failureOfFiles(files.list({ delimiter: "-" }))).toBe("Provider");
    });

    it("copies and moves over files, and never over a folder", async () => {
      const storage = await create();
      const files = new Files({ adapter: toFilesSdkAdapter(storage) });
      await fillStorage(storage, { "/from": "from", "/to": "to", "/folder/member": "kept" });
      await files.copy("from", "to");
      await files.move("from", "new/moved");
      expect(await (await files.download("to")).text()).toBe("from");
      expect(await (await files.download("new/moved")).text()).toBe("from");
      expect(await failureOfFiles(files.move("to", "folder"))).toBe("Conflict");
      expect(await failureOfFiles(files.upload("folder", "text"))).toBe("Conflict");
      expect(await failureOfFiles(files.upload("a//b", "text"))).toBe("Provider");
      expect(await (await files.download("folder/member")).text()).toBe("kept");
    });

    it("has conditions where the storage checks them in one step", async () => {
      const storage = await create();
      const files = new Files({ adapter: toFilesSdkAdapter(storage, { hasAtomicConditions: true }) });
      const { etag } = await files.upload("file", "one", { condition: { type: "create" } });
      expect(await failureOfFiles(files.upload("file", "two", { condition: { type: "create" } }))).toBe("Conflict");
      const next = await files.upload("file", "longer", { condition: { type: "replace", etag } });
      expect(await failureOfFiles(files.upload("file", "two", { condition: { type: "replace", etag } }))).toBe(
        "Conflict",
      );
      expect(await failureOfFiles(files.download("file", { condition: { etag } }))).toBe("Conflict");
      expect(await (await files.download("file", { condition: { etag: next.etag } })).text()).toBe("longer");
      expect(await failureOfFiles(files.delete("file", { condition: { etag } }))).toBe("Conflict");
      await files.delete("file", { condition: { etag: next.etag } });
      const plain = new Files({ adapter: toFilesSdkAdapter(storage) });
      expect(await failureOfFiles(plain.upload("file", "", { condition: { type: "create" } }))).toBe("Provider");
      expect(await files.exists("file")).toBe(false);
    });
  });
}
