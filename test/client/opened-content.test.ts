import { describe, expect, it } from "vitest";
import { type ByteStream, createClient, type OpenContent, type PutOptions } from "../../src/client.ts";
import { noise } from "../../src/testing/storage/content.ts";
import type { TestServiceOptions } from "../support/service.ts";
import { type ClientEnvironment, failureOf, openClient } from "./setup.ts";

const LIMITED: TestServiceOptions = { uploads: { maxAppendBytes: 4 * 1024 ** 2 } };
const WAYS: readonly (readonly [string, PutOptions, TestServiceOptions])[] = [
  ["with a digest", { digest: true }, {}],
  ["in one request", { resumable: false }, {}],
  ["that is resumable", {}, {}],
  ["in parts", {}, LIMITED],
];

async function listUploads({ call }: ClientEnvironment): Promise<readonly unknown[]> {
  return (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: readonly unknown[] }>().uploads;
}

/** Content that gives some bytes and then fails. */
function openBroken(): ByteStream {
  let count = 0;
  return new ReadableStream({
    pull(controller) {
      count += 1;
      if (count > 2) throw new RangeError("own");
      controller.enqueue(noise(1000, count) as Uint8Array<ArrayBuffer>);
    },
  });
}

describe.each(WAYS)("content of a function, sent %s", (_way, options, serviceOptions) => {
  it.each([
    ["cannot be opened", () => Promise.reject(new RangeError("own"))],
    [
      "throws",
      () => {
        throw new RangeError("own");
      },
    ],
    ["breaks", openBroken],
  ] as const satisfies readonly (readonly [string, OpenContent])[])(
    "rejects with the reason if it %s",
    async (_how, content) => {
      const environment = await openClient(serviceOptions);
      const error = await failureOf(environment.client.put("/a", content, options));
      expect(error).toMatchObject({ message: "The content could not be read.", status: undefined });
      expect(error.cause).toEqual(new RangeError("own"));
      await expect.poll(() => listUploads(environment)).toEqual([]);
      expect(await environment.stored("/alice/a")).toBeUndefined();
    },
  );
});

describe.each(WAYS)("an aborted upload of a function, sent %s", (_way, options, serviceOptions) => {
  it("ends, and closes a source that gives nothing more", async () => {
    const environment = await openClient(serviceOptions);
    const aborting = new AbortController();
    let pulls = 0;
    let cancelled = 0;
    const content = (): ByteStream =>
      new ReadableStream({
        async pull(controller) {
          pulls += 1;
          if (pulls > 2) await new Promise(() => undefined);
          controller.enqueue(new Uint8Array(1000));
        },
        cancel() {
          cancelled += 1;
        },
      });
    const upload = environment.client.put("/a", content, { ...options, signal: aborting.signal });
    const ended = expect(upload).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => pulls).toBe(3);
    aborting.abort();
    await ended;
    await expect.poll(() => cancelled).toBe(1);
    await expect.poll(() => listUploads(environment)).toEqual([]);
  });

  it("ends while the source opens, and closes it later", async () => {
    const environment = await openClient(serviceOptions);
    const aborting = new AbortController();
    let cancelled = 0;
    let open: ((stream: ByteStream) => void) | undefined;
    const content = () =>
      new Promise<ByteStream>((resolve) => {
        open = resolve;
      });
    const upload = environment.client.put("/a", content, { ...options, signal: aborting.signal });
    const ended = expect(upload).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => open).toBeDefined();
    aborting.abort();
    await ended;
    const cancel = (): void => {
      cancelled += 1;
    };
    open?.(new ReadableStream({ cancel }));
    await expect.poll(() => cancelled).toBe(1);
    await expect.poll(() => listUploads(environment)).toEqual([]);
  });
});

describe("a stream of a request that is refused early", () => {
  it.each([undefined, () => undefined])("is closed, with and without progress", async (onProgress) => {
    const fetch = async () => new Response(null, { status: 412 });
    const client = createClient({ baseUrl: "http://files.example", credentials: "cookie", fetch });
    let cancelled = 0;
    const content = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel() {
        cancelled += 1;
      },
    });
    await expect(client.put("/a", content, { onProgress })).rejects.toMatchObject({ status: 412 });
    expect(cancelled).toBe(1);
  });
});

describe("a stream that breaks", () => {
  it.each([undefined, () => undefined])("rejects with the reason, with and without progress", async (onProgress) => {
    const { client } = await openClient();
    const error = await failureOf(client.put("/a", openBroken(), { onProgress }));
    expect(error).toMatchObject({ message: "The content could not be read.", cause: new RangeError("own") });
  });
});
