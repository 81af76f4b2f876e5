import { createReadStream, openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import type { ByteStream, SavedUpload, UploadContent } from "../../src/client.ts";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { noise } from "../../src/testing/storage/content.ts";
import { streamOf } from "../support/bodies.ts";
import { type CuttingProxy, startCuttingProxy } from "../support/links/cutting-proxy.ts";
import type { TestServiceOptions } from "../support/service.ts";
import { type ClientEnvironment, failureOf, openClient } from "./setup.ts";

const MIB = 1024 ** 2;
const CUT_BYTES = 3 * MIB;
const bytes = noise(11 * MIB + 7, 1) as Uint8Array<ArrayBuffer>;

interface CutEnvironment extends ClientEnvironment {
  readonly proxy: CuttingProxy;
}

/** A client whose connections are cut after 3 MiB. */
async function openCutClient(options: TestServiceOptions = {}, times?: number): Promise<CutEnvironment> {
  const environment = await openClient(options);
  const port = Number(new URL(environment.origin).port);
  const proxy = await startCuttingProxy(() => port, { bytes: CUT_BYTES, ...(times !== undefined && { times }) });
  onTestFinished(() => proxy.close());
  const client = environment.connect({ baseUrl: `${proxy.origin}${options.basePath ?? ""}` });
  return { ...environment, client, proxy };
}

/** Opens the content at an offset; reading it takes several chunks. */
function openAt(offset: number): ByteStream {
  return new Blob([bytes.subarray(offset)]).stream();
}

interface CountingEnvironment extends ClientEnvironment {
  /** How many bytes the storage has got. */
  arrived(): number;
}

async function openCountingClient(): Promise<CountingEnvironment> {
  const storage = createMemoryStorage();
  const { uploads } = storage;
  if (uploads === undefined) throw new Error("The storage has no uploads.");
  let arrived = 0;
  async function* count(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      yield chunk;
      arrived += chunk.byteLength;
    }
  }
  const append: typeof uploads.append = (key, offset, content, options) =>
    uploads.append(key, offset, count(content), options);
  const environment = await openClient({ storage: { ...storage, uploads: { ...uploads, append } } });
  return { ...environment, arrived: () => arrived };
}

/** Content whose stream has nothing more after some bytes, for now. */
function pausedAt(length: number): (offset: number) => ByteStream {
  return (offset) => {
    const reader = new Blob([bytes.subarray(offset, length)]).stream().getReader();
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return new Promise(() => undefined);
        controller.enqueue(value);
      },
    });
  };
}

async function openFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-client-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "content");
  await writeFile(file, bytes);
  return file;
}

const CONTENTS: readonly (readonly [string, () => UploadContent | Promise<UploadContent>])[] = [
  ["bytes", () => bytes],
  ["a blob", () => new Blob([bytes])],
  ["a file of the disk", async () => openAsBlob(await openFile())],
  ["a function", () => openAt],
  [
    "a function that reads a file of the disk",
    async () => {
      const file = await openFile();
      return (start) => Readable.toWeb(createReadStream(file, { start })) as ByteStream;
    },
  ],
];

describe("an upload by the client over connections that are cut after 3 MiB", () => {
  it.each(CONTENTS)("arrives complete from %s, with and without progress", async (_what, content) => {
    const { client, proxy, storage } = await openCutClient();
    const { etag } = await client.put("/a", await content());
    expect(Buffer.compare(await readFileOf(storage, "/alice/a"), bytes)).toBe(0);
    expect((await client.stat("/a")).etag).toBe(etag);
    const cuts = proxy.cuts();
    expect(cuts).toBeGreaterThanOrEqual(3);
    const calls: (readonly [number, number | undefined])[] = [];
    await client.put("/b", await content(), { onProgress: (...call) => calls.push(call) });
    expect(Buffer.compare(await readFileOf(storage, "/alice/b"), bytes)).toBe(0);
    expect(proxy.cuts()).toBeGreaterThanOrEqual(cuts + 3);
    expect(calls.at(-1)).toEqual([bytes.byteLength, bytes.byteLength]);
    expect(Math.max(...calls.map(([sent]) => sent))).toBe(bytes.byteLength);
  });

  it("creates the file once, under the conditions of the caller, with its metadata", async () => {
    const events: { readonly id: number; readonly data: object }[] = [];
    const { connect, proxy } = await openCutClient({
      metadataFields: "X-Labels",
      basePath: "/files",
      onEvent: ({ id, data }) => events.push({ id, data }),
    });
    const client = connect({ baseUrl: `${proxy.origin}/files`, metadataHeader: "X-Labels" });
    await client.put("/a", bytes, { ifNoneMatch: "*", metadata: { note: "grün" } });
    expect(events.filter(({ id }) => [40021, 40017, 40022].includes(id))).toMatchObject([
      { id: 40021 },
      { id: 40017, data: { total_write: bytes.byteLength, metadata: { note: ["grün"] } } },
    ]);
    const exists = await failureOf(client.put("/a", bytes, { ifNoneMatch: "*" }));
    expect(exists).toMatchObject({ status: 412, code: "precondition-failed" });
  });

  it("of a stream fails, as it cannot be read again", async () => {
    const { client, stored } = await openCutClient();
    expect(await failureOf(client.put("/a", openAt(0)))).toMatchObject({ status: undefined });
    expect(await stored("/alice/a")).toBeUndefined();
  });

  it("that may not be resumed fails", async () => {
    const { client, stored } = await openCutClient();
    expect(await failureOf(client.put("/a", bytes, { resumable: false }))).toMatchObject({ status: undefined });
    expect(await stored("/alice/a")).toBeUndefined();
  });

  it("sends parts that are no larger than the service takes", async () => {
    const { client, storage } = await openCutClient({ uploads: { maxAppendBytes: 4 * MIB } });
    await client.put("/a", bytes);
    expect(Buffer.compare(await readFileOf(storage, "/alice/a"), bytes)).toBe(0);
    await client.put("/b", openAt);
    expect(Buffer.compare(await readFileOf(storage, "/alice/b"), bytes)).toBe(0);
  });
});

describe("an upload by the client that continues later", () => {
  /** Begins an upload, and aborts it when the service has kept something. Returns what is needed to continue. */
  async function abort(environment: CountingEnvironment, keep: boolean): Promise<SavedUpload> {
    const aborting = new AbortController();
    const saved: SavedUpload[] = [];
    const upload = environment.client.put("/a", pausedAt(5 * MIB), {
      size: bytes.byteLength,
      ifNoneMatch: "*",
      signal: aborting.signal,
      keep,
      onSaved: (state) => saved.push(state),
    });
    const ended = expect(upload).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => environment.arrived()).toBe(5 * MIB);
    aborting.abort();
    await ended;
    expect(saved).toHaveLength(1);
    return JSON.parse(JSON.stringify(saved[0]));
  }

  it("has a state that is JSON, and sends what is missing", async () => {
    const environment = await openCountingClient();
    const saved = await abort(environment, true);
    expect(saved).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      path: "/a",
      size: bytes.byteLength,
      ifNoneMatch: "*",
    });
    const [kept] = await listUploads(environment);
    expect(kept).toMatchObject({ path: "/a", length: bytes.byteLength });
    const starts: number[] = [];
    const content = (offset: number) => {
      starts.push(offset);
      return openAt(offset);
    };
    const { etag } = await environment.connect().resume(saved, content);
    expect(starts).toEqual([5 * MIB]);
    expect(Buffer.compare(await readFileOf(environment.storage, "/alice/a"), bytes)).toBe(0);
    // The response may be lost: the same again is a success as well.
    expect(await environment.client.resume(saved, bytes)).toMatchObject({ etag });
  });

  it("begins anew if the service has no longer what had arrived, under the same conditions", async () => {
    const environment = await openCountingClient();
    const { client, advance, storage } = environment;
    const first = await abort(environment, true);
    advance(2 * 86_400);
    const again: SavedUpload[] = [];
    await client.resume(first, bytes, { onSaved: (state) => again.push(state) });
    expect(again).toMatchObject([{ path: "/a", size: bytes.byteLength, ifNoneMatch: "*" }]);
    expect(again[0]?.id).not.toBe(first.id);
    expect(Buffer.compare(await readFileOf(storage, "/alice/a"), bytes)).toBe(0);
    advance(2 * 86_400);
    expect(await failureOf(client.resume(first, bytes))).toMatchObject({ status: 412 });
  });

  it("is discarded by default when it is aborted", async () => {
    const environment = await openCountingClient();
    const saved = await abort(environment, false);
    await expect.poll(() => listUploads(environment)).toEqual([]);
    await environment.client.resume(saved, bytes);
    expect(Buffer.compare(await readFileOf(environment.storage, "/alice/a"), bytes)).toBe(0);
  });

  it("needs the same content", async () => {
    const environment = await openCountingClient();
    const saved = await abort(environment, true);
    await expect(environment.client.resume(saved, bytes.subarray(1))).rejects.toThrow(TypeError);
    await expect(environment.client.resume(saved, streamOf("x") as ByteStream)).rejects.toThrow(TypeError);
    expect(await listUploads(environment)).toHaveLength(1);
  });

  it("rejects with the error of the content, and is discarded", async () => {
    const environment = await openCountingClient();
    const broken = (): ByteStream =>
      new ReadableStream({
        pull(controller) {
          controller.error(new RangeError("own"));
        },
      });
    for (const content of [broken, () => Promise.reject(new RangeError("own"))]) {
      const error = await failureOf(environment.client.put("/a", content));
      expect(error).toMatchObject({ status: undefined, cause: expect.objectContaining({ message: "own" }) });
      await expect.poll(() => listUploads(environment)).toEqual([]);
    }
  });

  it("rejects when the file of the disk has changed", async () => {
    const file = await openFile();
    const blob = await openAsBlob(file);
    await writeFile(file, "other");
    const { client } = await openCountingClient();
    expect(await failureOf(client.put("/a", blob))).toMatchObject({ message: "The content could not be read." });
  });
});

async function listUploads({ call }: ClientEnvironment): Promise<readonly unknown[]> {
  return (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: readonly unknown[] }>().uploads;
}

async function readFileOf(storage: StorageAdapter, path: string): Promise<Buffer> {
  return Buffer.from(await new Response((await storage.read(path)).body).arrayBuffer());
}
