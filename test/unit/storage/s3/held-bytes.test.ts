import { afterEach, describe, expect, it, vi } from "vitest";
import { inChunks, put } from "../../../../src/testing/storage/content.ts";
import { createFake, type S3Fake } from "../../../support/s3/fake.ts";

const MEBIBYTE = 1_048_576;
const TEBIBYTE = 1024 ** 4;
const SMALL = { maxHeldBytes: 64 * MEBIBYTE };

/** Content that sends some MiB, and then nothing. */
function createStalled(mebibytes: number) {
  const state = { sent: 0 };
  const controller = new AbortController();
  async function* content(): AsyncGenerator<Uint8Array> {
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
    const uploads = [createStalled(1), createStalled(1), createStalled(1)];
    const written = uploads.map(({ content, controller }, index) =>
      storage.write(`/${index}`, content, { size: 32 * MEBIBYTE, signal: controller.signal }),
    );
    for (const one of written) one.catch(() => undefined);
    await expect.poll(() => uploads.map(({ state }) => state.sent)).toEqual([1, 1, 0]);
    uploads[0]?.controller.abort(new Error("gone"));
    await expect(written[0]).rejects.toThrow("gone");
    await expect.poll(() => uploads.map(({ state }) => state.sent)).toEqual([1, 1, 1]);
    for (const { controller } of uploads) controller.abort(new Error("gone"));
    await Promise.allSettled(written);
  });

  it("is taken from the slowest upload while another waits: it ends as unavailable", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let now = Date.now();
    const { storage } = createFake(undefined, { ...SMALL, partBytes: 64 * MEBIBYTE, clock: () => now });
    const { content, state } = createStalled(1);
    const slow = storage.write("/slow", content);
    slow.catch(() => undefined);
    await expect.poll(() => state.sent).toBe(1);
    const other = put(storage, "/other", "x");
    await expect.poll(() => vi.getTimerCount()).toBe(1);
    now += 300_000;
    await vi.advanceTimersByTimeAsync(1000);
    await expect(slow).rejects.toMatchObject({ code: "unavailable" });
    expect(await other).toMatchObject({ size: 1 });
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
