import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createFolderStorage } from "../../../src/storage/folder-storage.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createR2Storage } from "../../../src/storage/r2.ts";
import { createFake } from "../../support/s3/fake.ts";
import { createMemoryBucket } from "../../unit/storage/r2-bucket.ts";
import { createUploadService } from "./calls.ts";

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-lost-uploads-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const storages = {
  memory: async () => createMemoryStorage(),
  disk: async () => createDiskStorage({ root }),
  S3: async () => createFake().storage,
  R2: async () => createR2Storage(createMemoryBucket().bucket),
  "a folder of a storage": async () => {
    const storage = createMemoryStorage();
    await storage.createFolder("/all");
    return createFolderStorage(storage, ["all"]);
  },
};

describe.each(Object.entries(storages))("an upload whose folder is gone, in %s", (_, createStorage) => {
  it("is 404, no longer listed, and told as failed by the next sweep, once (R 14.1, 9.3)", async () => {
    const storage = await createStorage();
    const { createByTus, patch, call, tus, service, events } = await createUploadService({
      storage,
      files: { "/alice/removed/": "", "/alice/moved/": "", "/alice/kept/": "" },
    });
    const urls: string[] = [];
    for (const folder of ["removed", "moved", "kept"]) {
      const url = await createByTus("a", { "upload-length": "6" }, { folder: `/home/${folder}/` });
      await patch(url, 0, "abc");
      urls.push(url);
    }
    await storage.remove("/alice/removed");
    await storage.move("/alice/moved", "/alice/elsewhere");
    const statuses: number[] = [];
    for (const url of urls) statuses.push((await tus("HEAD", url)).status);
    expect(statuses).toEqual([404, 404, 200]);
    expect((await tus("DELETE", urls[0] ?? "")).status).toBe(404);
    const { uploads } = (await call("GET", "/home/__svc__/uploads/")).json<{ uploads: { path: string }[] }>();
    expect(uploads.map(({ path }) => path)).toEqual(["/kept/a"]);
    expect(await service.sweep()).toBe(2);
    expect(await service.sweep()).toBe(0);
    const failed = events.filter(({ id }) => id === 40022);
    expect(failed.map(({ data }) => data.path).sort()).toEqual(["/moved/a", "/removed/a"]);
    expect(new Set(failed.map(({ data }) => data.details))).toEqual(
      new Set(["The folder or the bytes of the upload are gone."]),
    );
  });

  it("is still told as complete, without a failure, if it was (R 7.3)", async () => {
    const storage = await createStorage();
    const { createByTus, patch, tus, service, events } = await createUploadService({
      storage,
      files: { "/alice/done/": "" },
    });
    const url = await createByTus("a", { "upload-length": "3" }, { folder: "/home/done/" });
    await patch(url, 0, "abc");
    await storage.remove("/alice/done");
    const shown = await tus("HEAD", url);
    expect([shown.status, shown.header("upload-complete")]).toEqual([200, "?1"]);
    expect(await service.sweep()).toBe(0);
    expect((await tus("DELETE", url)).status).toBe(204);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });
});
