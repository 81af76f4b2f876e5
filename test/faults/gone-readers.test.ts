import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createTestService } from "../support/service.ts";
import { fillStorage, overrideStorage } from "../support/storage.ts";

describe("a page of a large folder whose client has gone", () => {
  it("is not read to its end: it keeps nobody else waiting", async () => {
    const storage = createMemoryStorage();
    const gone = new AbortController();
    let listed = 0;
    async function* list() {
      for (;;) {
        listed += 1;
        if (listed === 5000) gone.abort();
        yield { name: `m${listed}`, kind: "file" as const, size: 1, modified: new Date(0) };
        // Without this nothing else would ever run.
        if (listed % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
        if (listed === 100_000) return;
      }
    }
    const test = await createTestService({ storage });
    storage.list = list;
    const answer = await test.call("GET", "/home/", { variant: "html", signal: gone.signal });
    expect(answer.status).toBe(400);
    expect(listed).toBeLessThan(5200);
  });
});

describe("an archive whose client has gone", () => {
  /** A service of which one file is not read before it is let go; the answer as it begins. */
  async function createSlow() {
    const memory = createMemoryStorage();
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let isSlow = true;
    const storage = overrideStorage(memory, {
      async read(path, range) {
        if (isSlow && path.endsWith("/b.txt")) await gate;
        return memory.read(path, range);
      },
    });
    const test = await createTestService({ storage });
    const letGo = async (): Promise<void> => {
      open();
      isSlow = false;
      await pause(20);
    };
    return { ...test, letGo };
  }

  const headers = { accept: "application/zip" };

  async function expectNoFailure({ log, call }: Awaited<ReturnType<typeof createSlow>>): Promise<void> {
    expect(log.entries).toEqual([]);
    const next = await call("GET", "/home/tree/", { headers });
    expect(next.header("content-length")).toBe(String(next.bytes.byteLength));
  }

  it("is no failure of the storage: nothing is logged, and the next one has its length (CONTRACT 3.4)", async () => {
    const test = await createSlow();
    // More than is read before the answer.
    await fillStorage(test.storage, { "/alice/tree/a.bin": "a".repeat(200_000), "/alice/tree/b.txt": "b" });
    const response = await test.open("GET", "/home/tree/", { headers });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const reading = (async () => {
      while (!(await reader.read()).done);
    })().catch(() => undefined);
    await pause(20);
    await reader.cancel();
    await test.letGo();
    await reading;
    await expectNoFailure(test);
  });

  it("is none either where the first part of it was being read", async () => {
    const test = await createSlow();
    await fillStorage(test.storage, { "/alice/tree/b.txt": "b" });
    const gone = new AbortController();
    const answer = test.call("GET", "/home/tree/", { headers, signal: gone.signal });
    await pause(20);
    gone.abort();
    expect((await answer).status).toBe(400);
    await test.letGo();
    await expectNoFailure(test);
  });
});
