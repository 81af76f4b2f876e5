import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createTestService } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

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
  it("is no failure of the storage: nothing is logged, and the next one has its length (CONTRACT 3.4)", async () => {
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
    const test = await createTestService({ storage, files: { "/alice/tree/b.txt": "b" } });
    const headers = { accept: "application/zip" };
    const response = await test.open("GET", "/home/tree/", { headers });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = reader.read().catch(() => undefined);
    await pause(20);
    await reader.cancel();
    open();
    await first;
    await pause(20);
    isSlow = false;
    expect(test.log.entries).toEqual([]);
    const next = await test.call("GET", "/home/tree/", { headers });
    expect(next.header("content-length")).toBe(String(next.bytes.byteLength));
  });
});
