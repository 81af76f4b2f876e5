import type { IncomingMessage } from "node:http";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { isStorageError } from "../../src/contracts/storage-adapter.ts";
import type { S3Storage, S3StorageOptions } from "../../src/storage/s3.ts";
import { areSameBytes, bodyBytes, inChunks, noise } from "../../src/testing/storage/content.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import { type S3Fault, type S3Proxy, startS3Proxy } from "./s3-proxy.ts";

const MEBIBYTE = 1_048_576;
const PATIENCE_MS = 60_000;
/** Waits are short, and a call is given up early: a test has less time than a store. */
const HURRIED = {
  partBytes: 5 * MEBIBYTE,
  parallelParts: 3,
  retries: 8,
  retryDelaySeconds: 0.01,
  maxRetryDelaySeconds: 0.05,
} satisfies Partial<S3StorageOptions>;

let bucket: S3Bucket;
let folders = 0;
let proxy: S3Proxy | undefined;

describe.skipIf(s3Missing !== undefined)(`S3 over bad connections${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  beforeAll(async () => {
    bucket = await createBucket();
  }, 120_000);

  afterEach(async () => {
    await proxy?.close();
    // Whatever a test did, the store itself knows of no upload in parts that has not ended.
    expect(await bucket.openUploads()).toEqual([]);
  });

  it(
    "loses nothing while the store calls itself busy at 30 % of calls",
    async () => {
      const { storage, straight } = await start(often(0.3, "busy"));
      await writeAndCompare(storage, straight, true);
      expect(proxy?.faults()).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );

  it.each<S3Fault>(["reset-before", "reset-midway", "lost"])(
    "keeps what it acknowledged, and what it did not is whole or not there, while a third of the calls go wrong: %s",
    async (fault) => {
      const { storage, straight } = await start(often(0.3, fault));
      await writeAndCompare(storage, straight, false);
      expect(proxy?.faults()).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );

  it(
    "reads whole files, each of one version, while half of the answers are cut in the middle",
    async () => {
      const { storage, straight } = await start(often(0.5, "cut"));
      const bytes = noise(12 * MEBIBYTE, 1);
      await straight.write("/file", inChunks(bytes, 100_000));
      for (let round = 0; round < 5; round += 1) {
        expect(areSameBytes(await readAll(storage, "/file"), bytes)).toBe(true);
      }
      const { body } = await storage.read("/file", { offset: 1_000_000, length: 5_000_000 });
      expect(areSameBytes(await bodyBytes(body), bytes.subarray(1_000_000, 6_000_000))).toBe(true);
    },
    PATIENCE_MS,
  );

  it("fails a body whose connection breaks when its version has gone, and never goes on in another", async () => {
    let isCutting = true;
    const { storage, straight } = await start(({ method }) => (isCutting && method === "GET" ? "cut" : "none"));
    await straight.write("/file", inChunks(noise(9 * MEBIBYTE, 1), MEBIBYTE));
    // The look at the place is a GET as well.
    const { body } = await storage.read("/file");
    isCutting = false;
    await straight.write("/file", inChunks(noise(9 * MEBIBYTE, 2), MEBIBYTE));
    await expect(bodyBytes(body)).rejects.toMatchObject({ code: "unavailable" });
  });

  it(
    "sends parts again that take too long",
    async () => {
      const slow = often(0.3, "slow");
      const { storage, straight } = await start((call) => (isPart(call) ? slow() : "none"), {
        headersTimeoutSeconds: 0.4,
      });
      const bytes = noise(17 * MEBIBYTE, 3);
      await storage.write("/file", inChunks(bytes, 300_000), { size: bytes.byteLength });
      expect(areSameBytes(await readAll(straight, "/file"), bytes)).toBe(true);
    },
    PATIENCE_MS,
  );

  it("leaves the former file and no upload when a part never arrives", async () => {
    const { storage, straight } = await start((call) => (/partNumber=2&/.test(call.url ?? "") ? "busy" : "none"));
    await straight.write("/file", inChunks(noise(10, 1), 10));
    const written = storage.write("/file", inChunks(noise(12 * MEBIBYTE, 1), MEBIBYTE));
    await expect(written).rejects.toMatchObject({ code: "unavailable" });
    expect((await straight.stat("/file"))?.size).toBe(10);
  });

  it.each<S3Fault>(["lost", "reset-midway"])(
    "leaves no upload whose beginning was answered in vain: %s",
    async (fault) => {
      let begins = 0;
      const { storage, straight } = await start(({ method, url = "" }) => {
        if (method !== "POST" || !url.includes("uploads=")) return "none";
        begins += 1;
        return begins < 3 ? fault : "none";
      });
      const bytes = noise(6 * MEBIBYTE, 4);
      await storage.write("/file", inChunks(bytes, MEBIBYTE));
      expect(begins).toBe(3);
      expect(areSameBytes(await readAll(straight, "/file"), bytes)).toBe(true);
    },
  );

  it("leaves no upload when the signal ends a write between parts", async () => {
    const { storage, straight } = await start(() => "none");
    const controller = new AbortController();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield* inChunks(noise(12 * MEBIBYTE, 1), MEBIBYTE);
      controller.abort(new Error("gone"));
      yield noise(10, 1);
    }
    await expect(storage.write("/file", content(), { signal: controller.signal })).rejects.toThrow("gone");
    expect(await straight.stat("/file")).toBeUndefined();
  });

  it("acknowledges exactly one of several makers while answers get lost", async () => {
    const { storage } = await start(often(0.3, "lost"));
    for (let round = 0; round < 5; round += 1) {
      const makers = Array.from({ length: 6 }, (_, maker) =>
        storage.write(`/race-${round}`, inChunks(noise(100 + maker, maker), 50), { ifNoneMatch: "*" }),
      );
      const outcomes = await Promise.allSettled(makers);
      const winners = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value.size] : []));
      expect(winners).toHaveLength(1);
      expect((await storage.stat(`/race-${round}`))?.size).toBe(winners[0]);
    }
  });
});

describe.skipIf(s3Missing !== undefined)("moves in S3 over bad connections", () => {
  beforeAll(async () => {
    bucket ??= await createBucket();
  }, 120_000);

  it.each<S3Fault>(["busy", "reset-before", "lost"])(
    "lose nothing while a third of the calls go wrong: %s",
    async (fault) => {
      const { storage, straight } = await start(often(0.3, fault));
      await straight.createFolder("/folder");
      const texts = Array.from({ length: 6 }, (_, number) => noise(100 + number, number));
      for (const [number, bytes] of texts.entries()) await straight.write(`/folder/${number}`, inChunks(bytes, 50));
      let at = "/folder";
      for (let round = 0; round < 5; round += 1) {
        const to = `/moved-${round}`;
        const error: unknown = await storage.move(at, to).then(
          () => undefined,
          (reason) => reason,
        );
        if (error === undefined) expect(await straight.stat(at)).toBeUndefined();
        else expect(error).toMatchObject({ code: "unavailable" });
        for (const [number, bytes] of texts.entries()) {
          const isMoved = error === undefined || (await straight.stat(`${at}/${number}`)) === undefined;
          expect(areSameBytes(await readAll(straight, `${isMoved ? to : at}/${number}`), bytes)).toBe(true);
        }
        if (error !== undefined) break;
        at = to;
      }
      await proxy?.close();
      expect(await bucket.openUploads()).toEqual([]);
    },
    PATIENCE_MS,
  );
});

/** A storage behind a bad way, and one of the same folder by a straight one. */
async function start(
  choose: (call: IncomingMessage) => S3Fault,
  options: Partial<S3StorageOptions> = {},
): Promise<{ storage: S3Storage; straight: S3Storage }> {
  folders += 1;
  proxy = await startS3Proxy(bucket.endpoint, choose);
  const prefix = `faults-${folders}`;
  const storage = bucket.storage({ ...HURRIED, ...options, endpoint: proxy.endpoint, prefix });
  return { storage, straight: bucket.storage({ partBytes: HURRIED.partBytes, prefix }) };
}

/** The same calls of every run go wrong. */
function often(share: number, fault: S3Fault): () => S3Fault {
  let state = 12_345;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32 < share ? fault : "none";
  };
}

function isPart({ url = "" }: IncomingMessage): boolean {
  return url.includes("partNumber=");
}

/** Writes small and large files, over each other too, and compares what is there with what was acknowledged. */
async function writeAndCompare(storage: S3Storage, straight: S3Storage, mustSucceed: boolean): Promise<void> {
  const written = Array.from({ length: 20 }, async (_, number) => {
    const path = `/file-${number}`;
    const former = noise(1000 + number, number);
    await straight.write(path, inChunks(former, 500));
    const bytes = noise(number % 7 === 0 ? 12 * MEBIBYTE : 30_000 + number, number);
    const isAcknowledged = await storage.write(path, inChunks(bytes, 70_000)).then(
      () => true,
      (error: unknown) => {
        if (mustSucceed || !isStorageError(error) || error.code !== "unavailable") throw error;
        return false;
      },
    );
    const found = await readAll(straight, path);
    expect(areSameBytes(found, bytes) || (!isAcknowledged && areSameBytes(found, former))).toBe(true);
  });
  await Promise.all(written);
}

async function readAll(storage: S3Storage, path: string): Promise<Uint8Array> {
  return bodyBytes((await storage.read(path)).body);
}
