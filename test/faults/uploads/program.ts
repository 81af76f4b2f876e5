import { createHash } from "node:crypto";
import type { UploadState } from "../../../src/contracts/storage-uploads.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { noise } from "../../../src/testing/storage/content.ts";
import { uploadsOf } from "../../../src/testing/uploads/setup.ts";

/*
 * A process that goes on with an upload on a disk, to its end, and is killed meanwhile. It says what it does:
 *
 *     checked FROM TO    it starts an append with a checksum
 *     stored OFFSET      an append was acknowledged
 *     done ETAG          the file is there
 */

const [root = "", id = "", seed = "", total = ""] = process.argv.slice(2);
const bytes = noise(Number(total), Number(seed));
const uploads = uploadsOf(createDiskStorage({ root }));
const key = { owner: "account:alice", id };

function say(...words: readonly (string | number)[]): void {
  process.stdout.write(`${words.join(" ")}\n`);
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

/** Content in steps that leave time for a kill. */
async function* content(part: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < part.byteLength; ) {
    const size = 1 + below(200_000);
    yield part.subarray(offset, offset + size);
    offset += size;
    if (below(3) === 0) await new Promise((resolve) => setTimeout(resolve, below(4)));
  }
}

/** A process that was killed in a creation may leave a lost upload: `find` has none then, but its key is taken. */
async function create(): Promise<UploadState> {
  await uploads.discard(key);
  return uploads.create(key, "/file", { note: "{}", expires: new Date(8.64e14) });
}

const state = (await uploads.find(key)) ?? (await create());
for (let { offset } = state; offset < bytes.byteLength && state.done === undefined; ) {
  const part = bytes.subarray(offset, offset + 1 + below(bytes.byteLength / 3));
  const digest = createHash("sha256").update(part).digest("hex");
  const isChecked = below(2) === 0;
  const verify = async (): Promise<void> => {
    const expected = createHash("sha256")
      .update(bytes.subarray(offset, offset + part.byteLength))
      .digest("hex");
    if (digest !== expected) throw new Error("checksum");
  };
  if (isChecked) say("checked", offset, offset + part.byteLength);
  ({ offset } = await uploads.append(key, offset, content(part), isChecked ? { verify } : {}));
  say("stored", offset);
}
const entry = await uploads.complete(key);
say("done", entry.etag ?? "");
