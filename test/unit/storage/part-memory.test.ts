import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPartMemory } from "../../../src/storage/object-store/part-memory.ts";

const MEBIBYTE = 1_048_576;

/** Adds an upload; `ended` is the error with which it lost its memory. */
function openUpload(memory: ReturnType<typeof createPartMemory>) {
  const controller = new AbortController();
  const upload = { controller, ended: undefined as unknown, hasTaken: false };
  const held = memory.open(controller.signal, (error) => {
    upload.ended = error;
  });
  async function take(bytes: number): Promise<Uint8Array<ArrayBuffer>> {
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
    const memory = createPartMemory(10);
    const [first, second] = [openUpload(memory), openUpload(memory)];
    await first.take(5);
    await first.take(5);
    void second.take(10);
    first.close();
    first.giveBack(new ArrayBuffer(5), 5);
    await settle();
    expect(second.hasTaken).toBe(true);
    const third = openUpload(memory);
    void third.take(1);
    await settle();
    expect(third.hasTaken).toBe(false);
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
    const memory = createPartMemory(20);
    const upload = openUpload(memory);
    await upload.take(10);
    const buffer = new ArrayBuffer(10);
    upload.giveBack(buffer, 10);
    expect((await upload.take(9)).byteLength).toBe(0);
    expect((await upload.take(10)).buffer).toBe(buffer);
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
