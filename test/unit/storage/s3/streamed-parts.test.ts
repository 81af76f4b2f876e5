import { afterEach, describe, expect, it, vi } from "vitest";
import { toLocation } from "../../../../src/storage/object-store/keys.ts";
import { createS3Client } from "../../../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../../../src/storage/s3/conditional-change.ts";
import { type S3Fetch, toS3Settings } from "../../../../src/storage/s3/options.ts";
import { createS3Writer } from "../../../../src/storage/s3/write.ts";
import { inChunks, noise } from "../../../../src/testing/storage/content.ts";
import { createFake, type S3Fake, type S3Script } from "../../../support/s3/fake.ts";

const SIZE = 2500;
const text = "0123456789".repeat(SIZE / 10);
const bytes = new TextEncoder().encode(text);

/** A writer that holds two parts of 100 bytes, and streams the rest in parts of 1,000. */
function createWriter(script?: S3Script, wrap: (fetch: S3Fetch) => S3Fetch = (fetch) => fetch) {
  const fake = createFake(script);
  const settings = toS3Settings({
    bucket: "bucket",
    endpoint: "http://store.test",
    accessKeyId: "ACCESSKEY",
    secretAccessKey: "SECRETKEY",
    retryDelaySeconds: 0,
    fetch: wrap(fake.fetch),
  });
  const plan = { maxHeldParts: 2, bytesOf: (number: number) => (number > 2 ? 1000 : 100) };
  const writer = createS3Writer(createS3Client(settings), createConditionSupport(true), () => plan);
  const location = toLocation("", "/file");
  if (location === undefined) throw new Error("no location");
  const write = (content: AsyncIterable<Uint8Array>) => writer.writeFile(location, content, { size: SIZE });
  return { fake, write };
}

function partsOf({ calls }: S3Fake): readonly string[] {
  const parts = calls.flatMap(({ query, body, headers }) =>
    query.has("partNumber") ? [`${query.get("partNumber")}: ${body.length} ${headers.get("content-length")}`] : [],
  );
  // Parts that are held are sent in parallel.
  return parts.sort();
}

describe("parts that are sent as they arrive", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("follow those that are held, each with its length, and make the same file", async () => {
    const { fake, write } = createWriter();
    const entry = await write(inChunks(bytes, 77));
    expect(entry.size).toBe(SIZE);
    expect(fake.objects.get("file")?.body).toBe(text);
    expect(partsOf(fake)).toEqual(["1: 100 null", "2: 100 null", "3: 1000 1000", "4: 1000 1000", "5: 300 300"]);
  });

  it("are not held: the store has the first bytes before the client sends the next", async () => {
    let see = (): void => undefined;
    const isSeen = new Promise<void>((resolve) => {
      see = resolve;
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 300);
      await isSeen;
      yield bytes.subarray(300);
    }
    const { fake, write } = createWriter(undefined, (fetch) => async (url, init) => {
      if (!url.includes("partNumber=3") || !(init.body instanceof ReadableStream)) return fetch(url, init);
      const [look, body] = init.body.tee();
      void look.getReader().read().then(see);
      return fetch(url, { ...init, body });
    });
    await write(content());
    expect(fake.objects.get("file")?.body).toBe(text);
  });

  it("are not sent again: a failure is that of the upload, and nothing stays", async () => {
    const { fake, write } = createWriter(({ query }) =>
      query.get("partNumber") === "4" ? new Response(null, { status: 503 }) : undefined,
    );
    await expect(write(inChunks(bytes, 77))).rejects.toMatchObject({ code: "unavailable" });
    expect(partsOf(fake).filter((part) => part.startsWith("4"))).toHaveLength(1);
    expect([fake.uploads.size, fake.objects.size]).toEqual([0, 0]);
  });

  it("fail with the error of the content", async () => {
    const { fake, write } = createWriter();
    await expect(write(inChunks(noise(SIZE - 1, 1), 77))).rejects.toMatchObject({ code: "incomplete" });
    expect([fake.uploads.size, fake.objects.size]).toEqual([0, 0]);
  });

  it("fail if the store responds before it has all bytes", async () => {
    const { fake, write } = createWriter(undefined, (fetch) => async (url, init) => {
      if (!url.includes("partNumber=4")) return fetch(url, init);
      return new Response(null, { headers: { etag: '"early"' } });
    });
    await expect(write(inChunks(bytes, 77))).rejects.toMatchObject({ code: "unavailable" });
    expect([fake.uploads.size, fake.objects.size]).toEqual([0, 0]);
  });

  it("wait for the client without a limit, and for the store as long as headers may take", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let send = (): void => undefined;
    const isSent = new Promise<void>((resolve) => {
      send = resolve;
    });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield bytes.subarray(0, 300);
      await isSent;
      yield bytes.subarray(300);
    }
    let silent = false;
    const { fake, write } = createWriter(undefined, (fetch) => async (url, init) => {
      const response = await fetch(url, init);
      if (!url.includes("partNumber=4")) return response;
      silent = true;
      return new Promise((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("late"))));
    });
    const written = write(content());
    written.catch(() => undefined);
    await vi.waitFor(() => expect(partsOf(fake)).toHaveLength(2), 10_000);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(partsOf(fake)).toHaveLength(2);
    send();
    await vi.waitFor(() => expect(silent).toBe(true), 10_000);
    await vi.advanceTimersByTimeAsync(30_000);
    await expect(written).rejects.toMatchObject({ code: "unavailable" });
    expect([fake.uploads.size, fake.objects.size]).toEqual([0, 0]);
  });
});
