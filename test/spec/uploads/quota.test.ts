import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createUploadService, named, TUS_CONTENT, type UploadTestService } from "./calls.ts";

interface LimitedService extends UploadTestService {
  /** What is used and reserved, in bytes. */
  usage(): Promise<readonly [used: number, reserved: number]>;
}

/** A service whose accounts may have 100 bytes. */
async function createLimited(): Promise<LimitedService> {
  const storage = createQuotaStorage(createMemoryStorage());
  const groups = { DEFAULT_GROUP: { quota_bytes: 100 } };
  const test = await createUploadService({ storage, quota: storage.quota, groups });
  const usage = async (): Promise<readonly [number, number]> => {
    const { bytes, reservedBytes } = await storage.quota.usage("/alice");
    return [bytes, reservedBytes];
  };
  return { ...test, usage };
}

describe("resumable uploads of an account with a quota", () => {
  it("get 507 for a length that is told late and does not fit, and store nothing", async () => {
    const { tus, patch, usage } = await createLimited();
    const created = await tus("POST", "/home/", { "upload-defer-length": "1", "upload-metadata": named("a") });
    const url = created.header("location") ?? "";
    const refused = await patch(url, 0, "x".repeat(50), { "upload-length": "101" });
    expect([refused.status, refused.header("error-code")]).toEqual([507, "quota-used-up"]);
    expect(await usage()).toEqual([0, 0]);
    expect((await patch(url, 0, "x".repeat(50), { "upload-length": "100" })).status).toBe(204);
    expect(await usage()).toEqual([0, 100]);
    expect((await patch(url, 50, "x".repeat(50))).status).toBe(204);
    expect(await usage()).toEqual([100, 0]);
  });

  it("become one file with the room of its parts, which have it once", async () => {
    const { tus, usage } = await createLimited();
    const parts: string[] = [];
    for (const _ of [1, 2]) {
      const fields = { "upload-length": "40", "upload-concat": "partial", "content-type": TUS_CONTENT };
      parts.push((await tus("POST", "/home/", fields, { body: "x".repeat(40) })).header("location") ?? "");
    }
    expect(await usage()).toEqual([0, 80]);
    const joined = ["a", "b", "c"].map((name) =>
      tus("POST", "/home/", { "upload-concat": `final;${parts.join(" ")}`, "upload-metadata": named(name) }),
    );
    expect((await Promise.all(joined)).map(({ status }) => status).sort()).toEqual([201, 507, 507]);
    expect(await usage()).toEqual([80, 0]);
  });
});
