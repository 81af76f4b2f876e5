import { describe, expect, it } from "vitest";
import { StorageError } from "../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { createFaultyStorage } from "../../src/testing/faulty-storage.ts";
import { createTestService } from "../support/service.ts";

/** What a sweep does one after the other. A file whose retention is over is the last of it. */
const PARTS = ["uploads", "quota", "trash", "versions"] as const;
type Part = (typeof PARTS)[number];

/** A service that notes what it sweeps, of which some parts may fail. */
async function createSwept() {
  const swept: Part[] = [];
  const failing = new Set<Part>();
  const note = (part: Part): void => {
    swept.push(part);
    if (failing.has(part)) throw new StorageError("unavailable", `The ${part} cannot be swept.`);
  };
  const memory = createFaultyStorage(createMemoryStorage(), ({ verb, path, step }) => {
    if (verb === "uploads.list" && path === "" && step === "call") note("uploads");
    return undefined;
  });
  const { quota } = createQuotaStorage(memory);
  const { trash } = createTrashStorage(memory);
  const { versions } = createVersionsStorage(memory);
  const as = (part: Part) => async (): Promise<number> => {
    note(part);
    return 1;
  };
  const test = await createTestService({
    storage: memory,
    files: { "/old": "old" },
    quota: { ...quota, sweep: as("quota") },
    trash: { ...trash, sweep: as("trash") },
    versions: { ...versions, sweep: as("versions") },
    retention: [{ path: "/", seconds: 60 }],
  });
  test.advance(120);
  return { ...test, swept, failing };
}

describe("a sweep of the service", () => {
  it("does the parts that read all names once an hour", async () => {
    const { service, swept, advance, stored } = await createSwept();
    expect(await service.sweep()).toBe(4);
    expect(swept).toEqual(PARTS);
    expect(await stored("/old")).toBeUndefined();
    advance(600);
    expect(await service.sweep()).toBe(1);
    expect(swept.slice(4)).toEqual(["uploads", "quota"]);
    advance(3000);
    expect(await service.sweep()).toBe(3);
    expect(swept.slice(6)).toEqual(PARTS);
  });

  it.each(PARTS)("does all others if that of the %s fails, and that again the next time", async (part) => {
    const { service, swept, failing, stored } = await createSwept();
    failing.add(part);
    await expect(service.sweep()).rejects.toThrow(`The ${part} cannot be swept.`);
    expect(swept).toEqual(PARTS);
    expect(await stored("/old")).toBeUndefined();
    failing.clear();
    await service.sweep();
    expect(swept.slice(4)).toEqual(PARTS.filter((one) => one === part || one === "uploads" || one === "quota"));
  });

  it("rejects with the first of several failures", async () => {
    const { service, failing } = await createSwept();
    failing.add("trash").add("versions");
    await expect(service.sweep()).rejects.toThrow("The trash cannot be swept.");
  });

  it("ends before its next file if it is aborted, and the next one does the rest", async () => {
    const stopping = new AbortController();
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb }) => {
      if (verb === "remove") stopping.abort();
      return undefined;
    });
    const retention = [{ path: "/", seconds: 60 }];
    const files = { "/a": "a", "/b": "b", "/c": "c" };
    const { service, stored, advance } = await createTestService({ storage, files, retention });
    advance(120);
    await expect(service.sweep({ signal: stopping.signal })).rejects.toThrow("aborted");
    const left = await Promise.all(["/a", "/b", "/c"].map(stored));
    expect(left.filter((text) => text !== undefined)).toHaveLength(2);
    expect(await service.sweep()).toBe(2);
  });

  it("starts no part after it is aborted", async () => {
    const { service, swept } = await createSwept();
    await expect(service.sweep({ signal: AbortSignal.abort() })).rejects.toThrow("aborted");
    expect(swept).toEqual([]);
  });

  it("does a part once, if it is called again meanwhile", async () => {
    const { service, swept } = await createSwept();
    const [one, other] = await Promise.all([service.sweep(), service.sweep()]);
    expect(one + other).toBe(5);
    for (const part of ["trash", "versions"]) expect(swept.filter((done) => done === part)).toEqual([part]);
  });
});
