import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StorageAdapter, type StorageEntry, StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { BROWSER_HEADERS, type FormEntry, formOf, sendForm, sendFormForJson, uploadsOf } from "../../support/forms.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";

const ACTION: FormEntry = ["action", "upload-file"];
const failed = expect.stringMatching(/./);

/** The files in `/alice/f`, by their names. */
async function filesOf({ storage, stored }: Pick<TestService, "storage" | "stored">): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for await (const { name, kind } of storage.list("/alice/f")) {
    found[name] = kind === "file" ? await stored(`/alice/f/${name}`) : kind;
  }
  return found;
}

function messagesOf(answer: { json<T>(): T }): readonly (readonly [string, string | null])[] {
  type Entries = { target: string; message: string | null }[];
  const { results, errors } = answer.json<{ results?: Entries; errors?: Entries }>();
  return (results ?? errors ?? []).map(({ target, message }) => [target, message]);
}

/** A body that comes in chunks of some bytes. */
function inChunks(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream(
    {
      pull(controller) {
        if (at >= bytes.byteLength) return controller.close();
        controller.enqueue(bytes.subarray(at, at + length));
        at += length;
      },
    },
    { highWaterMark: 0 },
  );
}

describe("uploads by form", () => {
  it("need no action for files of the field file, as programs such as curl send them", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const plain = await sendForm(test, "/home/f/", [
      ["file", "a.txt", "1"],
      ["file", "b.txt", "2"],
    ]);
    expect([plain.status, plain.header("location")]).toEqual([303, "/home/f/?done=uploaded"]);
    const both = [["file", "c.txt", "3"], ACTION, ...uploadsOf({ "d.txt": "4" })] as const;
    expect(messagesOf(await sendFormForJson(test, "/home/f/", both))).toEqual([
      ["c.txt", null],
      ["d.txt", null],
    ]);
    expect(await filesOf(test)).toEqual({ "a.txt": "1", "b.txt": "2", "c.txt": "3", "d.txt": "4" });
  });

  it.each(["if-match", "if-none-match", "if-unmodified-since"])(
    "have no conditions: %s is about the folder",
    async (header) => {
      const test = await createTestService({ files: { "/alice/f/a.txt": "old" } });
      const value = header === "if-unmodified-since" ? "Thu, 01 Jan 1970 00:00:00 GMT" : '"another"';
      for (const condition of [value, header === "if-none-match" ? "*" : value]) {
        const headers = { ...BROWSER_HEADERS, [header]: condition };
        const body = formOf(ACTION, ...uploadsOf({ "a.txt": condition }));
        expect((await test.call("POST", "/home/f/", { body, headers, variant: "html" })).status).toBe(303);
        expect(await filesOf(test)).toEqual({ "a.txt": condition });
      }
    },
  );

  it.each([
    [
      "another action after the file",
      [
        ["file", "a", "1"],
        ["action", "delete-members"],
      ],
      "form-action-repeated",
    ],
    ["text in the field file", [["file", "a.txt"], ACTION], "form-text-unexpected"],
    ["another field", [["attachment", "a", "1"], ACTION], "form-file-unexpected"],
    ["the field for uploads and no action", uploadsOf({ a: "1" }), "form-action-missing"],
  ] as const)("are 400 for %s, and the error says what is wanted", async (_, entries, code) => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const answer = await sendFormForJson(test, "/home/f/", entries as readonly FormEntry[]);
    expect([answer.status, answer.header("error-code")]).toEqual([400, code]);
  });

  it("do not store a file of the field file if the action is another", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const entries = [
      ["action", "create-folder"],
      ["new-folder", "g"],
      ["file", "a", "1"],
    ] as const;
    expect((await sendForm(test, "/home/f/", entries)).status).toBe(303);
    expect(await filesOf(test)).toEqual({ g: "folder" });
  });

  it("say on the page which of them failed, too, where the form turns out to be none behind them (CONTRACT 4.6)", async () => {
    const test = await createTestService({ limits: { maxFormParts: 4 }, files: { "/alice/f/": "" } });
    const entries = [ACTION, ...uploadsOf({ a: "1", "..": "2", b: "3", c: "4" })];
    const page = await sendForm(test, "/home/f/", entries);
    expect(page.status).toBe(400);
    for (const text of ["the form has more than 4 parts.", "This is not a valid name."])
      expect(page.text).toContain(text);
    expect(await filesOf(test)).toEqual({ a: "1", b: "3" });
  });

  it("show what they have stored on the folder's page when what follows is no form any more (CONTRACT 4.6)", async () => {
    const test = await createTestService();
    const entries: readonly FormEntry[] = [
      ["action", "upload-file"],
      ...uploadsOf({ "a.txt": "a" }),
      ["action", "again"],
    ];
    const answer = await sendForm(test, "/home/", entries);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("The form has more than one action.");
    expect(answer.text).toContain("a.txt");
    const asJson = await sendFormForJson(test, "/home/", entries);
    expect([asJson.status, asJson.json()]).toEqual([
      400,
      { errors: [{ message: "The form has more than one action." }] },
    ]);
  });

  it("store several files of one form (4.6)", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const files = { "a.txt": "one", b: "", "c.bin": "x".repeat(100_000) };
    const answer = await sendForm(test, "/home/f/", [ACTION, ...uploadsOf(files)]);
    expect(answer.status).toBe(303);
    expect(await filesOf(test)).toEqual(files);
  });

  it("store each file as its part ends, before the following ones have come (CONTRACT 4.6)", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const bytes = formOf(ACTION, ...uploadsOf({ a: "first", b: "x".repeat(100) }));
    const seen: (string | undefined)[] = [];
    let at = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          seen.push(await test.stored("/alice/f/a"));
          if (at >= bytes.byteLength) return controller.close();
          controller.enqueue(bytes.subarray(at, at + 50));
          at += 50;
        },
      },
      { highWaterMark: 0 },
    );
    expect((await test.call("POST", "/home/f/", { body, headers: BROWSER_HEADERS })).status).toBe(303);
    expect(seen[0]).toBeUndefined();
    expect(seen.indexOf("first")).toBeLessThan(seen.length - 3);
  });

  it("leave the other files stored when one fails, and say which (CONTRACT 4.6)", async () => {
    const base = createMemoryStorage();
    const write: StorageAdapter["write"] = (path, content, options) =>
      path.endsWith("/full") ? Promise.reject(new StorageError("no-space")) : base.write(path, content, options);
    const test = await createTestService({ storage: overrideStorage(base, { write }), files: { "/alice/f/sub/": "" } });
    const entries = [ACTION, ...uploadsOf({ a: "1", full: "2", sub: "3", "..": "4", z: "5" })];
    const answer = await sendFormForJson(test, "/home/f/", entries);
    expect(answer.status).toBe(422);
    expect(messagesOf(answer)).toEqual([
      ["a", null],
      ["full", "The storage is full."],
      ["sub", failed],
      ["..", failed],
      ["z", null],
    ]);
    expect(await filesOf(test)).toEqual({ a: "1", sub: "folder", z: "5" });
    const page = await sendForm(test, "/home/f/", entries);
    expect(page.status).toBe(400);
    expect(page.text).toContain("The storage is full.");
  });

  it.each<readonly [filename: string, name: string]>([
    ["C:\\Users\\me\\report.txt", "report.txt"],
    ["/home/me/report.txt", "report.txt"],
    ["folder/sub/report.txt", "report.txt"],
    ["..\\..\\report.txt", "report.txt"],
    ['a "quoted" name.txt', 'a "quoted" name.txt'],
    ["100% & <b>.txt", "100% & <b>.txt"],
    ["%2e%2e%2fx", "%2e%2e%2fx"],
    ["👩‍🚀 نص عربي.txt", "👩‍🚀 نص عربي.txt"],
    ["__svc__", "__svc__"],
    [" blanks ", " blanks "],
    ["e\u0301 and \u00e9", "e\u0301 and \u00e9"],
    ["constructor", "constructor"],
    [".hidden", ".hidden"],
  ])("keep the last segment of a name as it is: %j (CONTRACT 2.2)", async (filename, name) => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    expect((await sendForm(test, "/home/f/", [ACTION, ["upload-file", filename, "x"]])).status).toBe(303);
    expect(await filesOf(test)).toEqual({ [name]: "x" });
    expect((await sendForm(test, "/home/f/", [["upload-file", filename, "y"], ACTION])).status).toBe(303);
    expect(await filesOf(test)).toEqual({ [name]: "y" });
  });

  it.each(["..", ".", "a/..", "a\\..", "dir/", "a\rb", "a\nb", "a\u0001", "\u0085", "x".repeat(256)])(
    "refuse a name that is none, before a file is made: %j (CONTRACT 2.2, SECURITY 5)",
    async (filename) => {
      const test = await createTestService({ files: { "/alice/f/": "" } });
      for (const entries of [
        [ACTION, ["upload-file", filename, "x"], ["upload-file", "good", "x"]],
        [["upload-file", filename, "x"], ["upload-file", "good", "x"], ACTION],
      ] as FormEntry[][]) {
        const answer = await sendFormForJson(test, "/home/f/", entries);
        expect(messagesOf(answer)).toEqual([
          [expect.anything(), failed],
          ["good", null],
        ]);
      }
      expect(await filesOf(test)).toEqual({ good: "x" });
      expect(await test.storage.stat("/alice/b")).toBeUndefined();
    },
  );

  it("take an empty file input for no file, and content without a name for a bad one (CONTRACT 4.6)", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const both = await sendFormForJson(test, "/home/f/", [ACTION, ["upload-file", "", ""], ["upload-file", "a", "x"]]);
    expect(messagesOf(both)).toEqual([["a", null]]);
    const nameless = await sendFormForJson(test, "/home/f/", [ACTION, ["upload-file", "", "content"]]);
    expect(messagesOf(nameless)).toEqual([["", failed]]);
    expect(await filesOf(test)).toEqual({ a: "x" });
  });

  it("store the first of two files of one name in a form, and refuse the other: it would vanish unnoticed", async () => {
    for (const entries of [
      [ACTION, ["upload-file", "one/a", "1"], ["upload-file", "two/a", "2"]],
      [["upload-file", "one/a", "1"], ["upload-file", "two/a", "2"], ACTION],
    ] as FormEntry[][]) {
      const test = await createTestService({ files: { "/alice/f/": "" } });
      expect(messagesOf(await sendFormForJson(test, "/home/f/", entries))).toEqual([
        ["a", null],
        ["a", failed],
      ]);
      expect(await filesOf(test)).toEqual({ a: "1" });
    }
  });

  it("keep every byte, whatever the content and the chunks (4.6)", async () => {
    const property = fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 100 }),
      fc.boolean(),
      async (contents, length, isActionFirst) => {
        const test = await createTestService({ files: { "/alice/f/": "" } });
        const uploads = contents.map((content, index): FormEntry => ["upload-file", `f${index}`, content]);
        const bytes = formOf(...(isActionFirst ? [ACTION, ...uploads] : [...uploads, ACTION]));
        const body = inChunks(bytes, length);
        expect((await test.call("POST", "/home/f/", { body, headers: BROWSER_HEADERS })).status).toBe(303);
        for (const [index, content] of contents.entries()) {
          const stored = await new Response((await test.storage.read(`/alice/f/f${index}`)).body).arrayBuffer();
          expect(new Uint8Array(stored)).toEqual(new Uint8Array(content));
        }
      },
    );
    await fc.assert(property, { numRuns: amount({ short: 4, long: 40 }) });
  });
});

describe("files before the action of their form", () => {
  /** What a storage was asked for. */
  function observed() {
    const base = createMemoryStorage();
    const writes: { path: string; state: "written" | "visible" | "failed" }[] = [];
    const write = async (...[path, content, options]: Parameters<StorageAdapter["write"]>): Promise<StorageEntry> => {
      const entry: (typeof writes)[number] = { path, state: "written" };
      writes.push(entry);
      try {
        const stored = await base.write(path, content, options);
        entry.state = "visible";
        return stored;
      } catch (error) {
        entry.state = "failed";
        throw error;
      }
    };
    return { storage: overrideStorage(base, { write }), writes };
  }

  it("are written, and not visible before the action is known (CONTRACT 4.6)", async () => {
    const { storage, writes } = observed();
    const test = await createTestService({ storage, files: { "/alice/f/b": "former" } });
    writes.length = 0;
    const bytes = formOf(...uploadsOf({ a: "1", b: "2" }), ACTION);
    let at = 0;
    const states: string[][] = [];
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          states.push(writes.map(({ state }) => state));
          if (at >= bytes.byteLength) return controller.close();
          controller.enqueue(bytes.subarray(at, at + 20));
          at += 20;
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await test.call("POST", "/home/f/", { body, headers: BROWSER_HEADERS });
    expect(answer.status).toBe(303);
    expect(states).toContainEqual(["written", "written"]);
    const early = states.slice(0, Math.floor((bytes.byteLength - 100) / 20));
    expect(early.flat()).not.toContain("visible");
    expect(await filesOf(test)).toEqual({ a: "1", b: "2" });
  });

  it.each(["delete-members", "rename", ""])("are given up when the action is %j", async (action) => {
    const { storage, writes } = observed();
    const test = await createTestService({ storage, files: { "/alice/f/a": "former", "/alice/f/x": "x" } });
    writes.length = 0;
    const entries: FormEntry[] = [...uploadsOf({ a: "new", b: "new" }), ["selected-members", "x"], ["action", action]];
    const answer = await sendForm(test, "/home/f/", entries);
    expect(answer.status).toBe(action === "delete-members" ? 303 : 400);
    expect(writes.map(({ state }) => state)).toEqual(["failed", "failed"]);
    expect(await filesOf(test)).toEqual({ a: "former", ...(action !== "delete-members" && { x: "x" }) });
  });

  it("are given up when no action comes", async () => {
    const { storage, writes } = observed();
    const test = await createTestService({ storage, files: { "/alice/f/a": "former" } });
    writes.length = 0;
    expect((await sendForm(test, "/home/f/", uploadsOf({ a: "new", b: "new" }))).status).toBe(400);
    expect(writes.map(({ state }) => state)).toEqual(["failed", "failed"]);
    expect(await filesOf(test)).toEqual({ a: "former" });
  });

  it("become visible one after the other, and the answer waits for the last (CONTRACT 4.6)", async () => {
    const base = createMemoryStorage();
    let committing = 0;
    let most = 0;
    const write: StorageAdapter["write"] = async (path, content, options) => {
      async function* slowly(): AsyncGenerator<Uint8Array> {
        yield* content;
        most = Math.max(most, ++committing);
        await new Promise((resolve) => setTimeout(resolve, 20));
        committing--;
      }
      return base.write(path, slowly(), options);
    };
    const test = await createTestService({ storage: overrideStorage(base, { write }), files: { "/alice/f/": "" } });
    const answer = await sendFormForJson(test, "/home/f/", [...uploadsOf({ a: "1", b: "2", c: "3" }), ACTION]);
    expect(answer.status).toBe(200);
    expect(await filesOf(test)).toEqual({ a: "1", b: "2", c: "3" });
    expect(most).toBe(1);
  });

  it.each([
    ["before", [...uploadsOf({ a: "1", b: "2" }), ACTION]],
    ["behind", [ACTION, ...uploadsOf({ a: "1", b: "2" })]],
  ] as const)(
    "are no failure of ours when the client goes as the last byte has come: files %s the action (SECURITY 14)",
    async (_where, entries) => {
      const base = createMemoryStorage();
      const client = new AbortController();
      const write: StorageAdapter["write"] = async (path, content, options) => {
        async function* untilGone(): AsyncGenerator<Uint8Array> {
          yield* content;
          client.abort();
        }
        return base.write(path, untilGone(), options);
      };
      const test = await createTestService({ storage: overrideStorage(base, { write }), files: { "/alice/f/": "" } });
      const answer = await sendForm(test, "/home/f/", entries, { signal: client.signal });
      expect(answer.status).toBe(400);
      expect(test.log.entries).toEqual([]);
      expect(await filesOf(test)).toEqual({});
    },
  );

  it("may be 8, and no more", async () => {
    const test = await createTestService({ files: { "/alice/f/": "" } });
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, "x"]));
    expect((await sendForm(test, "/home/f/", [...uploadsOf(files(9)), ACTION])).status).toBe(400);
    expect(await filesOf(test)).toEqual({});
    expect((await sendForm(test, "/home/f/", [...uploadsOf(files(8)), ACTION, ["upload-file", "g", "x"]])).status).toBe(
      303,
    );
    expect(Object.keys(await filesOf(test))).toHaveLength(9);
  });

  it("fail one by one, in the order of the form", async () => {
    const permissions = [["allow-full-control"], ["/f/denied", "allow-read"]];
    const test = await createTestService({
      files: { "/alice/f/sub/": "" },
      groups: { DEFAULT_GROUP: { permissions } },
    });
    const entries = [...uploadsOf({ a: "1", denied: "2", "..": "3", sub: "4", z: "5" }), ACTION];
    expect(messagesOf(await sendFormForJson(test, "/home/f/", entries))).toEqual([
      ["a", null],
      ["denied", failed],
      ["..", failed],
      ["sub", failed],
      ["z", null],
    ]);
    expect(await filesOf(test)).toEqual({ sub: "folder", a: "1", z: "5" });
  });
});

describe("a form that is cut", () => {
  const former = { "/alice/f/a": "former a", "/alice/f/b": "former b" };
  const uploads = uploadsOf({ a: "the new a\r\n--", b: "the new b", c: "the new c" });
  const whole: Readonly<Record<string, string>> = { a: "the new a\r\n--", b: "the new b", c: "the new c" };
  const kept: Readonly<Record<string, string | undefined>> = { a: "former a", b: "former b" };

  it.each<readonly [where: string, entries: readonly FormEntry[]]>([
    ["before its files", [ACTION, ...uploads]],
    ["behind its files", [...uploads, ACTION]],
  ])("at any byte never shows a part of a file, with the action %s (SECURITY 12)", async (where, entries) => {
    const bytes = formOf(...entries);
    const test = await createTestService({ files: former });
    for (let end = 0; end < bytes.byteLength - 4; end++) {
      await fillStorage(test.storage, former);
      await test.storage.remove("/alice/f/c").catch(() => undefined);
      const { status } = await test.call("POST", "/home/f/", { body: bytes.slice(0, end), headers: BROWSER_HEADERS });
      expect(status, `cut at ${end}`).toBe(400);
      const found = await filesOf(test);
      for (const name of ["a", "b", "c"]) expect([kept[name], whole[name]], `cut at ${end}`).toContain(found[name]);
      if (where === "behind its files" && end < bytes.byteLength - 60) expect(found).toEqual(kept);
    }
  });
});

describe("a slow storage", () => {
  it("slows the form down: no more than a few chunks are under way (CONTRACT 4.6)", async () => {
    const base = createMemoryStorage();
    let taken = 0;
    let given = 0;
    let most = 0;
    const write: StorageAdapter["write"] = async (path, content, options) => {
      async function* slowly(): AsyncGenerator<Uint8Array> {
        for await (const chunk of content) {
          most = Math.max(most, given - taken);
          await new Promise((resolve) => setTimeout(resolve, 1));
          taken += chunk.byteLength;
          yield chunk;
        }
      }
      return base.write(path, slowly(), options);
    };
    const test = await createTestService({ storage: overrideStorage(base, { write }), files: { "/alice/f/": "" } });
    const bytes = formOf(ACTION, ...uploadsOf({ a: "x".repeat(500_000), b: "y".repeat(500_000) }));
    const chunk = 10_000;
    const source = inChunks(bytes, chunk).getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await source.read();
          if (done) return controller.close();
          given += value.byteLength;
          controller.enqueue(value);
        },
      },
      { highWaterMark: 0 },
    );
    expect((await test.call("POST", "/home/f/", { body, headers: BROWSER_HEADERS })).status).toBe(303);
    expect(most).toBeLessThan(5 * chunk);
  });
});
