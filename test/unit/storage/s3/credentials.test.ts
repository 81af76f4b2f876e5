import { describe, expect, it } from "vitest";
import { createKeySource } from "../../../../src/storage/s3/credentials.ts";
import type { S3Credentials } from "../../../../src/storage/s3/options.ts";

const MINUTE = 60_000;

/** A source whose provider does what `answer` does, and whose clock stands still until it is set. */
function createSource(answer: (asked: number) => Promise<S3Credentials>, headersTimeout = 1000) {
  const state = { now: Date.UTC(2026, 10, 22), asked: 0 };
  const credentials = () => {
    state.asked += 1;
    return answer(state.asked);
  };
  return { state, source: createKeySource({ credentials, clock: () => state.now, headersTimeout }) };
}

function toKeys(accessKeyId: string, expiration?: Date): S3Credentials {
  return { accessKeyId, secretAccessKey: "SECRET", ...(expiration && { expiration }) };
}

describe("keys of a provider", () => {
  it("are asked for once by all who wait, and again five minutes before they end", async () => {
    const { state, source } = createSource(async (asked) => toKeys(`KEY${asked}`, new Date(state.now + 10 * MINUTE)));
    const first = await Promise.all([source.current(), source.current()]);
    expect(first.map(({ accessKeyId }) => accessKeyId)).toEqual(["KEY1", "KEY1"]);
    state.now += 4 * MINUTE;
    expect((await source.current()).accessKeyId).toBe("KEY1");
    state.now += MINUTE;
    expect((await source.current()).accessKeyId).toBe("KEY2");
  });

  it("are used until they end while the provider fails, which is not asked by every request", async () => {
    const { state, source } = createSource(async (asked) => {
      if (asked > 1) throw new Error("down");
      return toKeys("KEY1", new Date(state.now + 10 * MINUTE));
    });
    await source.current();
    state.now += 6 * MINUTE;
    for (let request = 0; request < 3; request += 1) expect((await source.current()).accessKeyId).toBe("KEY1");
    expect(state.asked).toBe(2);
    state.now += 10_000;
    await source.current();
    expect(state.asked).toBe(3);
    state.now += 4 * MINUTE;
    await expect(source.current()).rejects.toThrow("down");
    await expect(source.current()).rejects.toThrow("down");
    expect(state.asked).toBe(4);
    state.now += 10_000;
    await expect(source.current()).rejects.toThrow("down");
    expect(state.asked).toBe(5);
  });

  it("that do not come in time are waited for no longer, and taken when they come after all", async () => {
    let give: (keys: S3Credentials) => void = () => undefined;
    const { source } = createSource(() => new Promise((resolve) => (give = resolve)), 20);
    await expect(source.current()).rejects.toMatchObject({ name: "TimeoutError" });
    give(toKeys("LATE"));
    await expect.poll(() => source.current().catch(() => undefined)).toMatchObject({ accessKeyId: "LATE" });
  });

  it("are awaited only until the signal aborts, without affecting other callers", async () => {
    let give: (keys: S3Credentials) => void = () => undefined;
    const { source } = createSource(() => new Promise((resolve) => (give = resolve)));
    const controller = new AbortController();
    const [gone, other] = [source.current(controller.signal), source.current()];
    controller.abort(new Error("gone"));
    await expect(gone).rejects.toThrow("gone");
    give(toKeys("KEY"));
    expect((await other).accessKeyId).toBe("KEY");
  });

  it("that the store refuses are asked for anew, but not at once again", async () => {
    const { state, source } = createSource(async (asked) => toKeys(`KEY${asked}`));
    const first = await source.current();
    expect(source.refuse(first)).toBe(false);
    state.now += 10_000;
    expect(source.refuse(first)).toBe(true);
    expect((await source.current()).accessKeyId).toBe("KEY2");
    expect(source.refuse(first)).toBe(true);
  });
});
