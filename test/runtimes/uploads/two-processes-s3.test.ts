import { createReadStream, createWriteStream, openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Upload, type UploadOptions } from "tus-js-client";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../../../src/client.ts";
import { ensureBuilt, makeFolder } from "../../support/built.ts";
import { type Command, startCommand } from "../../support/command.ts";
import { type BrokenLink, CUTS, openBrokenLink } from "../../support/links/broken-link.ts";
import { createBucket, type S3Bucket, s3Missing } from "../../support/s3/server.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import { amount } from "../../support/trust.ts";
import { uploadByDraft } from "./draft-client.ts";

const MIB = 1024 ** 2;
/** Several parts of a bucket, and a tail. */
const FILE_BYTES = amount({ short: 27 * MIB, long: 1024 * MIB }) + 7;
const PATIENCE_MS = amount({ short: 120_000, long: 600_000 });

let bucket: S3Bucket;
let folders = 0;

/** Where processes have their files: a folder of the bucket. */
interface Place {
  readonly prefix: string;
  start(): Promise<Command>;
}

async function createPlace(): Promise<Place> {
  folders += 1;
  const prefix = `home-${folders}`;
  const file = join(await makeFolder(), "fileferry.json");
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  const storage = { type: "s3", bucket: bucket.bucket, endpoint: bucket.endpoint, prefix };
  await writeFile(file, JSON.stringify({ storage, authentication: [{ type: "accounts", accounts }] }));
  const keys = { AWS_ACCESS_KEY_ID: bucket.accessKeyId, AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey };

  async function start(): Promise<Command> {
    const command = await startCommand(["serve", "--config", file, "--port", "0", "--quiet"], keys);
    onTestFinished(() => command.stop());
    return command;
  }

  return { prefix, start };
}

/** A link to processes of a place, whose port is that of the next connection. */
async function openLink(next: () => Command): Promise<BrokenLink> {
  const root = await makeFolder();
  return openBrokenLink({ root, next: () => Number(new URL(next().origin).port), fileBytes: FILE_BYTES });
}

/** A link to two processes over one folder of the bucket: each connection goes to the other one. */
async function openLinkInTurn() {
  const { prefix, start } = await createPlace();
  const processes = [await start(), await start()] as const;
  let connections = 0;
  const link = await openLink(() => processes[connections++ % 2] ?? processes[0]);
  return { link, prefix, process: processes[0] };
}

/** Fails unless the bucket has the file, byte for byte, and no bytes besides. */
async function expectArrived(link: BrokenLink, process: Command, prefix: string, client: string): Promise<void> {
  const { body } = await fetch(`${process.origin}/home/content.bin`, { headers: { authorization: AUTHORIZATION } });
  await pipeline(Readable.fromWeb(body as never), createWriteStream(join(link.root, "content.bin")));
  await link.expectArrived("content.bin", client);
  const keys = (await bucket.keys()).filter((key) => key.startsWith(`${prefix}/`));
  expect(keys.filter((key) => !key.endsWith("/state.json"))).toEqual([`${prefix}/content.bin`]);
}

async function expectNothingUnfinished(prefix: string): Promise<void> {
  expect((await bucket.openUploads()).filter((key) => key.startsWith(`${prefix}/`))).toEqual([]);
}

function uploadByTus(link: BrokenLink, options: UploadOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(createReadStream(link.file), {
      endpoint: `${link.proxy.origin}/home/`,
      headers: { Authorization: AUTHORIZATION },
      metadata: { filename: "content.bin" },
      retryDelays: [0, 100, 200, 400, 800],
      onError: reject,
      onSuccess: () => resolve(),
      ...options,
    });
    upload.start();
  });
}

describe.skipIf(s3Missing !== undefined)(`processes over one bucket${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  beforeAll(async () => {
    await ensureBuilt();
    bucket = await createBucket();
  }, 300_000);

  it(
    "take an upload of a client of the draft, in turn for each connection",
    async () => {
      const { link, prefix, process } = await openLinkInTurn();
      const upload = await uploadByDraft({
        url: `${link.proxy.origin}/home/content.bin`,
        ...{ file: link.file, size: FILE_BYTES, authorization: AUTHORIZATION },
      });
      expect(upload).toMatchObject({ status: 201 });
      expect(upload.offsets.length).toBeGreaterThanOrEqual(CUTS);
      // The process before may not have stored its bytes when the client asks the other one; they are sent again.
      expect(upload.offsets).toEqual(upload.offsets.toSorted((one, other) => one - other));
      await expectArrived(link, process, prefix, "a client of the draft, in a bucket, from two processes in turn");
      await expectNothingUnfinished(prefix);
    },
    PATIENCE_MS,
  );

  it("announce that uploads can be joined (R 3.1)", async () => {
    const { origin } = await (await createPlace()).start();
    const headers = { authorization: AUTHORIZATION };
    const response = await fetch(`${origin}/home/`, { method: "OPTIONS", headers });
    expect(response.headers.get("tus-extension")).toMatch(/,concatenation$/);
  });

  it.each<[string, UploadOptions]>([
    ["in parts", { chunkSize: Math.ceil(FILE_BYTES / CUTS / 3) }],
    ["in three uploads at the same time, which are joined", { parallelUploads: 3 }],
  ])(
    "take an upload of tus-js-client %s, in turn for each connection",
    async (way, options) => {
      const { link, prefix, process } = await openLinkInTurn();
      await uploadByTus(link, options);
      await expectArrived(link, process, prefix, `tus-js-client ${way}, in a bucket, from two processes in turn`);
      await expectNothingUnfinished(prefix);
    },
    PATIENCE_MS,
  );

  it(
    "replace each other: the client continues when one is killed in the middle",
    async () => {
      const { prefix, start } = await createPlace();
      let running = await start();
      const link = await openLink(() => running);
      const credentials = { username: "alice", password: "secret" };
      const client = createClient({ baseUrl: link.proxy.origin, credentials });
      let replaced: Promise<void> | undefined;
      async function replace(): Promise<void> {
        running.process.kill("SIGKILL");
        running = await start();
      }
      await client.put("/content.bin", await openAsBlob(link.file), {
        resumable: true,
        onProgress(sent) {
          if (sent > FILE_BYTES / 2) replaced ??= replace();
        },
      });
      expect(replaced).toBeDefined();
      await replaced;
      await expectArrived(link, running, prefix, "fileferry/client, in a bucket, with a process killed in the middle");
    },
    PATIENCE_MS,
  );
});
