import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createTestService } from "../support/service.ts";

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
