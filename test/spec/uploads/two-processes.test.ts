import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import type { UploadKey } from "../../../src/contracts/storage-uploads.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createR2Storage } from "../../../src/storage/r2.ts";
import { createS3Storage } from "../../../src/storage/s3.ts";
import { createFake } from "../../support/s3/fake.ts";
import { createMemoryBucket } from "../../unit/storage/r2-bucket.ts";
import { createUploadService, DRAFT_CONTENT } from "./calls.ts";

const last = { "upload-offset": "0", "upload-complete": "?1", "content-type": DRAFT_CONTENT };
const again = { ...last, "upload-offset": "3" };

describe("two processes that complete one upload", () => {
  it.each(["memory", "disk", "S3", "R2"] as const)("cause one event, in %s (R 9.3)", async (kind) => {
    const root = await mkdtemp(join(tmpdir(), "fileferry-completions-"));
    const memory = createMemoryStorage();
    const { fetch } = createFake();
    const { bucket } = createMemoryBucket();
    const keys = { accessKeyId: "ACCESSKEY", secretAccessKey: "SECRETKEY" };
    const open = {
      memory: () => memory,
      disk: () => createDiskStorage({ root }),
      S3: () => createS3Storage({ bucket: "bucket", endpoint: "http://store.test", ...keys, fetch }),
      R2: () => createR2Storage(bucket),
    }[kind];
    let waiting = 0;
    let go: () => void = () => undefined;
    const haveBoth = new Promise<void>((resolve) => {
      go = resolve;
    });
    // Both have found the upload unfinished before one of them completes it.
    const beforeCommit = async (): Promise<undefined> => {
      waiting += 1;
      if (waiting === 2) go();
      await haveBoth;
    };
    const one = await createUploadService({ storage: open(), beforeCommit });
    const two = await createUploadService({ storage: open(), beforeCommit });
    const url = await one.createByDraft("/home/a");
    await one.draft("PATCH", url, { ...last, "upload-complete": "?0" }, { body: "abc" });
    const answers = await Promise.all([one.draft("PATCH", url, again), two.draft("PATCH", url, again)]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect([...one.events, ...two.events].map(({ id }) => id)).toEqual([40021, 40017]);
    await rm(root, { recursive: true, force: true });
  });

  it.each([
    ["memory", "finds its bytes gone"],
    ["memory", "refuses it"],
    ["disk", "finds its bytes gone"],
    ["disk", "refuses it"],
  ] as const)("both answer with the file, in %s, if the guard of the later one %s", async (kind, how) => {
    const root = await mkdtemp(join(tmpdir(), "fileferry-read-completions-"));
    const memory = createMemoryStorage();
    const open = (): StorageAdapter => (kind === "memory" ? memory : createDiskStorage({ root }));
    const guard = { receive: () => undefined, decide: () => undefined };
    const one = await createUploadService({ storage: open(), beforeCommit: guard });
    const url = await one.createByDraft("/home/a");
    await one.draft("PATCH", url, { ...last, "upload-complete": "?0" }, { body: "abc" });
    const first: number[] = [];
    const completeFirst = async (): Promise<void> => {
      first.push((await one.draft("PATCH", url, again)).status);
    };
    const { uploads, ...rest } = open();
    async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
      await completeFirst();
      yield* uploads?.read?.(key) ?? [];
    }
    const refusing = { ...guard, decide: () => completeFirst().then(() => "refused") };
    const two = await createUploadService(
      how === "refuses it"
        ? { storage: open(), beforeCommit: refusing }
        : { storage: { ...rest, ...(uploads && { uploads: { ...uploads, read } }) }, beforeCommit: guard },
    );
    const second = await two.draft("PATCH", url, again);
    expect([...first, second.status]).toEqual([201, 201]);
    expect((await one.draft("HEAD", url)).header("upload-complete")).toBe("?1");
    expect([...one.events, ...two.events].map(({ id }) => id)).toEqual([40021, 40017]);
    await rm(root, { recursive: true, force: true });
  });
});

describe("a process that ends just after it has made the file", () => {
  it.each(["sweep", "DELETE"])("leaves the event to the end of the upload: %s (R 9.3)", async (end) => {
    let now = Date.now();
    const storage = createMemoryStorage({ clock: () => now });
    const { createByDraft, draft, service, events } = await createUploadService({ storage, clock: () => now });
    const url = await createByDraft("/home/a");
    await draft("PATCH", url, { ...last, "upload-complete": "?0" }, { body: "abc" });
    now += 5000;
    for await (const { key } of storage.uploads?.list() ?? []) await storage.uploads?.complete(key);
    expect((await draft("HEAD", url)).header("upload-complete")).toBe("?1");
    expect(events.map(({ id }) => id)).toEqual([40021]);
    now += end === "sweep" ? 86_400_000 : 0;
    if (end === "sweep") expect(await service.sweep()).toBe(1);
    else expect((await draft("DELETE", url)).status).toBe(204);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
    expect(events[1]).toMatchObject({
      data: { path: "/a", real_path: "/alice/a", total_write: 3, duration: 5 },
      account: { name: "alice" },
    });
  });
});
