import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  CONTENT,
  contentOf,
  describeAnswer,
  expectedAnswer,
  MODIFIED,
  moveDates,
  type ReadingRow,
  readingRows,
} from "../../support/conditional-read-rows.ts";
import { wireCases } from "./cases.ts";
import { createWireClient } from "./client.ts";
import { wireExceptions } from "./exceptions.ts";
import { type ExampleServer, isInstalled, type WireRuntime } from "./runtimes.ts";

/** Holds the whole list against a runtime. */
export function describeRuntime(runtime: WireRuntime): void {
  const title = `over the wire of ${runtime.name}`;
  if (!isInstalled(runtime)) {
    it.skip(`${title}: not installed; npm ci --prefix test/runtimes --ignore-scripts installs it`, () => undefined);
    return;
  }
  describe(title, () => {
    let server: ExampleServer | undefined;
    let client: ReturnType<typeof createWireClient>;

    beforeAll(async () => {
      server = await runtime.start();
      client = createWireClient(server);
      await client.putOutside();
    }, 120_000);

    afterAll(async () => {
      client?.close();
      await server?.stop();
    });

    const exceptions = new Map(
      wireExceptions
        .filter((row) => row.runtime === runtime.name || row.runtime === runtime.like)
        .map((row) => [row.name, row]),
    );

    const { retries: retry = 0 } = runtime;
    let folders = 0;
    for (const { name, run } of wireCases) {
      const exception = exceptions.get(name);
      if (exception === undefined) it(name, { retry }, async () => run(await client.enter(`case-${folders++}`)));
      // A test fails if a runtime no longer has its exception: the list must be shortened.
      else if (exception.seen !== undefined) {
        it(`${name}: not here, but as the exception says`, async () => {
          const environment = await client.enter(`case-${folders++}`, 1000);
          await expect(run(environment)).rejects.toThrow(exception.seen);
        });
      }
    }

    it("has ended no connection under a request", () => {
      expect(client.repeats()).toBe(0);
    });

    describe("reading", () => {
      const tags = new Map<string, string>();
      const modified = new Map<string, number>();

      beforeAll(async () => {
        const { put, call, folder } = await client.enter("reading");
        await put("data.bin", CONTENT);
        await put("empty.txt", contentOf("empty.txt"));
        for (const file of ["data.bin", "empty.txt"]) {
          const { header } = await call("HEAD", folder + file);
          tags.set(file, header("etag") ?? "");
          modified.set(file, Date.parse(header("last-modified") ?? ""));
        }
        // A date names a version only when it is over.
        await new Promise((resolve) => setTimeout(resolve, Math.max(...modified.values()) + 1100 - Date.now()));
      });

      it.each(readingRows)("$method $file, $rule: $fields", async (row: ReadingRow) => {
        const shift = (modified.get(row.file) ?? 0) - Math.floor(MODIFIED / 1000) * 1000;
        const entries = Object.entries(row.fields).map(([name, value]) => {
          return [name, moveDates(value.replace("TAG", tags.get(row.file) ?? ""), shift)] as const;
        });
        const headers = { Accept: "application/json", ...Object.fromEntries(entries) };
        const answer = await client.call(row.method, `/home/reading/${row.file}`, { headers });
        const header = (name: string): string | null => {
          const value = answer.header(name);
          return value !== null && name === "last-modified" ? moveDates(value, -shift) : value;
        };
        expect(describeAnswer(row, { ...answer, header })).toEqual(expectedAnswer(row));
      });
    });
  });
}
