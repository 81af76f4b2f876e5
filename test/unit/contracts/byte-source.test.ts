import { describe, expect, it } from "vitest";
import { type ByteSource, type SourceTap, sourceOfBytes, tap } from "../../../src/contracts/byte-source.ts";

const buffer = new Uint8Array(2);

/** A tap that writes down what it is called with. */
function recorder(): { readonly calls: unknown[]; readonly hooks: Required<SourceTap> } {
  const calls: unknown[] = [];
  const hooks = {
    onRead: () => void calls.push("read"),
    onBytes: (count: number) => void calls.push(count),
    onEnd: () => void calls.push("end"),
    onError: (error: unknown) => void calls.push(error),
    onClose: () => void calls.push("close"),
  };
  return { calls, hooks };
}

/** A source whose reads fail when `fail` is called, as those of storages do when they are closed. */
function failingSource(error: unknown): ByteSource & { fail(): void } {
  let fail = (): void => undefined;
  const reading = new Promise<number>((_, reject) => {
    fail = () => reject(error);
  });
  reading.catch(() => undefined);
  return { readInto: () => reading, close: async () => fail(), fail: () => fail() };
}

describe("tap", () => {
  it("reports each read with its bytes, and the end once", async () => {
    const { calls, hooks } = recorder();
    const source = tap(sourceOfBytes(new Uint8Array([1, 2, 3])), hooks);
    const counts = [];
    for (let turn = 0; turn < 4; turn++) counts.push(await source.readInto(buffer));
    await source.close();
    expect(counts).toEqual([2, 1, 0, 0]);
    expect(calls).toEqual(["read", 2, "read", 1, "read", "end", "read"]);
  });

  it("reports a failure once, and passes it on", async () => {
    const error = new Error("broken");
    const { calls, hooks } = recorder();
    const broken = failingSource(error);
    const source = tap(broken, hooks);
    broken.fail();
    await expect(source.readInto(buffer)).rejects.toBe(error);
    await expect(source.readInto(buffer)).rejects.toBe(error);
    await source.close();
    expect(calls).toEqual(["read", error, "read"]);
  });

  it("reports a failure that the source throws before it returns a promise", async () => {
    const error = new Error("broken");
    const { calls, hooks } = recorder();
    const throwing: ByteSource = {
      readInto() {
        throw error;
      },
      close: async () => undefined,
    };
    await expect(tap(throwing, hooks).readInto(buffer)).rejects.toBe(error);
    expect(calls).toEqual(["read", error]);
  });

  it("reports that the source is closed once, and not the read that fails because of it", async () => {
    const { calls, hooks } = recorder();
    const source = tap(failingSource(new Error("closed")), hooks);
    const reading = source.readInto(buffer);
    await source.close();
    await source.close();
    await expect(reading).rejects.toThrow("closed");
    expect(calls).toEqual(["read", "close"]);
  });

  it("adds no promise to a read of which only the start matters", () => {
    const reading = Promise.resolve(1);
    const source = tap({ readInto: () => reading, close: async () => undefined }, { onRead: () => undefined });
    expect(source.readInto(buffer)).toBe(reading);
  });
});
