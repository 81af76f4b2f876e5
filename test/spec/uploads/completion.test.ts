import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { Upload } from "../../../src/contracts/upload.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createFaultyStorage } from "../../../src/testing/faulty-storage.ts";
import { streamOf } from "../../support/bodies.ts";
import { createUploadService, DRAFT_CONTENT } from "./calls.ts";

/** A storage whose completions fail while `fault` is set. */
function createFailing(): { storage: StorageAdapter; fail(code: "no-space" | "unavailable" | undefined): void } {
  let fault: "no-space" | "unavailable" | undefined;
  const storage = createFaultyStorage(createMemoryStorage(), ({ verb, step }) =>
    verb === "uploads.complete" && step === "call" && fault !== undefined
      ? { fault: "error", error: fault }
      : undefined,
  );
  return {
    storage,
    fail(code) {
      fault = code;
    },
  };
}

const last = { "upload-offset": "0", "upload-complete": "?1", "content-type": DRAFT_CONTENT };
const again = { ...last, "upload-offset": "3" };

describe("a completion that fails", () => {
  it("by tus answers the failure without an offset; HEAD and an empty PATCH try again (R 3.8)", async () => {
    const { storage, fail } = createFailing();
    const { createByTus, patch, tus, stored, events } = await createUploadService({ storage });
    fail("unavailable");
    const one = await createByTus("a", { "upload-length": "3" });
    const failed = await patch(one, 0, "abc");
    expect([failed.status, failed.header("upload-offset"), failed.header("retry-after")]).toEqual([503, null, "1"]);
    const shown = await tus("HEAD", one);
    expect([shown.status, shown.header("upload-offset")]).toEqual([503, null]);
    fail("no-space");
    expect((await patch(one, 3, "")).status).toBe(507);
    expect(await stored("/alice/a")).toBeUndefined();
    expect(events.map(({ id }) => id)).toEqual([40021]);
    fail(undefined);
    const found = await tus("HEAD", one);
    expect([found.status, found.header("upload-offset"), found.header("upload-complete")]).toEqual([200, "3", "?1"]);
    expect(await stored("/alice/a")).toBe("abc");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("by the draft tells that it may be asked for again (R 4.4)", async () => {
    const { storage, fail } = createFailing();
    const { createByDraft, draft, stored } = await createUploadService({ storage });
    const url = await createByDraft("/home/a");
    for (const [code, status] of [
      ["unavailable", 503],
      ["no-space", 507],
    ] as const) {
      fail(code);
      const offset = status === 503 ? last : again;
      const answer = await draft("PATCH", url, offset, status === 503 ? { body: "abc" } : {});
      expect([answer.status, answer.header("upload-complete")]).toEqual([status, "?0"]);
    }
    const shown = await draft("HEAD", url);
    expect([shown.header("upload-offset"), shown.header("upload-complete")]).toEqual(["3", "?0"]);
    fail(undefined);
    expect((await draft("PATCH", url, again)).status).toBe(201);
    expect(await stored("/alice/a")).toBe("abc");
  });
});

describe.each(["memory", "disk"])("a client that disconnects during the completion, in %s", (kind) => {
  let root: string;

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-disconnects-"));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  /** A service whose guard has the client of the first completion disconnect, at the content or at its decision. */
  async function createDisconnecting(at: "content" | "decision" = "content") {
    const client = new AbortController();
    const storage = kind === "disk" ? createDiskStorage({ root }) : createMemoryStorage();
    let decisions = 0;
    const beforeCommit = {
      receive() {
        if (at === "content") client.abort();
      },
      async decide() {
        decisions += 1;
        client.abort();
        return undefined;
      },
    };
    const service = await createUploadService({ storage, beforeCommit, requestClass: Request });
    return { ...service, signal: client.signal, countDecisions: () => decisions };
  }

  it("finds all of it again, and completes it: tus (R 7.4, 9.3)", async () => {
    const { createByTus, patch, tus, stored, events, signal, countDecisions } = await createDisconnecting();
    const url = await createByTus("a", { "upload-length": "3" });
    await patch(url, 0, "abc", {}, { signal });
    expect(events.map(({ id }) => id)).toEqual([40021]);
    expect(countDecisions()).toBe(0);
    const shown = await tus("HEAD", url);
    expect([shown.status, shown.header("upload-offset"), shown.header("upload-complete")]).toEqual([200, "3", "?1"]);
    expect(await stored("/alice/a")).toBe("abc");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("finds all of it again if it was looking at the upload by HEAD: tus (R 3.8)", async () => {
    const { createByTus, patch, tus, stored, storage, events, signal } = await createDisconnecting();
    const url = await createByTus("b", { "upload-defer-length": "1" });
    await patch(url, 0, "abc");
    for await (const { key } of storage.uploads?.list() ?? []) await storage.uploads?.update(key, { size: 3 });
    await tus("HEAD", url, {}, { signal });
    expect(await stored("/alice/b")).toBeUndefined();
    expect((await tus("HEAD", url)).header("upload-complete")).toBe("?1");
    expect(await stored("/alice/b")).toBe("abc");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("finds all of it again, and completes it: the draft (R 4.4, 7.4, 9.3)", async () => {
    const { createByDraft, draft, stored, events, signal } = await createDisconnecting();
    const url = await createByDraft("/home/c");
    const answer = await draft("PATCH", url, last, { body: "abc", signal });
    expect(answer.header("upload-complete")).toBe("?0");
    const shown = await draft("HEAD", url);
    expect([shown.status, shown.header("upload-offset"), shown.header("upload-complete")]).toEqual([204, "3", "?0"]);
    expect((await draft("PATCH", url, again)).status).toBe(201);
    expect(await stored("/alice/c")).toBe("abc");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });

  it("has its file if beforeCommit accepts that: all of it was there (R 7.3, 9.3)", async () => {
    const { createByTus, patch, tus, stored, events, signal, countDecisions } = await createDisconnecting("decision");
    const url = await createByTus("d", { "upload-length": "3" });
    await patch(url, 0, "abc", {}, { signal });
    expect([signal.aborted, await stored("/alice/d")]).toEqual([true, "abc"]);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
    expect((await tus("HEAD", url)).header("upload-complete")).toBe("?1");
    expect([events.length, countDecisions()]).toEqual([2, 1]);
  });
});

describe("a file that is refused at its completion", () => {
  it("by its conditions ends the upload, and leaves the other file (R 5.3, 4.4)", async () => {
    const { createByDraft, draft, call, stored, events } = await createUploadService({ files: { "/alice/b": "old" } });
    const fresh = await createByDraft("/home/a", { "if-none-match": "*" });
    await call("PUT", "/home/a", { body: "meanwhile" });
    const dated = await createByDraft("/home/b", {
      "if-unmodified-since": new Date(Date.now() + 86_400_000).toUTCString(),
    });
    await call("PUT", "/home/b", { body: "meanwhile" });
    for (const url of [fresh, dated]) {
      const answer = await draft("PATCH", url, last, { body: "abc" });
      expect([answer.status, answer.header("upload-complete")]).toEqual([412, "?1"]);
      expect((await draft("HEAD", url)).status).toBe(404);
    }
    expect([await stored("/alice/a"), await stored("/alice/b")]).toEqual(["meanwhile", "meanwhile"]);
    const failed = events.filter(({ id }) => id === 40022);
    expect(failed.map(({ data }) => data.details)).toEqual(Array(2).fill("A precondition of the request failed."));
  });

  it("meets its conditions where nothing has changed (R 5.3)", async () => {
    const { createByTus, patch, call, stored } = await createUploadService({ files: { "/alice/a": "old" } });
    const etag = (await call("HEAD", "/home/a")).header("etag") ?? "";
    const url = await createByTus("a", { "upload-length": "3", "if-match": etag });
    expect((await patch(url, 0, "abc")).status).toBe(204);
    expect(await stored("/alice/a")).toBe("abc");
  });

  it("by a folder in its place, or the loss of its own folder (R 14.1)", async () => {
    const { createByTus, patch, call, tus } = await createUploadService({ files: { "/alice/docs/": "" } });
    const one = await createByTus("a", { "upload-length": "3" });
    await call("MKCOL", "/home/a/");
    expect((await patch(one, 0, "abc")).status).toBe(409);
    expect((await tus("HEAD", one)).status).toBe(404);
    const two = await createByTus("a", { "upload-length": "3" }, { folder: "/home/docs/" });
    await call("DELETE", "/home/docs/");
    expect((await patch(two, 0, "abc")).status).toBe(404);
  });
});

describe("the option beforeCommit", () => {
  it("decides at completion on all bytes, with the metadata of the creation (R 5.5, 5.6)", async () => {
    const seen: Upload[] = [];
    const { createByTus, patch, stored, events } = await createUploadService({
      metadataFields: "X-Labels",
      beforeCommit: (upload) => {
        seen.push({ ...upload });
        return upload.metadata?.tag?.[0] === "bad" ? "It is bad." : undefined;
      },
    });
    const good = await createByTus("a", { "upload-length": "6", "x-labels": "tag=good" });
    await patch(good, 0, "abc");
    expect(seen).toEqual([]);
    expect((await patch(good, 3, "def")).status).toBe(204);
    expect(seen).toEqual([
      expect.objectContaining({ path: "/a", realPath: "/alice/a", size: 6, metadata: { tag: ["good"] } }),
    ]);
    const bad = await createByTus("b", { "upload-length": "3", "x-labels": "tag=bad" });
    const refused = await patch(bad, 0, "abc");
    expect([refused.status, refused.header("error-code")]).toEqual([422, "upload-refused"]);
    expect((await patch(bad, 3, "")).status).toBe(404);
    expect([await stored("/alice/a"), await stored("/alice/b")]).toEqual(["abcdef", undefined]);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017, 40021, 40022]);
    expect(events[3]?.data).toMatchObject({ details: "It is bad.", metadata: { tag: ["bad"] }, total_write: 3 });
  });

  it("sees the content from the first byte on, if it wants to (R 5.6)", async () => {
    let text = "";
    const { createByTus, patch } = await createUploadService({
      beforeCommit: {
        receive(_, chunk) {
          text += new TextDecoder().decode(chunk);
        },
        decide: ({ size }) => (size === 6 ? undefined : "wrong"),
      },
    });
    const url = await createByTus("a", { "upload-length": "6" });
    await patch(url, 0, "abc");
    expect(text).toBe("");
    expect((await patch(url, 3, "def")).status).toBe(204);
    expect(text).toBe("abcdef");
  });

  it("makes no uploads resumable that it cannot see (R 5.6, 1.6)", async () => {
    const memory = createMemoryStorage();
    const { read: _, ...uploads } = memory.uploads ?? ({} as NonNullable<typeof memory.uploads>);
    const storage = { ...memory, uploads };
    const beforeCommit = { receive: () => undefined, decide: () => undefined };
    const { tus } = await createUploadService({ storage, beforeCommit });
    const undescribed = "there are none";
    expect((await tus("POST", "/home/a", { "upload-length": "1" }, { undescribed })).status).toBe(501);
  });

  it("that is defective is 500, and the upload may be tried again (R 4.4)", async () => {
    let isDefective = true;
    const { createByDraft, draft, stored } = await createUploadService({
      beforeCommit: () => {
        if (isDefective) throw new Error("defect");
        return undefined;
      },
    });
    const url = await createByDraft("/home/a");
    const answer = await draft("PATCH", url, last, { body: "abc" });
    expect([answer.status, answer.header("upload-complete")]).toEqual([500, "?0"]);
    isDefective = false;
    expect((await draft("PATCH", url, again)).status).toBe(201);
    expect(await stored("/alice/a")).toBe("abc");
  });

  it("refuses in its own words", async () => {
    const { createByTus, patch } = await createUploadService({
      beforeCommit: () => {
        throw new HttpError("denied", "A virus.", {}, { code: "virus" });
      },
    });
    const answer = await patch(await createByTus("a", { "upload-length": "1" }), 0, "a");
    expect([answer.status, answer.header("error-code")]).toEqual([422, "virus"]);
  });
});

describe("metadata fields", () => {
  it("are read at creation, and are 400 there (R 5.5)", async () => {
    const { tus, createByTus, patch } = await createUploadService({ metadataFields: "X-Labels\ntag, required" });
    const undescribed = "it is required for files only";
    const missing = await tus("POST", "/home/a", { "upload-length": "1", "x-labels": "other=1" }, { undescribed });
    expect([missing.status, missing.header("error-code")]).toEqual([400, "metadata-key-missing"]);
    const url = await createByTus("a", { "upload-length": "1", "x-labels": "tag=1" });
    expect((await patch(url, 0, "a")).status).toBe(204);
  });
});

describe("bytes that another request adds while beforeCommit decides", () => {
  it("never get into the file (R 5.6)", async () => {
    let addMore: () => Promise<unknown> = async () => undefined;
    const sizes: number[] = [];
    const { createByDraft, draft, stored } = await createUploadService({
      beforeCommit: async ({ size }) => {
        sizes.push(size);
        await addMore();
        return undefined;
      },
    });
    const url = await createByDraft("/home/a");
    addMore = () => draft("PATCH", url, { ...again, "upload-complete": "?0" }, { body: "evil" });
    await draft("PATCH", url, last, { body: streamOf("abc") });
    expect(sizes[0]).toBe(3);
    expect([undefined, "abc"]).toContain(await stored("/alice/a"));
  });
});

describe("two requests that complete one upload", () => {
  it("make one file, and cause one event (R 9.3)", async () => {
    const { createByTus, patch, tus, events } = await createUploadService({
      beforeCommit: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        return undefined;
      },
    });
    const url = await createByTus("a", { "upload-length": "3" });
    const answers = await Promise.all([patch(url, 0, "abc"), tus("HEAD", url), tus("HEAD", url), patch(url, 3, "")]);
    for (const { status } of answers) expect([200, 204, 409]).toContain(status);
    expect((await tus("HEAD", url)).header("upload-complete")).toBe("?1");
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });
});

describe("a guard that fails because the client disconnects", () => {
  it.each([
    ["the reason of the signal", (reason: unknown) => reason],
    ["an error of that cause", (reason: unknown) => new Error("aborted", { cause: reason })],
  ])("is no defect: %s", async (_what, toError) => {
    const client = new AbortController();
    const beforeCommit = async ({ signal }: Upload): Promise<undefined> => {
      if (client.signal.aborted) return;
      client.abort();
      throw toError(signal.reason);
    };
    const { createByDraft, draft, log, events } = await createUploadService({ beforeCommit, requestClass: Request });
    const url = await createByDraft("/home/a");
    await draft("PATCH", url, last, { body: "abc", signal: client.signal });
    expect(log.text()).toBe("[]");
    expect((await draft("PATCH", url, again)).status).toBe(201);
    expect(events.map(({ id }) => id)).toEqual([40021, 40017]);
  });
});

describe("a client that disconnects while another request completes its upload", () => {
  it("has no guard asked once more", async () => {
    const client = new AbortController();
    let scans = 0;
    let showAgain: (() => Promise<unknown>) | undefined;
    let shown: Promise<unknown> | undefined;
    const { createByTus, patch, tus } = await createUploadService({
      requestClass: Request,
      beforeCommit: async () => {
        scans += 1;
        shown ??= showAgain?.();
        await new Promise((resolve) => setTimeout(resolve, 20));
        client.abort();
        throw new HttpError("unavailable", "The scanner is away.");
      },
    });
    const url = await createByTus("a", { "upload-length": "3" });
    showAgain = () => tus("HEAD", url, {}, { signal: client.signal });
    expect((await patch(url, 0, "abc")).status).toBe(503);
    await shown;
    expect(scans).toBe(1);
  });
});

describe("a storage that fails", () => {
  it("is 503 with Retry-After, and the upload goes on (R 9.2)", async () => {
    let isFailing = true;
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb, step }) =>
      isFailing && verb === "uploads.append" && step === "call" ? { fault: "error", error: "unavailable" } : undefined,
    );
    const { createByTus, patch } = await createUploadService({ storage });
    const url = await createByTus("a", { "upload-length": "3" });
    const answer = await patch(url, 0, "abc");
    expect([answer.status, answer.header("retry-after")]).toEqual([503, "1"]);
    isFailing = false;
    expect((await patch(url, 0, "abc")).status).toBe(204);
  });

  it("that is full is 507; what came before is kept, and so is the former file (R 8.4)", async () => {
    let chunks = 0;
    const storage = createFaultyStorage(createMemoryStorage(), ({ verb, step }) => {
      if (verb !== "uploads.append" || step !== "chunk") return undefined;
      chunks += 1;
      return chunks === 2 ? { fault: "error", error: new StorageError("no-space") } : undefined;
    });
    const { createByTus, patch, tus, stored } = await createUploadService({
      storage,
      files: { "/alice/a": "old" },
      requestClass: Request,
    });
    const url = await createByTus("a", { "upload-length": "6" });
    expect((await patch(url, 0, streamOf("abc", "def"))).status).toBe(507);
    expect((await tus("HEAD", url)).header("upload-offset")).toBe("3");
    expect(await stored("/alice/a")).toBe("old");
    expect((await patch(url, 3, "def")).status).toBe(204);
  });
});
