import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPartMemory, type PartMemory } from "../../../src/storage/object-store/part-memory.ts";

const MEBIBYTE = 1_048_576;

/** Adds an upload; `ended` is the error with which it lost its memory. */
function openUpload(memory: PartMemory, owner?: string) {
  const controller = new AbortController();
  const upload = { controller, ended: undefined as unknown, hasTaken: false };
  const held = memory.open({
    owner,
    signal: controller.signal,
    end(error) {
      upload.ended = error;
    },
  });
  async function take(bytes: number): ReturnType<typeof held.take> {
    upload.hasTaken = false;
    const buffer = await held.take(bytes);
    upload.hasTaken = true;
    return buffer;
  }
  return Object.assign(upload, held, { take });
}

describe("memory of parts", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearInterval", "Date"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);

  it("is given in the order of the requests, also to an upload that wants little", async () => {
    const memory = createPartMemory(10);
    const [first, second, third] = [openUpload(memory), openUpload(memory), openUpload(memory)];
    await first.take(6);
    void second.take(6);
    void third.take(1);
    await settle();
    expect([second.hasTaken, third.hasTaken]).toEqual([false, false]);
    first.giveBack(new ArrayBuffer(6), 6);
    await settle();
    expect([second.hasTaken, third.hasTaken]).toEqual([true, true]);
  });

  it("is free again when an upload ends, whatever it holds", async () => {
    const memory = createPartMemory(40);
    const [first, second] = [openUpload(memory), openUpload(memory)];
    await first.take(5);
    await first.take(5);
    void second.take(40);
    first.close();
    first.giveBack(new ArrayBuffer(5), 5);
    await settle();
    expect(second.hasTaken).toBe(true);
    const third = openUpload(memory);
    void third.take(1);
    await settle();
    expect(third.hasTaken).toBe(false);
  });

  it("is not given to an upload that has lost it", async () => {
    const memory = createPartMemory(10);
    const [slow, other] = [openUpload(memory, "alice"), openUpload(memory, "alice")];
    await slow.take(10);
    void other.take(10);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([slow.ended, other.hasTaken]).toEqual([expect.anything(), true]);
    await expect(slow.take(10)).rejects.toMatchObject({ code: "unavailable" });
    other.close();
    const next = openUpload(memory, "alice");
    void next.take(10);
    await settle();
    expect(next.hasTaken).toBe(true);
  });

  it("is not waited for by an upload whose client has disconnected, and others get it", async () => {
    const memory = createPartMemory(10);
    const [first, second, third] = [openUpload(memory), openUpload(memory), openUpload(memory)];
    await first.take(6);
    const taken = second.take(6);
    void third.take(4);
    second.controller.abort(new Error("gone"));
    await expect(taken).rejects.toThrow("gone");
    expect(third.hasTaken).toBe(true);
  });

  it("is used again by a part of the same length only", async () => {
    const memory = createPartMemory(80);
    const upload = openUpload(memory);
    await upload.take(10);
    const buffer = new ArrayBuffer(10);
    upload.giveBack(buffer, 10);
    expect(await upload.take(9)).toBeUndefined();
    expect((await upload.take(10))?.buffer).toBe(buffer);
  });

  it("is taken from the slowest uploads while others wait, and from no others", async () => {
    const memory = createPartMemory(24 * MEBIBYTE);
    const [slow, sending, quick, late] = [0, 1, 2, 3].map(() => openUpload(memory));
    await slow?.take(8 * MEBIBYTE);
    await sending?.take(8 * MEBIBYTE);
    sending?.finishFilling();
    await vi.advanceTimersByTimeAsync(3_600_000);
    await quick?.take(8 * MEBIBYTE);
    expect(slow?.ended).toBeUndefined();
    void late?.take(MEBIBYTE);
    await vi.advanceTimersByTimeAsync(1000);
    expect(slow?.ended).toMatchObject({ name: "StorageError", code: "unavailable" });
    expect([sending?.ended, quick?.ended, late?.hasTaken]).toEqual([undefined, undefined, true]);
  });

  it("leaves each part 30 s and the time that it takes at 256 bytes a millisecond", async () => {
    const memory = createPartMemory(64 * MEBIBYTE);
    const [large, late] = [openUpload(memory), openUpload(memory)];
    await large.take(64 * MEBIBYTE);
    void late.take(1);
    await vi.advanceTimersByTimeAsync(290_000);
    expect(large.ended).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5000);
    expect([large.ended !== undefined, late.hasTaken]).toEqual([true, true]);
  });
});

describe("memory of parts of several owners", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearInterval", "Date"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  const settle = () => vi.advanceTimersByTimeAsync(0);

  /** Adds uploads of an owner that take a part each, as far as they get memory. */
  async function takeParts(memory: PartMemory, owner: string, count: number, bytes: number) {
    const uploads = Array.from({ length: count }, () => openUpload(memory, owner));
    for (const upload of uploads) upload.take(bytes).catch(() => undefined);
    await settle();
    return uploads;
  }

  const countTaken = (uploads: readonly { readonly hasTaken: boolean }[]): number =>
    uploads.filter(({ hasTaken }) => hasTaken).length;

  it("is a quarter for each owner, and at least one part", async () => {
    const memory = createPartMemory(80);
    expect(countTaken(await takeParts(memory, "alice", 9, 5))).toBe(4);
    expect(countTaken(await takeParts(memory, "bob", 9, 5))).toBe(4);
    expect(countTaken(await takeParts(memory, "carol", 2, 40))).toBe(1);
    const [dave] = await takeParts(memory, "dave", 1, 1);
    expect(dave?.hasTaken).toBe(false);
  });

  it("is given to owners in turns", async () => {
    const memory = createPartMemory(40);
    const [all] = await takeParts(memory, "all", 1, 40);
    const alice = await takeParts(memory, "alice", 3, 5);
    const bob = await takeParts(memory, "bob", 1, 10);
    const carol = await takeParts(memory, "carol", 1, 30);
    const counts = () => [alice, bob, carol].map(countTaken);
    expect(counts()).toEqual([0, 0, 0]);
    all?.close();
    await settle();
    // Carol's part comes before Alice's second one, and is not overtaken although it does not fit yet.
    expect(counts()).toEqual([1, 1, 0]);
    bob[0]?.close();
    await settle();
    expect(counts()).toEqual([2, 1, 1]);
  });

  it("is not given to an owner whose share is full, also if it is the next one", async () => {
    const memory = createPartMemory(40);
    const alice = await takeParts(memory, "alice", 3, 5);
    const bob = await takeParts(memory, "bob", 3, 5);
    expect([alice, bob].map(countTaken)).toEqual([2, 2]);
    bob[0]?.close();
    await settle();
    expect([alice, bob].map(countTaken)).toEqual([2, 3]);
  });

  it("is taken from a slow upload only if that helps one that waits", async () => {
    const memory = createPartMemory(40 * MEBIBYTE);
    const [slow] = await takeParts(memory, "alice", 1, 5 * MEBIBYTE);
    const bob = await takeParts(memory, "bob", 3, 5 * MEBIBYTE);
    for (const upload of bob) upload.finishFilling();
    expect(countTaken(bob)).toBe(2);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(slow?.ended).toBeUndefined();
    const [carol] = await takeParts(memory, "carol", 1, 40 * MEBIBYTE);
    expect(carol?.hasTaken).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(slow?.ended).toMatchObject({ code: "unavailable" });
  });

  it("is taken from a slow upload for another one of the same owner", async () => {
    const memory = createPartMemory(40 * MEBIBYTE);
    const [slow, , waiting] = await takeParts(memory, "alice", 3, 5 * MEBIBYTE);
    const [other] = await takeParts(memory, "bob", 1, 5 * MEBIBYTE);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([slow?.ended, other?.ended]).toEqual([expect.objectContaining({ code: "unavailable" }), undefined]);
    expect(waiting?.hasTaken).toBe(true);
  });
});
