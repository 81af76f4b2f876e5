import { describe, expect, it } from "vitest";
import { createPermits } from "../../../../src/storage/object-store/permits.ts";
import { createS3Client } from "../../../../src/storage/s3/client.ts";
import { createConditionSupport } from "../../../../src/storage/s3/conditional-change.ts";
import { createS3Copier } from "../../../../src/storage/s3/copy.ts";
import { createUploads } from "../../../../src/storage/s3/multipart-uploads.ts";
import { toS3Settings } from "../../../../src/storage/s3/options.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createFake, refusal, type S3Call, type S3Fake, type S3Script } from "../../../support/s3/fake.ts";

const CONTENT = "0123456789abcdef0123456789ABCDEF!";

/** A copier on a store in memory. It copies objects of more than ten bytes in parts of four. */
function createParted(script?: S3Script) {
  const fake = createFake(script);
  const access = { bucket: "bucket", endpoint: "http://store.test", accessKeyId: "KEY", secretAccessKey: "SECRET" };
  const client = createS3Client(toS3Settings({ ...access, retryDelaySeconds: 0.001, fetch: fake.fetch }));
  const limits = { maxBytes: 10, partBytes: 4 };
  const copier = createS3Copier(client, createConditionSupport(true), createUploads(client), limits);
  fake.objects.set("a", toObject(CONTENT));
  return { ...fake, copier, options: { isNew: true, permits: createPermits(16) } };
}

function toObject(body: string, tag = "one") {
  return { body, headers: new Headers({ etag: `"${tag}"`, "x-amz-meta-color": "blue" }) };
}

function isCopy({ method, headers }: S3Call): boolean {
  return method === "PUT" && headers.has("x-amz-copy-source");
}

describe("copies of large objects in S3", () => {
  it("are made in parts of the version that was seen, with its metadata, and leave no upload", async () => {
    const { copier, options, calls, objects, uploads } = createParted();
    expect((await copier.copyObject("a", "b", options))?.source).toBe('"one"');
    expect(objects.get("b")?.body).toBe(CONTENT);
    expect(objects.get("b")?.headers.get("x-amz-meta-color")).toBe("blue");
    expect(uploads.size).toBe(0);
    const parts = calls.filter(isCopy).map(({ headers }) => headers);
    expect(parts.map((headers) => headers.get("x-amz-copy-source-range")).sort()).toEqual(
      [0, 4, 8, 12, 16, 20, 24, 28, 32].map((first) => `bytes=${first}-${Math.min(first + 3, 32)}`).sort(),
    );
    expect(new Set(parts.map((headers) => headers.get("x-amz-copy-source-if-match")))).toEqual(new Set(['"one"']));
  });

  it("copy at most 16 parts at the same time", async () => {
    let [running, most] = [0, 0];
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { copier, options, objects } = createParted(async (call, _, serve) => {
      if (!isCopy(call)) return serve();
      running += 1;
      most = Math.max(most, running);
      // The first 16 wait for each other.
      if (running === 16) open();
      await opened;
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      return serve();
    });
    objects.set("a", toObject("x".repeat(200)));
    await copier.copyObject("a", "b", options);
    expect(objects.get("b")?.body).toBe("x".repeat(200));
    expect(most).toBe(16);
  });

  it.each([
    ["unavailable", {}],
    ["precondition-failed", { ifMatch: ['"one"'] }],
  ])("are %s if the original changes midway, and leave nothing", async (code, conditions) => {
    const { copier, options, objects, uploads } = createParted((call) => {
      if (call.query.get("partNumber") === "3") objects.set("a", toObject("something else", "two"));
      return undefined;
    });
    await expect(copier.copyObject("a", "b", { ...options, ...conditions })).rejects.toMatchObject({ code });
    expect([...objects.keys()]).toEqual(["a"]);
    expect(uploads.size).toBe(0);
  });

  it("are already-exists if something is created there meanwhile, which stays", async () => {
    const { copier, options, objects, uploads } = createParted((call) => {
      if (call.query.get("partNumber") === "3") objects.set("b", toObject("theirs", "two"));
      return undefined;
    });
    await expect(copier.copyObject("a", "b", options)).rejects.toMatchObject({ code: "already-exists" });
    expect(objects.get("b")?.body).toBe("theirs");
    expect(uploads.size).toBe(0);
  });

  it("are aborted with the signal's reason", async () => {
    const controller = new AbortController();
    const { copier, options, objects, uploads } = createParted((call) => {
      if (call.query.get("partNumber") === "3") controller.abort(new Error("gone"));
      return undefined;
    });
    const { signal } = controller;
    await expect(copier.copyObject("a", "b", { ...options, signal })).rejects.toThrow("gone");
    expect([...objects.keys()]).toEqual(["a"]);
    expect(uploads.size).toBe(0);
  });
});

describe("copies of objects in S3", () => {
  it("read no bytes, name the version, and encode its key", async () => {
    const { storage, calls, objects } = createFake();
    const path = "/ä +%?#'.txt";
    const { etag } = await put(storage, path, "content");
    const before = calls.length;
    await storage.copy(path, "/b");
    expect(calls.slice(before).filter(({ method, key }) => method === "GET" && key !== "")).toEqual([]);
    const { headers } = calls.find(isCopy) as S3Call;
    expect(headers.get("x-amz-copy-source")).toBe("/bucket/%C3%A4%20%2B%25%3F%23%27.txt");
    expect(headers.get("x-amz-copy-source-if-match")).toBe(etag);
    expect(objects.get("b")?.body).toBe("content");
  });

  it("copy the new version if the original changes after the look", async () => {
    const { storage, objects } = changing({});
    await storage.copy("/a", "/b");
    expect(objects.get("b")?.body).toBe("two");
  });

  it("are precondition-failed if it is not the wanted one then, and not-found if it is gone", async () => {
    const changed = changing({});
    const copied = changed.storage.copy("/a", "/b", { ifMatch: ['"one"'] });
    await expect(copied).rejects.toMatchObject({ code: "precondition-failed" });
    const removed = changing({ isRemoved: true });
    await expect(removed.storage.copy("/a", "/b")).rejects.toMatchObject({ code: "not-found" });
    for (const { objects } of [changed, removed]) expect(objects.has("b")).toBe(false);
  });

  it("to one new name by two processes: one succeeds, the other is already-exists, if the store has conditions", async () => {
    const first = createFake();
    const second = createFake(undefined, { fetch: first.fetch });
    for (let round = 0; round < 5; round += 1) {
      await put(first.storage, "/a", "a");
      await put(first.storage, "/b", "b");
      const verb = round % 2 === 0 ? "copy" : "move";
      const to = `/to-${round}`;
      const outcomes = await Promise.allSettled([first.storage[verb]("/a", to), second.storage[verb]("/b", to)]);
      const winners = ["a", "b"].filter((_, index) => outcomes[index]?.status === "fulfilled");
      expect(winners).toHaveLength(1);
      expect(outcomes.find(({ status }) => status === "rejected")).toMatchObject({
        reason: { code: "already-exists" },
      });
      expect(await readFileText(first.storage, to)).toBe(winners[0]);
      const loser = winners[0] === "a" ? "/b" : "/a";
      expect(await readFileText(first.storage, loser)).toBe(loser.slice(1));
    }
  });

  it("are made without conditions if the store has none for copies, and exact within one process", async () => {
    const { storage } = createFake((call) => {
      const isConditional = call.headers.has("if-none-match") || call.headers.has("if-match");
      return isCopy(call) && isConditional ? refusal(501, "NotImplemented") : undefined;
    });
    await put(storage, "/a", "a");
    await put(storage, "/b", "b");
    const outcomes = await Promise.allSettled([storage.copy("/a", "/to"), storage.copy("/b", "/to")]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await readFileText(storage, "/to")).toBe("a");
  });

  it("that fail after an early 200 are tried again, and fail for good with what the body says", async () => {
    let copies = 0;
    const busy = createFake((call) => {
      if (!isCopy(call)) return undefined;
      copies += 1;
      return copies < 3 ? new Response("<Error><Code>InternalError</Code></Error>") : undefined;
    });
    await put(busy.storage, "/a", "x");
    await busy.storage.copy("/a", "/b");
    expect([copies, busy.objects.get("b")?.body]).toEqual([3, "x"]);
    const denied = createFake((call) =>
      isCopy(call) ? new Response("<Error><Code>AccessDenied</Code></Error>") : undefined,
    );
    await put(denied.storage, "/a", "x");
    await expect(denied.storage.copy("/a", "/b")).rejects.toMatchObject({ code: "denied" });
    expect(denied.objects.has("b")).toBe(false);
  });

  it("succeed although the response to the copy was lost", async () => {
    const { storage, objects } = createFake((call, _, serve) => {
      if (!isCopy(call)) return undefined;
      serve();
      throw new TypeError("lost");
    });
    await put(storage, "/a", "x");
    expect(await storage.copy("/a", "/b")).toBe("created");
    expect(objects.get("b")?.body).toBe("x");
  });
});

/** A store whose object `a` is replaced or removed just before its copy. */
function changing({ isRemoved = false }: { readonly isRemoved?: boolean }): S3Fake {
  let isDone = false;
  const fake = createFake((call) => {
    if (!isCopy(call) || isDone) return undefined;
    isDone = true;
    if (isRemoved) fake.objects.delete("a");
    else fake.objects.set("a", toObject("two", "two"));
    return undefined;
  });
  fake.objects.set("a", toObject("one", "one"));
  return fake;
}
