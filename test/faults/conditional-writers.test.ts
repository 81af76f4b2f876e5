import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { AUTHORIZATION, type Served, serve } from "../support/served.ts";
import { createTestService } from "../support/service.ts";

const WRITERS = 50;
const PATH = "/home/race.txt";

/** What a client sees of an answer. */
interface Seen {
  readonly status: number;
  readonly etag: string;
  readonly text: string;
}

/**
 * Sends a request in one of the ways; a body goes out in parts, with pauses in between, so that writers get in each
 * other's way.
 */
type Send = (method: string, headers?: Readonly<Record<string, string>>, body?: string) => Promise<Seen>;

let folder: string | undefined;
let served: Served | undefined;
let send: Send;

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

async function createStorage(kind: string): Promise<StorageAdapter> {
  if (kind === "memory") return createMemoryStorage();
  folder = await mkdtemp(join(tmpdir(), "fileferry-writers-"));
  return createDiskStorage({ root: folder, durability: "rename" });
}

/** Each of two halves after a pause of its own. */
function inParts(body: string): ReadableStream<Uint8Array> {
  const half = Math.ceil(body.length / 2);
  const parts = [body.slice(0, half), body.slice(half)].map((part) => new TextEncoder().encode(part));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        const part = parts.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
    },
    { highWaterMark: 0 },
  );
}

async function sendInProcess(storage: StorageAdapter): Promise<Send> {
  const { call } = await createTestService({ storage });
  return async (method, headers = {}, body) => {
    const answer = await call(method, PATH, { as: "root", headers, body: body === undefined ? body : inParts(body) });
    return { status: answer.status, etag: answer.header("etag") ?? "", text: answer.text };
  };
}

async function sendOverWire(storage: StorageAdapter): Promise<Send> {
  served = await serve(storage);
  const { origin } = served;
  return async (method, headers = {}, body) => {
    const init = { method, headers: { ...headers, Authorization: AUTHORIZATION } };
    const parts = body === undefined ? {} : { body: inParts(body), duplex: "half" };
    const response = await fetch(`${origin}${PATH}`, { ...init, ...parts } as RequestInit);
    return { status: response.status, etag: response.headers.get("etag") ?? "", text: await response.text() };
  };
}

/** How many answers had each status. */
function count(answers: readonly Seen[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const environments = ["disk", "memory"].flatMap((kind) => [
  [kind, "in process", sendInProcess] as const,
  [kind, "over the wire", sendOverWire] as const,
]);

describe.each(environments)("writers at the same time, on %s, %s", (kind, _way, connect) => {
  beforeEach(async () => {
    send = await connect(await createStorage(kind));
  });

  afterEach(async () => {
    await served?.close();
    served = undefined;
    if (folder !== undefined) {
      const left = await readdir(folder);
      expect(left.filter((name) => name.startsWith(".fileferry-"))).toEqual([]);
      await rm(folder, { recursive: true });
    }
    folder = undefined;
  });

  it("with If-None-Match: * create a file once: one 201, the others 412 (CONTRACT 4.2)", async () => {
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(
        times(WRITERS, (index) => send("PUT", { "If-None-Match": "*" }, `writer ${index}`)),
      );
      expect(count(answers)).toEqual({ 201: 1, 412: WRITERS - 1 });
      const winner = answers.findIndex(({ status }) => status === 201);
      const found = await send("GET");
      expect([found.text, found.etag]).toEqual([`writer ${winner}`, answers[winner]?.etag]);
      expect((await send("DELETE")).status).toBe(204);
    }
  });

  it("with the If-Match of one version replace it once: one 201, the others 412 (CONTRACT 4.2)", async () => {
    let { etag } = await send("PUT", {}, "the first");
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.all(times(WRITERS, (index) => send("PUT", { "If-Match": etag }, `${index}`)));
      expect(count(answers)).toEqual({ 201: 1, 412: WRITERS - 1 });
      const winner = answers.findIndex(({ status }) => status === 201);
      const found = await send("GET");
      expect(found.text).toBe(`${winner}`);
      expect(found.etag).not.toBe(etag);
      etag = found.etag;
    }
  });

  it("that each add to what they read, and try again, lose nothing (CONTRACT 4.2)", async () => {
    await send("PUT", {}, "0");
    async function add(): Promise<void> {
      for (let status = 412; status === 412; ) {
        const { text, etag } = await send("GET");
        ({ status } = await send("PUT", { "If-Match": etag }, `${Number(text) + 1}`));
      }
    }
    await Promise.all(times(10, add));
    expect((await send("GET")).text).toBe("10");
  });

  it("and removers: a file is created as often as it is gone (CONTRACT 4.2)", async () => {
    const answers = await Promise.all(
      times(WRITERS, (index) =>
        index % 2 === 0 ? send("PUT", { "If-None-Match": "*" }, `writer ${index}`) : send("DELETE"),
      ),
    );
    const { 201: created = 0, 204: removed = 0, 404: absent = 0, 412: refused = 0 } = count(answers);
    expect(created + removed + absent + refused).toBe(WRITERS);
    expect([created + refused, removed + absent]).toEqual([WRITERS / 2, WRITERS / 2]);
    expect(created).toBeGreaterThan(0);
    expect((await send("GET")).status).toBe(created === removed + 1 ? 200 : 404);
    expect([removed, removed + 1]).toContain(created);
  });

  it("and removers: an If-Match never brings back what is gone (CONTRACT 4.2)", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { etag } = await send("PUT", {}, "the first");
      const answers = await Promise.all(
        times(WRITERS, (index) =>
          index % 10 === 9 ? send("DELETE") : send("PUT", { "If-Match": etag }, `writer ${index}`),
        ),
      );
      const { 201: replaced = 0, 204: removed = 0, 404: absent = 0, 412: refused = 0 } = count(answers);
      expect([removed, absent, replaced + refused]).toEqual([1, WRITERS / 10 - 1, WRITERS - WRITERS / 10]);
      expect(replaced).toBeLessThan(2);
      expect((await send("GET")).status).toBe(404);
    }
  });

  it("with both conditions, or an any-file one, follow them at the end of their content (CONTRACT 4.2)", async () => {
    const { etag } = await send("PUT", {}, "the first");
    const late = send("PUT", { "If-Match": "*" }, "late");
    const both = send("PUT", { "If-Match": etag, "If-None-Match": '"another"' }, "both");
    const never = send("PUT", { "If-Match": etag, "If-None-Match": etag }, "never");
    const statuses = (await Promise.all([late, both, never])).map(({ status }) => status);
    expect(statuses[0]).toBe(201);
    expect([201, 412]).toContain(statuses[1]);
    expect(statuses[2]).toBe(412);
  });

  it("without a condition all succeed, and one of them stays whole (CONTRACT 4.1)", async () => {
    const contents = times(WRITERS, (index) => `${index} `.repeat(2000));
    const answers = await Promise.all(contents.map((content) => send("PUT", {}, content)));
    expect(count(answers)).toEqual({ 201: WRITERS });
    expect(contents).toContain((await send("GET")).text);
  });
});

describe.each(["disk", "memory"])("If-Unmodified-Since, on %s", (kind) => {
  it("holds for the version that it was compared with: one written meanwhile stays (RFC 9110 13.1.4)", async () => {
    const storage = await createStorage(kind);
    const { call, stored } = await createTestService({ storage });
    const put = await call("PUT", PATH, { as: "root", body: "the first" });
    const conditions = { "If-Unmodified-Since": put.header("last-modified") ?? "" };
    const slow = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          expect((await call("PUT", PATH, { as: "root", body: "of another" })).status).toBe(201);
          controller.enqueue(new TextEncoder().encode("late"));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await call("PUT", PATH, { as: "root", headers: conditions, body: slow });
    expect(answer.status).toBe(412);
    expect(await stored("/race.txt")).toBe("of another");
    if (folder !== undefined) await rm(folder, { recursive: true });
    folder = undefined;
  });
});
