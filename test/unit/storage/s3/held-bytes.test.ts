import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { inChunks, put } from "../../../../src/testing/storage/content.ts";
import { appendText, beginUpload, newKey, offsetOf, uploadsOf } from "../../../../src/testing/uploads/setup.ts";
import { createFormFiles } from "../../../../src/uploads/form-files.ts";
import { UNCOUNTED } from "../../../support/forms.ts";
import { createFake, type S3Fake } from "../../../support/s3/fake.ts";

const MEBIBYTE = 1_048_576;
const TEBIBYTE = 1024 ** 4;
const SMALL = { maxHeldBytes: 64 * MEBIBYTE };

/** Content that sends some MiB, and then nothing. */
function createStalled(mebibytes: number) {
  const state = { sent: 0, isRead: false };
  const controller = new AbortController();
  async function* content(): AsyncGenerator<Uint8Array> {
    state.isRead = true;
    for (; state.sent < mebibytes; state.sent += 1) yield new Uint8Array(MEBIBYTE);
    await new Promise(() => undefined);
  }
  return { state, content: content(), controller };
}

function sentParts({ calls }: S3Fake): readonly number[] {
  return calls.flatMap(({ query, body }) => (query.has("partNumber") ? [body.length] : []));
}

/** Waits until the parts of the store are of these lengths. */
async function untilSent(fake: S3Fake, expected: readonly number[]): Promise<void> {
  await expect.poll(() => sentParts(fake), { timeout: 20_000 }).toEqual(expected);
}

describe("memory of an upload to S3", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("follows what has arrived, whatever is announced", async () => {
    const fake = createFake();
    const { content, controller } = createStalled(17);
    const written = fake.storage.write("/file", content, { size: 5 * TEBIBYTE, signal: controller.signal });
    await untilSent(fake, [8 * MEBIBYTE, 8 * MEBIBYTE]);
    controller.abort(new Error("gone"));
    await expect(written).rejects.toThrow("gone");
    expect(fake.uploads.size).toBe(0);
  });

  it("is shared by all uploads: one over the limit reads no further until there is memory", async () => {
    const { storage } = createFake(undefined, { ...SMALL, partBytes: 32 * MEBIBYTE });
    const uploads = [createStalled(3), createStalled(3), createStalled(3)];
    const start = ({ content, controller }: (typeof uploads)[number], index: number) => {
      const written = storage.write(`/${index}`, content, { size: 32 * MEBIBYTE, signal: controller.signal });
      written.catch(() => undefined);
      return written;
    };
    const written = uploads.slice(0, 2).map(start);
    await expect.poll(() => uploads.map(({ state }) => state.sent)).toEqual([3, 3, 0]);
    written.push(...uploads.slice(2).map((upload) => start(upload, 2)));
    await expect.poll(() => uploads.map(({ state }) => state.sent)).toEqual([3, 3, 1]);
    uploads[0]?.controller.abort(new Error("gone"));
    await expect(written[0]).rejects.toThrow("gone");
    await expect.poll(() => uploads.map(({ state }) => state.sent)).toEqual([3, 3, 3]);
    for (const { controller } of uploads) controller.abort(new Error("gone"));
    await Promise.allSettled(written);
  });

  it("is taken from the slowest upload while another waits: it ends as unavailable", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let now = Date.now();
    const { storage } = createFake(undefined, { ...SMALL, partBytes: 64 * MEBIBYTE, clock: () => now });
    const { content, state } = createStalled(2);
    const slow = storage.write("/slow", content);
    slow.catch(() => undefined);
    await expect.poll(() => state.sent).toBe(2);
    const other = storage.write("/other", inChunks(new Uint8Array(2 * MEBIBYTE), MEBIBYTE));
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    now += 300_000;
    await vi.advanceTimersByTimeAsync(1000);
    await expect(slow).rejects.toMatchObject({ code: "unavailable" });
    expect(await other).toMatchObject({ size: 2 * MEBIBYTE });
  });

  it("is free again after each upload, also a failed one", async () => {
    let isBroken = true;
    const fake = createFake(
      ({ query }) => (isBroken && query.has("uploads") ? new Response(null, { status: 403 }) : undefined),
      { ...SMALL, partBytes: 32 * MEBIBYTE },
    );
    const bytes = new Uint8Array(33 * MEBIBYTE);
    for (const path of ["/1", "/2", "/3"]) {
      await expect(fake.storage.write(path, inChunks(bytes, MEBIBYTE))).rejects.toMatchObject({ code: "denied" });
    }
    isBroken = false;
    for (const path of ["/1", "/2", "/3"]) await put(fake.storage, path, "x");
    expect([...fake.objects.keys()]).toEqual(["1", "2", "3"]);
  });
});

describe("memory of several accounts' uploads to S3", () => {
  let now = 0;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    now = Date.now();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const createSmall = () => createFake(undefined, { ...SMALL, clock: () => now }).storage;

  /** Starts uploads of an account that send 2 MiB and stall. */
  async function stall(storage: S3Fake["storage"], owner: string, count: number) {
    const uploads = Array.from({ length: count }, () => createStalled(2));
    const ended: unknown[] = [];
    const written = uploads.map(({ content, controller: { signal } }, index) =>
      storage.write(`/${owner}${index}`, content, { owner, signal }).catch((error) => ended.push(error)),
    );
    await expect.poll(() => uploads.every(({ state }) => state.isRead)).toBe(true);
    // Some wait for memory.
    await expect.poll(() => vi.getTimerCount()).toBe(1);

    async function abort(): Promise<void> {
      for (const { controller } of uploads) controller.abort(new Error("gone"));
      await Promise.all(written);
    }

    return { ended, abort };
  }

  it("is shared fairly: the stalled uploads of one account do not delay another account", async () => {
    const storage = createSmall();
    const stalled = await stall(storage, "mallory", 32);
    const size = 40 * MEBIBYTE;
    expect(await put(storage, "/small", "0123456789", { owner: "alice" })).toMatchObject({ size: 10 });
    const large = storage.write("/large", inChunks(new Uint8Array(size), MEBIBYTE), { owner: "alice" });
    expect(await large).toMatchObject({ size });
    expect(stalled.ended).toEqual([]);
    await stalled.abort();
  });

  it("is not needed for small files, so forms do not wait for each other before their action", async () => {
    const storage = createSmall();
    const forms = Array.from({ length: 20 }, (_, form) =>
      createFormFiles({
        write: (name, content) => storage.write(`/${form}-${name}`, content, { owner: "alice" }),
        permits: UNCOUNTED,
        signal: undefined,
      }),
    );
    await Promise.all(
      forms.map(async (files) => {
        for (const filename of ["a", "b"]) {
          await files.receive({ name: "file", filename, body: inChunks(new Uint8Array(10), 10) });
        }
        await files.decide(true);
      }),
    );
    const outcomes = forms.flatMap((files) => files.outcomes());
    expect(outcomes).toEqual(forms.flatMap(() => [{ name: "a" }, { name: "b" }]));
  });

  it("is not taken from a small file while the host decides on it", async () => {
    const storage = createSmall();
    let decide: () => void = () => undefined;
    const decided = new Promise<void>((resolve) => {
      decide = resolve;
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      await decided;
    }
    const written = storage.write("/small", content(), { owner: "alice" });
    const stalled = await stall(storage, "alice", 9);
    now += 300_000;
    await vi.advanceTimersByTimeAsync(1000);
    expect(stalled.ended.length).toBeGreaterThan(0);
    decide();
    expect(await written).toMatchObject({ size: 10 });
    await stalled.abort();
  });
});

describe("memory of an append to a resumable upload in S3", () => {
  const owner = "alice";
  /** Two appends of an owner have the memory; a third one waits. */
  async function createWaiting(tailBytes = 0) {
    const { storage } = createFake(undefined, SMALL);
    const uploads = uploadsOf(storage);
    const key = newKey();
    await beginUpload(storage, "/waiting", {}, key);
    if (tailBytes > 0) await appendText(storage, key, 0, "t".repeat(tailBytes));
    const holders = [createStalled(3), createStalled(3)];
    const held = holders.map(async ({ content, controller: { signal } }, index) => {
      const one = newKey();
      await beginUpload(storage, `/${index}`, {}, one);
      return uploads.append(one, 0, content, { owner, signal }).catch(() => undefined);
    });
    await expect.poll(() => holders.map(({ state }) => state.sent)).toEqual([3, 3]);
    const waiting = createStalled(3);
    const { signal } = waiting.controller;
    const appended = uploads.append(key, tailBytes, waiting.content, { owner, signal });
    appended.catch(() => undefined);
    await expect.poll(() => waiting.state.isRead).toBe(true);

    async function end(): Promise<void> {
      for (const { controller } of holders) controller.abort(new Error("gone"));
      await Promise.all(held);
    }

    return { storage, key, waiting, appended, end };
  }

  it("is not waited for after its signal, and what has arrived is kept", async () => {
    const { storage, key, waiting, appended, end } = await createWaiting();
    await expect.poll(() => waiting.state.sent).toBe(1);
    waiting.controller.abort(new Error("client gone"));
    await expect(appended).rejects.toThrow("client gone");
    expect(await offsetOf(storage, key)).toBe(2 * MEBIBYTE);
    await end();
    const { offset } = await appendText(storage, key, 2 * MEBIBYTE, "and on");
    expect(offset).toBe(2 * MEBIBYTE + 6);
  });

  it("is not waited for when another call wants the upload", async () => {
    const { storage, key, appended, end } = await createWaiting();
    expect(await offsetOf(storage, key)).toBe(2 * MEBIBYTE);
    await expect(appended).rejects.toMatchObject({ code: "locked" });
    await end();
  });

  it("loses nothing of what earlier appends have stored, if it ends before there is memory for that", async () => {
    const tail = 3 * MEBIBYTE;
    const { storage, key, waiting, appended, end } = await createWaiting(tail);
    // Its tail is read before it waits.
    await new Promise((resolve) => setTimeout(resolve, 50));
    waiting.controller.abort(new Error("client gone"));
    await expect(appended).rejects.toThrow("client gone");
    const offset = (await offsetOf(storage, key)) ?? 0;
    expect(offset).toBeGreaterThanOrEqual(tail);
    await end();
    expect((await appendText(storage, key, offset, "and on")).offset).toBe(offset + 6);
    expect(await uploadsOf(storage).complete(key)).toMatchObject({ size: offset + 6 });
  });
});
