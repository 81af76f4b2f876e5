import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toByteSource } from "../../src/contracts/byte-source.ts";
import { toBatches } from "../../src/contracts/member-batches.ts";
import { type StorageAdapter, StorageError } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import type { DecideFault, StorageFault, StorageStep } from "../../src/testing/faulty-storage/faults.ts";
import { createFaultyStorage } from "../../src/testing/faulty-storage.ts";
import { noise, put, readFileText, textChunks } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { overrideStorage } from "../support/storage.ts";

let base: string;
let folders = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-faulty-"));
});

afterAll(() => rm(base, { recursive: true }));

async function createDisk(): Promise<StorageAdapter> {
  folders += 1;
  return createDiskStorage({ root: await mkdtemp(join(base, `${folders}-`)), durability: "rename" });
}

/** A memory whose files have a body alone, as those of most adapters. */
function createPlain(): StorageAdapter {
  const memory = createMemoryStorage();
  return overrideStorage(memory, {
    async read(path, range) {
      const { entry, body } = await memory.read(path, range);
      return { entry, body };
    },
  });
}

/** The fault of one step, once. */
function once(wanted: Partial<StorageStep>, fault: StorageFault): DecideFault {
  let isOver = false;
  return (step) => {
    const isIt = Object.entries(wanted).every(([name, value]) => step[name as keyof StorageStep] === value);
    if (!isIt || isOver) return undefined;
    isOver = true;
    return fault;
  };
}

const CHUNKS = [noise(300_000, 1), noise(300_000, 2), noise(300_000, 3)] as const;

async function* chunks(): AsyncGenerator<Uint8Array> {
  yield* CHUNKS;
}

/** A storage with a short file, a long one and a folder of three, and the fault of one step from now on. */
async function createFilled(wanted: Partial<StorageStep>, fault: StorageFault, inner = createMemoryStorage()) {
  await put(inner, "/short", "a short file");
  await inner.write("/long", chunks());
  await inner.createFolder("/folder");
  for (const name of ["a", "b", "c"]) await put(inner, `/folder/${name}`, name);
  return { inner, storage: createFaultyStorage(inner, once(wanted, fault)) };
}

async function namesOf(storage: StorageAdapter): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of storage.list("/folder")) names.push(name);
  return names;
}

/** What comes of a promise within a moment: `waiting` where nothing does. */
function soon<T>(promise: Promise<T>): Promise<T | "waiting"> {
  return Promise.race([promise, new Promise<"waiting">((resolve) => setTimeout(resolve, 20, "waiting"))]);
}

const storages = [
  ["memory", async () => createMemoryStorage()],
  ["disk", createDisk],
  ["a storage of bodies alone", async () => createPlain()],
] as const;

/** What takes seconds, of one storage. */
const HEAVY = /10,000|2,000|300 levels|300 bodies/;

describe.each(storages)("the storage cases × a faulty storage of %s, of which nothing fails", (kind, create) => {
  for (const { name, needs, run } of storageCases) {
    if (needs === "makeLink" || (kind !== "memory" && HEAVY.test(name))) continue;
    it(name, async () => {
      const storage = createFaultyStorage(await create(), () => undefined);
      await run({ storage, strongTags: true, atomicConditions: true });
    });
  }
});

describe("the storage cases × a faulty storage whose chunks are short and late, as they may be", () => {
  for (const { name, needs, run } of storageCases.filter((one) => !HEAVY.test(one.name))) {
    if (needs === "makeLink") continue;
    it(name, async () => {
      let count = 0;
      const storage = createFaultyStorage(createMemoryStorage(), ({ step }) => {
        count += 1;
        if (step === "chunk" && count % 2 === 0) return { fault: "short", bytes: 1000 };
        return count % 7 === 0 ? { fault: "delay", milliseconds: 1 } : undefined;
      });
      await run({ storage, strongTags: true, atomicConditions: true });
    });
  }
});

describe("a faulty storage", () => {
  it("asks at each step of a verb", async () => {
    const { inner } = await createFilled({}, { fault: "cut" });
    const steps: string[] = [];
    const storage = createFaultyStorage(inner, ({ verb, path, step, count }) => {
      steps.push(`${verb} ${path} ${step} ${count}`);
      return undefined;
    });
    const stepsOf = async (act: () => Promise<unknown>) => {
      steps.length = 0;
      await act();
      return steps.join(", ");
    };
    expect(await stepsOf(() => storage.stat("/short"))).toBe("stat /short call 1, stat /short response 1");
    expect(await stepsOf(() => storage.stat("/x"))).toBe("stat /x call 2, stat /x response 2");
    expect(await stepsOf(() => readFileText(storage, "/short"))).toBe(
      "read /short call 1, read /short response 1, read /short chunk 1, read /short end 1",
    );
    expect(await stepsOf(() => storage.write("/new", textChunks("a", "b")))).toBe(
      "write /new call 1, write /new chunk 1, write /new chunk 2, write /new end 1, write /new response 1",
    );
    expect(await stepsOf(() => namesOf(storage))).toBe(
      "list /folder call 1, list /folder entry 1, list /folder entry 2, list /folder entry 3, list /folder end 1",
    );
    expect(await stepsOf(() => storage.createFolder("/f"))).toBe("createFolder /f call 1, createFolder /f response 1");
    expect(await stepsOf(() => storage.remove("/f"))).toBe("remove /f call 1, remove /f response 1");
    await expect(storage.remove("/")).rejects.toMatchObject({ code: "denied" });
    expect(steps.at(-1)).toBe("remove / call 2");
  });

  it("asks before and after a storage says where content is", async () => {
    const asked: string[] = [];
    const memory = createMemoryStorage();
    const inner: StorageAdapter = {
      ...memory,
      locateContent: async (path) => ({ storage: memory, path, medium: "disk" }),
    };
    const storage = createFaultyStorage(inner, ({ verb, path, step }) => {
      asked.push(`${verb} ${path} ${step}`);
      return path === "/broken" ? { fault: "error" } : undefined;
    });
    expect(await storage.locateContent?.("/a")).toMatchObject({ path: "/a", medium: "disk" });
    expect(asked).toEqual(["locateContent /a call", "locateContent /a response"]);
    await expect(storage.locateContent?.("/broken")).rejects.toMatchObject({ code: "unavailable" });
    expect(createFaultyStorage(createMemoryStorage(), () => undefined).locateContent).toBeUndefined();
  });

  it("passes on what a verb is given beside its path", async () => {
    const { inner, storage } = await createFilled({}, { fault: "cut" });
    const plain = createFaultyStorage(inner, () => undefined);
    for (const one of [plain, createFaultyStorage(inner, () => ({ fault: "delay", milliseconds: 0 }))]) {
      await expect(one.remove("/short", { ifMatch: ['"other"'] })).rejects.toMatchObject({
        code: "precondition-failed",
      });
      await expect(one.write("/short", chunks(), { ifNoneMatch: "*" })).rejects.toMatchObject({
        code: "precondition-failed",
      });
      await expect(one.createFolder("/new", { owner: { user: "x" } })).rejects.toMatchObject({ code: "denied" });
      const part = await one.read("/short", { offset: 2, length: 5 });
      expect(await new Response(part.body).text()).toBe("short");
    }
    expect((await plain.read("/short")).source).toBeInstanceOf(Uint8Array);
    expect((await plain.read("/long")).source).toHaveProperty("readInto");
    expect((await createFaultyStorage(createPlain(), () => undefined).list("/")) as object).toHaveProperty("batches");
    // Its one fault, which no first step can have.
    await expect(storage.stat("/short")).rejects.toThrow(TypeError);
  });

  it.each<[string, Partial<StorageStep>]>([
    ["stat", { verb: "stat", step: "call" }],
    ["list", { verb: "list", step: "call" }],
    ["list", { verb: "list", step: "entry", count: 2 }],
    ["list", { verb: "list", step: "end" }],
    ["read", { verb: "read", step: "call" }],
    ["read", { verb: "read", step: "response" }],
    ["short", { verb: "read", step: "chunk" }],
    ["short", { verb: "read", step: "end" }],
    ["read", { verb: "read", step: "chunk", count: 2 }],
    ["read", { verb: "read", step: "end" }],
    ["write", { verb: "write", step: "call" }],
    ["write", { verb: "write", step: "chunk", count: 2 }],
    ["write", { verb: "write", step: "end" }],
    ["createFolder", { verb: "createFolder", step: "call" }],
    ["remove", { verb: "remove", step: "call" }],
  ])("fails to %s at the step %j, and leaves all as it was", async (act, wanted) => {
    const acts: Readonly<Record<string, (storage: StorageAdapter) => Promise<unknown>>> = {
      stat: (storage) => storage.stat("/short"),
      list: namesOf,
      read: (storage) => readFileText(storage, "/long"),
      short: (storage) => readFileText(storage, "/short"),
      write: (storage) => storage.write("/short", chunks()),
      createFolder: (storage) => storage.createFolder("/new"),
      remove: (storage) => storage.remove("/short"),
    };
    for (const inner of [createMemoryStorage(), await createDisk()]) {
      const error = new Error("of the test");
      const { storage } = await createFilled(wanted, { fault: "error", error }, inner);
      await expect(acts[act]?.(storage)).rejects.toBe(error);
      expect(await readFileText(inner, "/short")).toBe("a short file");
      expect(await inner.stat("/new")).toBeUndefined();
      // It was a fault of this once.
      await acts[act]?.(storage);
    }
    expect((await readdir(base, { recursive: true })).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("fails by a code of the contract, and by unavailable where none is named", async () => {
    for (const code of ["no-space", undefined] as const) {
      const fault = { fault: "error" as const, ...(code !== undefined && { error: code }) };
      const { storage } = await createFilled({ verb: "write", step: "call" }, fault);
      const failure = await storage.write("/new", chunks()).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StorageError);
      expect(failure).toMatchObject({ code: code ?? "unavailable" });
    }
  });

  it("loses acknowledgements: the change is done", async () => {
    const acts: readonly [StorageStep["verb"], (storage: StorageAdapter) => Promise<unknown>, string, string][] = [
      ["write", (storage) => put(storage, "/new", "new"), "/new", "file"],
      ["createFolder", (storage) => storage.createFolder("/new"), "/new", "folder"],
      ["remove", (storage) => storage.remove("/short"), "/short", "undefined"],
    ];
    for (const [verb, act, path, kind] of acts) {
      const { inner, storage } = await createFilled({ verb, step: "response" }, { fault: "error" });
      await expect(act(storage)).rejects.toMatchObject({ code: "unavailable" });
      expect(String((await inner.stat(path))?.kind)).toBe(kind);
    }
  });

  it("gives content in small pieces, whole, and takes it so", async () => {
    const { storage, inner } = await createFilled(
      { verb: "read", path: "/short" },
      { fault: "delay", milliseconds: 0 },
    );
    const pieces = createFaultyStorage(inner, ({ step }) =>
      step === "chunk" ? { fault: "short", bytes: 5 } : undefined,
    );
    const sizes: number[] = [];
    for await (const chunk of (await pieces.read("/short")).body as unknown as AsyncIterable<Uint8Array>) {
      sizes.push(chunk.byteLength);
    }
    expect(sizes).toEqual([5, 5, 2]);
    const took: number[] = [];
    const counting = overrideStorage(inner, {
      write: (path, content, options) => inner.write(path, counted(content), options),
    });
    async function* counted(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        took.push(chunk.byteLength);
        yield chunk;
      }
    }
    const short = createFaultyStorage(counting, once({ step: "chunk", count: 1 }, { fault: "short", bytes: 2 }));
    await short.write("/new", textChunks("abcde", "fgh"));
    expect([took, await readFileText(storage, "/new")]).toEqual([[2, 2, 1, 3], "abcdefgh"]);
  });

  it("cuts what is read, written and listed, as if it were whole", async () => {
    const wanted = { step: "chunk", count: 2 } as const;
    const { storage } = await createFilled({ verb: "read", ...wanted }, { fault: "cut" });
    expect(
      new Uint8Array(await new Response((await storage.read("/long")).body).arrayBuffer()).byteLength,
    ).toBeLessThan(900_000);
    const short = await createFilled({ verb: "read", path: "/short", step: "chunk" }, { fault: "cut" });
    expect(await readFileText(short.storage, "/short")).toBe("");
    const written = await createFilled({ verb: "write", ...wanted }, { fault: "cut" });
    await written.storage.write("/new", textChunks("a", "b", "c"));
    expect(await readFileText(written.inner, "/new")).toBe("a");
    const refused = await createFilled({ verb: "write", ...wanted }, { fault: "cut" });
    await expect(refused.storage.write("/new", textChunks("a", "b"), { size: 2 })).rejects.toMatchObject({
      code: "incomplete",
    });
    const listed = await createFilled({ verb: "list", step: "entry", count: 3 }, { fault: "cut" });
    expect(await namesOf(listed.storage)).toEqual(["a", "b"]);
  });

  it("delays a step, and no longer than somebody waits for it", async () => {
    const begun = performance.now();
    const { storage } = await createFilled({ verb: "stat" }, { fault: "delay", milliseconds: 30 });
    expect(await storage.stat("/short")).toMatchObject({ name: "short" });
    expect(performance.now() - begun).toBeGreaterThan(25);
    const long = await createFilled({ verb: "read", step: "chunk" }, { fault: "delay", milliseconds: 1e6 });
    const reader = (await long.storage.read("/long")).body.getReader();
    const reading = reader.read();
    expect(await soon(reading)).toBe("waiting");
    await reader.cancel();
    expect(await reading).toEqual({ done: true, value: undefined });
  });

  it("hangs in a write until its signal aborts, at whatever step", async () => {
    const steps: readonly Partial<StorageStep>[] = [{ step: "call" }, { step: "chunk", count: 2 }, { step: "end" }];
    for (const wanted of [...steps, { step: "response" } as const]) {
      const { inner, storage } = await createFilled({ verb: "write", ...wanted }, { fault: "hang" });
      const controller = new AbortController();
      const writing = storage.write("/short", textChunks("new", "er"), { signal: controller.signal });
      expect(await soon(writing)).toBe("waiting");
      const reason = new Error("gone");
      controller.abort(reason);
      await expect(writing).rejects.toBe(reason);
      expect(await readFileText(inner, "/short")).toBe(wanted.step === "response" ? "newer" : "a short file");
    }
  });

  it("hangs in a read until it is cancelled, and closes what it has open", async () => {
    for (const step of ["chunk", "end"] as const) {
      let closed = 0;
      const memory = createMemoryStorage();
      const watched = overrideStorage(memory, {
        async read(path, range) {
          const { entry, body } = await memory.read(path, range);
          const source = toByteSource(body);
          const close = async () => {
            closed += 1;
          };
          return { entry, body, source: { ...source, close } };
        },
      });
      const { storage } = await createFilled({ verb: "read", step }, { fault: "hang" }, watched);
      const { body } = await storage.read("/long");
      const reader = body.getReader();
      let last = reader.read();
      while (step === "end" && (await soon(last)) !== "waiting") last = reader.read();
      expect(await soon(last)).toBe("waiting");
      await reader.cancel();
      expect(await last).toEqual({ done: true, value: undefined });
      expect(closed).toBeGreaterThan(0);
    }
  });

  it("hangs in a listing until it is left, taken one by one or many at a time", async () => {
    for (const step of ["call", "entry", "end"] as const) {
      for (const isBatched of [false, true]) {
        const { storage } = await createFilled({ verb: "list", step }, { fault: "hang" });
        const members = storage.list("/folder");
        const steps = (isBatched ? toBatches(members) : members)[Symbol.asyncIterator]();
        let last = steps.next() as Promise<unknown>;
        for (let taken = 0; taken < 9 && (await soon(last)) !== "waiting"; taken += 1) last = steps.next();
        expect(await soon(last)).toBe("waiting");
        last.catch(() => undefined);
        expect(await soon(Promise.resolve(steps.return?.()))).toEqual({ done: true, value: undefined });
      }
    }
  });

  it("hangs in any verb until the signal of the fault aborts", async () => {
    for (const verb of ["stat", "createFolder", "remove"] as const) {
      const controller = new AbortController();
      const { storage } = await createFilled({ verb }, { fault: "hang", until: controller.signal });
      const calling = storage[verb]("/short").catch((error: unknown) => error);
      expect(await soon(calling)).toBe("waiting");
      const reason = new Error("enough");
      controller.abort(reason);
      expect(await calling).toBe(reason);
    }
  });

  it("refuses a fault that a step cannot have, by a TypeError", async () => {
    const wrong: readonly [Partial<StorageStep>, StorageFault][] = [
      [{ step: "call" }, { fault: "short", bytes: 1 }],
      [{ step: "response" }, { fault: "cut" }],
      [{ step: "entry" }, { fault: "short", bytes: 1 }],
      [{ step: "chunk" }, { fault: "short", bytes: 0 }],
      [{ step: "chunk" }, { fault: "short", bytes: "1" as unknown as number }],
    ];
    for (const [wanted, fault] of wrong) {
      const { storage } = await createFilled(wanted, fault);
      const all = async () => [await readFileText(storage, "/short"), await namesOf(storage)];
      await expect(all()).rejects.toThrow(TypeError);
    }
  });
});
