import type { UploadKey } from "../../../src/contracts/storage-uploads.ts";
import type { S3Fetch, S3Storage } from "../../../src/storage/s3.ts";
import { inChunks } from "../../../src/testing/storage/content.ts";

/** When the process of an append dies: when the store has answered to its first part, or has noted that part. */
export type Death = "part" | "note";

/** What {@link killAppend} does. */
export interface KilledAppend {
  readonly key: UploadKey;
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly verify?: () => Promise<void>;
  readonly death: Death;
}

/**
 * Starts an append in a storage of its own, which stands for a process, and kills it. From that moment on no request of
 * it reaches the store, and none is answered.
 */
export async function killAppend(
  open: (fetch: S3Fetch) => S3Storage,
  { key, offset, bytes, verify, death }: KilledAppend,
): Promise<void> {
  let die: () => void = () => undefined;
  const isDead = new Promise<void>((resolve) => {
    die = resolve;
  });
  let hasSentPart = false;
  let isAlive = true;

  const dyingFetch: S3Fetch = async (url, init) => {
    if (!isAlive) return forever();
    const response = await fetch(url, init);
    const isNote = hasSentPart && init.method === "PUT" && url.includes("state.json");
    if (init.method === "PUT" && url.includes("partNumber=")) hasSentPart = true;
    if (death === "part" ? hasSentPart : isNote) {
      isAlive = false;
      die();
      return forever();
    }
    return isAlive ? response : forever();
  };

  /** The content does not end, as the process dies before. */
  async function* content(): AsyncGenerator<Uint8Array> {
    yield* inChunks(bytes, 262_144);
    await forever();
  }

  const { uploads } = open(dyingFetch);
  void uploads?.append(key, offset, content(), verify === undefined ? {} : { verify });
  await isDead;
}

function forever(): Promise<never> {
  return new Promise(() => undefined);
}
