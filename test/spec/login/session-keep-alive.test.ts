import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { bySession, createTestService, type TestService } from "../../support/service.ts";

const MINUTE = 60;
const STEPS = 9;
const encoder = new TextEncoder();

async function statusOf({ call }: TestService, headers: Readonly<Record<string, string>>): Promise<number> {
  return (await call("GET", "/home/", { as: null, variant: "json", headers })).status;
}

/** A body that comes in pieces, some minutes between them. */
function slowBody(test: TestService, minutes: number): ReadableStream<Uint8Array> {
  let step = 0;
  return new ReadableStream(
    {
      async pull(controller) {
        if (step++ === STEPS) return controller.close();
        await settled();
        test.advance(minutes * MINUTE);
        controller.enqueue(encoder.encode("piece"));
      },
    },
    { highWaterMark: 0 },
  );
}

/** Waits for work that no response waits for: it hashes, and shares threads with other work of a busy machine. */
async function settled(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await crypto.subtle.digest("SHA-256", encoder.encode("turn"));
  await new Promise((resolve) => setTimeout(resolve, 20));
}

describe("a session", () => {
  it("is kept alive by a running upload (CONTRACT 6.3)", async () => {
    const test = await createTestService();
    const headers = bySession(await test.login());
    const answer = await test.call("PUT", "/home/long", { as: null, headers, body: slowBody(test, 20) });
    expect(answer.status).toBe(201);
    expect(await test.stored("/alice/long")).toBe("piece".repeat(STEPS));
    expect(await statusOf(test, headers)).toBe(200);
  });

  it("is kept alive by a running download (CONTRACT 6.3)", async () => {
    const storage = createMemoryStorage();
    const test = await createTestService({ storage, files: { "/alice/long": "piece".repeat(STEPS) } });
    const { read } = storage;
    storage.read = async (...place) => ({ entry: (await read(...place)).entry, body: slowBody(test, 20) });
    const headers = bySession(await test.login());
    const answer = await test.call("GET", "/home/long", { as: null, headers });
    expect(answer.text).toBe("piece".repeat(STEPS));
    await settled();
    expect(await statusOf(test, headers)).toBe(200);
  });

  it("is kept alive by an archive of files that are each read at once (CONTRACT 6.3)", async () => {
    const storage = createMemoryStorage();
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`/alice/${index}`, "piece"]));
    const test = await createTestService({ storage, files });
    const { read } = storage;
    storage.read = async (...place) => {
      await settled();
      // Up to eight are opened at once.
      test.advance(3 * MINUTE);
      return read(...place);
    };
    const headers = bySession(await test.login());
    const answer = await test.call("GET", "/home/", { as: null, headers: { ...headers, accept: "application/zip" } });
    expect(answer.status).toBe(200);
    await settled();
    expect(await statusOf(test, headers)).toBe(200);
  });

  it("is over where a transfer stands still for the idle time (CONTRACT 6.3)", async () => {
    const test = await createTestService();
    const headers = bySession(await test.login());
    const answer = await test.call("PUT", "/home/long", { as: null, headers, body: slowBody(test, 31) });
    // The request was let in, and is finished.
    expect(answer.status).toBe(201);
    expect(await statusOf(test, headers)).toBe(401);
  });

  it("is over after its time in all, however busy (CONTRACT 6.3)", async () => {
    const test = await createTestService({ session: { maxSeconds: 100 * MINUTE } });
    const headers = bySession(await test.login());
    await test.call("PUT", "/home/long", { as: null, headers, body: slowBody(test, 12) });
    expect(await statusOf(test, headers)).toBe(401);
  });

  it("stays ended when a transfer of its own goes on after the logout, and the transfer ends too", async () => {
    const test = await createTestService();
    const headers = bySession(await test.login());
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let step = 0;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        if (step++ === 3) return controller.close();
        if (step > 1) await held;
        test.advance(5 * MINUTE);
        controller.enqueue(encoder.encode("piece"));
      },
    });
    const upload = test.call("PUT", "/home/long", { as: null, headers, body });
    await settled();
    expect((await test.call("POST", "/__svc__/logout", { as: null, headers })).status).toBe(204);
    release();
    expect((await upload).status).toBe(401);
    expect(await test.stored("/alice/long")).toBeUndefined();
    await settled();
    expect(await statusOf(test, headers)).toBe(401);
  });

  it("gives a transfer that breaks off back to the storage", async () => {
    const test = await createTestService({ files: { "/alice/long": new Uint8Array(1_000_000) } });
    const headers = bySession(await test.login());
    const response = await test.open("GET", "/home/long", { as: null, headers });
    await response.body?.cancel();
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error("gone"));
      },
    });
    expect((await test.call("PUT", "/home/cut", { as: null, headers, body })).status).toBe(400);
    expect(await test.stored("/alice/cut")).toBeUndefined();
    expect(await statusOf(test, headers)).toBe(200);
  });
});
