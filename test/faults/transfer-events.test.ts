import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { type StorageAdapter, StorageError } from "../../src/contracts/storage-adapter.ts";
import { fileEventSchema } from "../../src/schemas/events.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { sendForm, uploadsOf } from "../support/forms.ts";
import { createTestService, type TestService } from "../support/service.ts";
import { fillStorage, overrideStorage } from "../support/storage.ts";

/** Which event begins a transfer, and which end it. */
const TRANSFERS: readonly (readonly [begin: number, ends: readonly number[]])[] = [
  [40021, [40017, 40022]],
  [40004, [40039, 40040, 40018]],
  [40006, [40034, 40014]],
  [40016, [40025, 40041]],
];

/** When the storage fails: at which of its calls, and where in the content. */
interface Fault {
  readonly call: number;
  readonly bytes: number;
  readonly isUnknown: boolean;
}

type Operation =
  | {
      readonly kind: "put";
      readonly file: number;
      readonly size: number;
      readonly sent: number;
      readonly isKnown: boolean;
      /** Whether the client goes behind what it has sent. */
      readonly isCut: boolean;
    }
  | { readonly kind: "form"; readonly file: number; readonly size: number }
  | {
      readonly kind: "get" | "list" | "page" | "zip" | "head";
      readonly file: number;
      readonly read: number;
      readonly range?: string;
      /** Whether the request's signal reports that the client has disconnected. */
      readonly isAborted: boolean;
    }
  | { readonly kind: "remove"; readonly file: number }
  | { readonly kind: "create"; readonly file: number };

/** Events for a folder or a file that was to be created or removed. Exactly one reports the outcome. */
const CHANGES = { remove: [40012, 40013, 40026, 40027], create: [40010, 40011, 40030] } as const;

const FILES = ["a.bin", "b.bin", "none.bin", "folder/c.bin"];
const LARGE = 200_000;

const file = fc.nat({ max: FILES.length - 1 });
const size = fc.nat({ max: 150_000 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({
    kind: fc.constant("put" as const),
    file,
    size,
    sent: size,
    isKnown: fc.boolean(),
    isCut: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("remove" as const), file }),
  fc.record({ kind: fc.constant("create" as const), file }),
  fc.record({ kind: fc.constant("form" as const), file, size }),
  fc.record(
    {
      kind: fc.constantFrom("get" as const, "list" as const, "page" as const, "zip" as const, "head" as const),
      file,
      // How many chunks the client takes before it goes; more than there are: all.
      read: fc.constantFrom(0, 1, 2, 1000),
      range: fc.constantFrom("bytes=0-9", "bytes=5-,0-1", "bytes=100000-", "bytes=900000-"),
      isAborted: fc.boolean(),
    },
    { requiredKeys: ["kind", "file", "read", "isAborted"] },
  ),
);
const fault: fc.Arbitrary<Fault> = fc.record({
  call: fc.nat({ max: 40 }),
  bytes: fc.nat({ max: 150_000 }),
  isUnknown: fc.boolean(),
});

/** A storage that fails at some of its calls, before or within the content. */
function withFaults(base: StorageAdapter, faults: readonly Fault[]): StorageAdapter {
  let calls = 0;
  const next = (): Fault | undefined => faults.find(({ call }) => call === calls++);
  const toError = ({ isUnknown }: Fault): Error =>
    isUnknown ? new Error("the cable is broken") : new StorageError("unavailable");

  async function* break_(content: AsyncIterable<Uint8Array>, fault: Fault | undefined): AsyncGenerator<Uint8Array> {
    let passed = 0;
    for await (const chunk of content) {
      if (fault !== undefined && passed + chunk.byteLength > fault.bytes) throw toError(fault);
      passed += chunk.byteLength;
      yield chunk;
    }
  }

  return overrideStorage(base, {
    async read(path, range) {
      const found = next();
      if (found?.bytes === 0) throw toError(found);
      const { entry, body } = await base.read(path, range);
      if (found === undefined) return { entry, body };
      const iterator = break_(body, found);
      return {
        entry,
        body: new ReadableStream<Uint8Array>(
          {
            async pull(controller) {
              const { done, value } = await iterator.next();
              if (done) controller.close();
              else controller.enqueue(value);
            },
            cancel: () => void iterator.return(undefined),
          },
          { highWaterMark: 0 },
        ),
      };
    },
    async *list(path) {
      const found = next();
      let count = 0;
      for await (const entry of base.list(path)) {
        if (found !== undefined && count >= found.bytes % 3) throw toError(found);
        count += 1;
        yield entry;
      }
    },
    write: (path, content, options) => base.write(path, break_(content, next()), options),
  });
}

/** What a client knows of its transfer. */
interface Known {
  readonly received: number;
  readonly isWhole: boolean;
  /** Whether it was redirected to another URL. */
  readonly isRedirected?: boolean;
}

async function run(test: TestService, operation: Operation): Promise<Known> {
  const path = `/home/${FILES[operation.file]}`;
  if (operation.kind === "put") {
    const { size, sent, isKnown, isCut } = operation;
    const client = new AbortController();
    const body = contentOf(sent, () => (isCut ? client.abort() : undefined), client.signal);
    const headers = isKnown ? { "content-length": String(size) } : {};
    const { status } = await test.call("PUT", path, { body, headers, variant: "json", signal: client.signal });
    return { received: 0, isWhole: status === 201 };
  }
  if (operation.kind === "remove" || operation.kind === "create") {
    const [method, target] = operation.kind === "remove" ? ["DELETE", path] : ["MKCOL", `${path}/`];
    const { status } = await test.call(method, target, { variant: "webdav" });
    return { received: 0, isWhole: status < 300, isRedirected: status === 307 };
  }
  if (operation.kind === "form") {
    const files = uploadsOf({ [FILES[operation.file]?.replace("folder/", "") ?? "x"]: new Uint8Array(operation.size) });
    const { status } = await sendForm(test, "/home/", [...files, ["action", "upload-file"]]);
    return { received: 0, isWhole: status === 303 };
  }
  const { kind, read, range, isAborted } = operation;
  const client = new AbortController();
  const isFile = kind === "get" || kind === "head";
  const accept = { zip: "application/zip", list: "application/json", page: "text/html" } as const;
  const headers = { ...(!isFile && { accept: accept[kind] }), ...(range !== undefined && { range }) };
  const response = await test.open(kind === "head" ? "HEAD" : "GET", isFile ? path : "/home/", {
    headers,
    signal: client.signal,
  });
  return take(response, read, () => (isAborted ? client.abort() : undefined));
}

/** A stream of chunks as they come from a socket, whose end may be that of the client. */
function contentOf(size: number, onEnd: () => void, signal: AbortSignal): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream(
    {
      pull(controller) {
        if (left === 0) {
          onEnd();
          return signal.aborted ? controller.error(signal.reason) : controller.close();
        }
        const chunk = new Uint8Array(Math.min(left, 60_000));
        left -= chunk.byteLength;
        controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Reads some chunks of an answer, and goes. */
async function take(response: Response, chunks: number, onGone: () => void): Promise<Known> {
  let received = 0;
  if (response.body === null) return { received, isWhole: response.ok };
  if (!response.ok) {
    await response.body.cancel();
    return { received, isWhole: false };
  }
  const reader = response.body.getReader();
  try {
    for (let count = 0; count < chunks; count += 1) {
      const { done, value } = await reader.read();
      if (done) return { received, isWhole: true };
      received += value.byteLength;
    }
    onGone();
    await reader.cancel();
    return { received, isWhole: false };
  } catch {
    return { received, isWhole: false };
  }
}

describe("events of transfers", () => {
  it("have exactly one end for each begin, and count what was sent, whatever happens", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(operation, { maxLength: 12 }),
        fc.array(fault, { maxLength: 6 }),
        async (operations, faults) => {
          const events: FileEvent[] = [];
          const base = createMemoryStorage();
          await fillStorage(base, {
            "/alice/a.bin": new Uint8Array(1000),
            "/alice/b.bin": new Uint8Array(LARGE),
            "/alice/folder/c.bin": new Uint8Array(10),
          });
          const told = await createTestService({
            storage: withFaults(base, faults),
            onEvent: (event) => events.push(event),
          });
          for (const each of operations) {
            events.length = 0;
            const known = await run(told, each);
            // A stream may report a little later that it was cancelled.
            await new Promise((resolve) => setTimeout(resolve));
            check(events, each, known);
          }
        },
      ),
      { numRuns: 150, seed: 7 },
    );
  });
});

function checkChange(events: readonly FileEvent[], operation: Operation, { isRedirected }: Known): void {
  if (operation.kind !== "remove" && operation.kind !== "create") return;
  const ids: readonly number[] = CHANGES[operation.kind];
  const told = events.filter(({ id }) => ids.includes(id));
  expect([operation, told.length]).toEqual([operation, isRedirected ? 0 : 1]);
}

function check(events: readonly FileEvent[], operation: Operation, known: Known): void {
  const { received, isWhole } = known;
  for (const event of events) expect(fileEventSchema.safeParse(event).error?.issues).toBeUndefined();
  checkChange(events, operation, known);
  const isCut = operation.kind === "put" && operation.isCut;
  for (const [begin, ends] of TRANSFERS) {
    const begun = events.filter(({ id }) => id === begin).length;
    const ended = events.filter(({ id }) => ends.includes(id));
    expect([operation, begin, ended.length]).toEqual([operation, begin, begun]);
    expect(begun).toBeLessThanOrEqual(1);
    const [end] = ended;
    if (end === undefined) continue;
    const isSuccess = end.id === ends[0];
    if ("total_read" in end.data) {
      if (isWhole) expect([isSuccess, end.data.total_read]).toEqual([true, received]);
      else expect(end.data.total_read).toBeGreaterThanOrEqual(received);
    }
    if (isCut && end.id === 40022) expect(end.data.details).not.toMatch(/^Internal/);
    if ("total_write" in end.data) {
      expect(isSuccess).toBe(isWhole);
      if (isSuccess)
        expect(end.data.total_write).toBe(
          operation.kind === "put" ? operation.sent : (operation as { size: number }).size,
        );
    }
  }
}
