import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { KeyValueStore } from "../../../src/contracts/key-value-store.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { streamOf } from "../../support/bodies.ts";
import { BOUNDARY, BROWSER_HEADERS, formOf, sendFormForJson, uploadsOf } from "../../support/forms.ts";
import { createTestService, type TestServiceOptions } from "../../support/service.ts";

type Algorithm = "sha-256" | "sha-512";

/** A field with the digest of a text. */
function digestOf(text: string | Uint8Array, algorithm: Algorithm = "sha-256"): string {
  return `${algorithm}=:${createHash(algorithm.replace("-", "")).update(text).digest("base64")}:`;
}

/** A storage that counts how often a file is opened. */
function countReads(storage: StorageAdapter, onRead: () => void | Promise<void> = () => undefined) {
  const counts = { reads: 0 };
  const counting: StorageAdapter = {
    ...storage,
    async read(path, range) {
      counts.reads += 1;
      await onRead();
      return storage.read(path, range);
    },
  };
  return { counts, storage: counting };
}

async function createDigesting({ hasDigests = true, ...options }: TestServiceOptions & { hasDigests?: boolean } = {}) {
  const events: FileEvent[] = [];
  const files = { "/alice/a.txt": "content", "/alice/empty": "" };
  const test = await createTestService({
    ...(hasDigests && { digests: {} }),
    onEvent: (event) => events.push(event),
    files,
    ...options,
  });
  const digests = async (method: string, headers: Record<string, string> = {}, target = "/home/a.txt") => {
    const answer = await test.call(method, target, { headers: { "want-repr-digest": "sha-256=1", ...headers } });
    return [answer.status, answer.header("repr-digest"), answer.header("content-digest")];
  };
  return { ...test, events, digests };
}

describe("a PUT with digests (RFC 9530)", () => {
  it.each([
    ["content-digest", digestOf("new")],
    ["repr-digest", digestOf("new", "sha-512")],
    ["repr-digest", `${digestOf("new")}, ${digestOf("new", "sha-512")}, md5=:YQ==:`],
    ["content-digest", "unixsum=:YQ==:"],
  ])("is stored if its content has them: %s: %s", async (name, value) => {
    const { call, stored } = await createDigesting({ hasDigests: false });
    const answer = await call("PUT", "/home/a.txt", { body: streamOf("ne", "w"), headers: { [name]: value } });
    expect([answer.status, answer.header("repr-digest")]).toEqual([201, null]);
    expect(await stored("/alice/a.txt")).toBe("new");
  });

  it.each([
    { "content-digest": digestOf("other") },
    { "repr-digest": digestOf("other", "sha-512") },
    { "repr-digest": `${digestOf("new")}, ${digestOf("other", "sha-512")}` },
    { "content-digest": digestOf("new"), "repr-digest": digestOf("other") },
  ])("is 400 if one of them differs, and changes nothing: %j", async (headers) => {
    let asked = 0;
    const { call, stored, events } = await createDigesting({
      beforeCommit: () => {
        asked += 1;
        return undefined;
      },
    });
    const answer = await call("PUT", "/home/a.txt", { body: "new", headers, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-digest-mismatch"]);
    expect([await stored("/alice/a.txt"), asked]).toEqual(["content", 0]);
    expect(events.map(({ id }) => id).slice(-3)).toEqual([40021, 40022, 40019]);
  });

  it.each([
    ["content-digest", "sha-256"],
    ["repr-digest", "sha-256=:YQ==:"],
    ["repr-digest", `sha-256="${digestOf("new")}"`],
    ["content-digest", "sha-256=:,"],
  ])("is 400 before its body is read if they are malformed: %s: %s", async (name, value) => {
    const { call, stored } = await createDigesting();
    const body = new ReadableStream<Uint8Array>(
      {
        pull() {
          throw new Error("The body was read.");
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await call("PUT", "/home/a.txt", { body, headers: { [name]: value }, variant: "json" });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "upload-digest-invalid"]);
    expect(await stored("/alice/a.txt")).toBe("content");
  });

  it("answers the wanted digest of what it has stored, without reading it", async () => {
    const { counts, storage } = countReads(createMemoryStorage());
    const { call, digests } = await createDigesting({ storage });
    const put = async (wanted: string, body: string) => {
      const answer = await call("PUT", "/home/b.txt", { body, headers: { "want-repr-digest": wanted } });
      return [answer.status, answer.header("repr-digest")];
    };
    expect(await put("sha-512=3, sha-256=9", "one")).toEqual([201, digestOf("one")]);
    expect(await put("sha-512=1", "two")).toEqual([201, digestOf("two", "sha-512")]);
    expect(await put("md5=10, sha-256=0", "three")).toEqual([201, null]);
    expect(await put("sha-256=1", "")).toEqual([201, digestOf("")]);
    expect(counts.reads).toBe(0);
    expect(await digests("HEAD", {}, "/home/b.txt")).toEqual([200, digestOf(""), null]);
    expect(counts.reads).toBe(0);
  });

  it("passes the wish over without the option", async () => {
    // The description does not have the fields then.
    const { call } = await createDigesting({ hasDigests: false, isDescribed: false });
    const headers = { "want-repr-digest": "sha-256=1", "want-content-digest": "sha-256=1" };
    for (const method of ["PUT", "GET", "HEAD"]) {
      const answer = await call(method, "/home/a.txt", { headers, ...(method === "PUT" && { body: "new" }) });
      expect([answer.header("repr-digest"), answer.header("content-digest")]).toEqual([null, null]);
      expect(answer.header("vary")).not.toContain("Want");
    }
  });

  it("works without listeners, too", async () => {
    const test = await createTestService({ digests: {}, isWatched: false });
    const headers = { "want-repr-digest": "sha-256=1", "content-digest": digestOf("new") };
    const stored = await test.call("PUT", "/home/a", { body: "new", headers });
    expect(stored.header("repr-digest")).toBe(digestOf("new"));
    expect((await test.call("PUT", "/home/a", { body: "other", headers })).status).toBe(400);
    expect(await test.stored("/alice/a")).toBe("new");
  });
});

describe("a file of a form with digests", () => {
  /** A form with header lines in its part of a file. */
  function partOf(name: string, content: string, lines: string): string {
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="upload-file"; filename="${name}"\r\n${lines}\r\n${content}\r\n`;
  }

  const action = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="action"\r\n\r\nupload-file\r\n`;

  it.each([
    ["after", (parts: string) => `${action}${parts}`],
    ["before", (parts: string) => `${parts}${action}`],
  ])("is verified %s the action, and fails alone", async (_, arrange) => {
    const { call, stored } = await createDigesting();
    const parts = [
      partOf("right", "one", `Content-Digest: ${digestOf("one")}\r\nREPR-DIGEST: ${digestOf("one", "sha-512")}\r\n`),
      partOf("wrong", "two", `Repr-Digest: ${digestOf("other")}\r\n`),
      partOf("malformed", "three", "Content-Digest: sha-256=:YQ==:\r\n"),
      partOf("none", "four", ""),
    ];
    const answer = await call("POST", "/home/", {
      body: `${arrange(parts.join(""))}--${BOUNDARY}--\r\n`,
      headers: { ...BROWSER_HEADERS, accept: "application/json" },
    });
    expect([answer.status, answer.json()]).toEqual([
      422,
      {
        errors: [
          { target: "right", message: null },
          { target: "wrong", message: "The content does not match its digest." },
          { target: "malformed", message: "The Content-Digest header is malformed." },
          { target: "none", message: null },
        ],
      },
    ]);
    const contents = ["right", "wrong", "malformed", "none"].map((name) => stored(`/alice/${name}`));
    expect(await Promise.all(contents)).toEqual(["one", undefined, undefined, "four"]);
  });

  it("may be one that browsers send", async () => {
    const test = await createDigesting();
    expect((await sendFormForJson(test, "/home/", [["action", "upload-file"], ...uploadsOf({ b: "1" })])).status).toBe(
      200,
    );
    expect(formOf(["a", "b"]).byteLength).toBeGreaterThan(0);
  });
});

describe("a download with a wanted digest", () => {
  it("has the digest of the whole file, also for a part, HEAD and 304", async () => {
    const { digests, call } = await createDigesting();
    const [whole, part] = [digestOf("content"), { range: "bytes=0-2" }];
    expect(await digests("GET")).toEqual([200, whole, null]);
    expect(await digests("GET", part)).toEqual([206, whole, null]);
    expect(await digests("GET", { range: "bytes=0-1,3-4" })).toEqual([206, whole, null]);
    expect(await digests("HEAD")).toEqual([200, whole, null]);
    const etag = (await call("HEAD", "/home/a.txt")).header("etag") ?? "";
    expect(await digests("GET", { "if-none-match": etag })).toEqual([304, whole, null]);
    expect(await digests("GET", { "if-match": '"other"' })).toEqual([412, null, null]);
    expect(await digests("GET", { range: "bytes=9-" })).toEqual([416, null, null]);
    expect(await digests("GET", {}, "/home/empty")).toEqual([200, digestOf(""), null]);
  });

  it("has that of its content as well where that is the whole file", async () => {
    const { digests } = await createDigesting();
    const wanted = { "want-content-digest": "sha-512=1", "want-repr-digest": "" };
    const own = digestOf("content", "sha-512");
    expect(await digests("GET", wanted)).toEqual([200, null, own]);
    expect(await digests("HEAD", wanted)).toEqual([200, null, own]);
    expect(await digests("GET", { ...wanted, range: "bytes=0-2" })).toEqual([206, null, null]);
    const both = { "want-content-digest": "sha-512=1" };
    expect(await digests("GET", both)).toEqual([200, digestOf("content"), own]);
  });

  it("computes nothing unless it is wanted, and each version once", async () => {
    const { counts, storage } = countReads(createMemoryStorage());
    const { call, digests } = await createDigesting({ storage });
    await call("HEAD", "/home/a.txt");
    expect(counts.reads).toBe(0);
    await digests("HEAD", { "want-repr-digest": "sha-256=0, md5=3" });
    expect(counts.reads).toBe(0);
    await Promise.all(Array.from({ length: 5 }, () => digests("HEAD")));
    expect(counts.reads).toBe(1);
    await digests("HEAD", { "want-repr-digest": "sha-512=1" });
    expect(counts.reads).toBe(2);
    await call("PUT", "/home/a.txt", { body: "changed" });
    expect(await digests("HEAD")).toEqual([200, digestOf("changed"), null]);
    expect(counts.reads).toBe(3);
  });

  it("names what the response depends on", async () => {
    const { call } = await createDigesting();
    const answer = await call("HEAD", "/home/a.txt", { headers: { "want-content-digest": "sha-256=1" } });
    expect(answer.header("vary")).toBe("Accept, Authorization, Cookie, Want-Content-Digest");
  });

  it("computes no digest of a file above the limit, but has one that is known", async () => {
    const { call, digests } = await createDigesting({ digests: { computeBytes: 6 } });
    expect(await digests("HEAD")).toEqual([200, null, null]);
    await call("PUT", "/home/a.txt", { body: "too long", headers: { "content-digest": digestOf("too long") } });
    expect(await digests("HEAD")).toEqual([200, digestOf("too long"), null]);
  });

  it("has none of a file that is replaced while it is read", async () => {
    let replace: (() => Promise<unknown>) | undefined;
    const memory = createMemoryStorage();
    const { storage } = countReads(memory, async () => {
      const change = replace;
      replace = undefined;
      await change?.();
    });
    const { digests } = await createDigesting({ storage });
    replace = () => memory.write("/alice/a.txt", streamOf("replaced"));
    expect(await digests("GET")).toEqual([200, null, null]);
    expect(await digests("GET")).toEqual([200, digestOf("replaced"), null]);
  });

  it("has none without a strong tag", async () => {
    const memory = createMemoryStorage();
    const weak: StorageAdapter = {
      ...memory,
      async stat(path) {
        const entry = await memory.stat(path);
        return entry && { ...entry, ...(entry.etag !== undefined && { etag: `W/${entry.etag}` }) };
      },
    };
    const { digests } = await createDigesting({ storage: weak });
    expect(await digests("HEAD")).toEqual([200, null, null]);
  });

  it("goes on where the store fails, or has nonsense", async () => {
    const store: KeyValueStore = {
      get: async (key) => (key.includes("sha256") ? "x\r\nSet-Cookie: a=b" : Promise.reject(new Error("down"))),
      set: async () => Promise.reject(new Error("down")),
      delete: async () => undefined,
    };
    const { digests, log } = await createDigesting({ digests: { store } });
    expect(await digests("HEAD")).toEqual([200, digestOf("content"), null]);
    const other = { "want-repr-digest": "sha-512=1" };
    expect(await digests("HEAD", other)).toEqual([200, digestOf("content", "sha-512"), null]);
    expect(log.text()).toContain("down");
  });

  it("shares what is known through a store", async () => {
    const store = createMemoryKeyValueStore();
    const { counts, storage } = countReads(createMemoryStorage());
    await (await createDigesting({ storage, digests: { store } })).digests("HEAD");
    const other = await createDigesting({ storage, digests: { store }, files: {} });
    expect(await other.digests("HEAD")).toEqual([200, digestOf("content"), null]);
    expect(counts.reads).toBe(1);
  });

  it("needs the permission to read, also where the digest is known", async () => {
    const { digests, call } = await createDigesting({
      groups: { DEFAULT_GROUP: { permissions: [["allow-write", "allow-list"]] } },
    });
    await call("PUT", "/home/a.txt", { body: "new", headers: { "want-repr-digest": "sha-256=1" } });
    expect(await digests("HEAD")).toEqual([403, null, null]);
    expect(await digests("GET")).toEqual([403, null, null]);
  });

  it("is an ordinary answer for what is no file", async () => {
    // The description has the fields at files alone.
    const { digests, events } = await createDigesting({ files: { "/alice/folder/": "" }, isDescribed: false });
    expect(await digests("GET", {}, "/home/none")).toEqual([404, null, null]);
    expect(await digests("GET", {}, "/home/folder")).toEqual([302, null, null]);
    expect(await digests("HEAD", {}, "/home/folder/")).toEqual([200, null, null]);
    expect(events.filter(({ id }) => id === 40035)).toHaveLength(1);
    const zip = await digests(
      "GET",
      { accept: "application/zip", "want-content-digest": "sha-256=1" },
      "/home/folder/",
    );
    expect(zip).toEqual([200, null, null]);
  });

  it("counts as a transfer while it is read", async () => {
    let letGo: () => void = () => undefined;
    const isHeld = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { counts, storage } = countReads(createMemoryStorage(), () => isHeld);
    const { digests, call } = await createDigesting({ storage, limits: { transfersPerAccount: 1 } });
    const first = digests("HEAD");
    await expect.poll(() => counts.reads).toBe(1);
    expect((await call("GET", "/home/empty")).status).toBe(503);
    const refused = await call("HEAD", "/home/empty", { headers: { "want-repr-digest": "sha-256=1" } });
    expect([refused.status, refused.header("retry-after")]).toEqual([503, "5"]);
    expect((await call("HEAD", "/home/empty")).status).toBe(200);
    letGo();
    expect(await first).toEqual([200, digestOf("content"), null]);
    expect(await digests("HEAD", {}, "/home/empty")).toEqual([200, digestOf(""), null]);
  });

  it("stops reading where the client leaves", async () => {
    const client = new AbortController();
    const memory = createMemoryStorage();
    let isCancelled = false;
    let isPulled: () => void = () => undefined;
    const pulled = new Promise<void>((resolve) => {
      isPulled = resolve;
    });
    const storage: StorageAdapter = {
      ...memory,
      async read(path) {
        const { entry } = await memory.read(path);
        const body = new ReadableStream<Uint8Array>({
          async pull(controller) {
            isPulled();
            await new Promise((resolve) => setTimeout(resolve, 5));
            if (!isCancelled) controller.enqueue(new Uint8Array(1));
          },
          cancel() {
            isCancelled = true;
          },
        });
        return { entry: { ...entry, size: 1_000_000 }, body };
      },
      async stat(path) {
        const entry = await memory.stat(path);
        return entry && { ...entry, ...(entry.kind === "file" && { size: 1_000_000 }) };
      },
    };
    const { call } = await createDigesting({ storage });
    const running = call("HEAD", "/home/a.txt", {
      headers: { "want-repr-digest": "sha-256=1" },
      signal: client.signal,
    });
    await pulled;
    client.abort();
    await running.catch(() => undefined);
    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe("the option digests", () => {
  it.each([
    [{ computeBytes: -1 }, "digests.computeBytes"],
    [{ computeBytes: 1.5 }, "digests.computeBytes"],
    [{ computeBytes: "1" }, "digests.computeBytes"],
    [{ store: {} }, "digests.store"],
    [{ stores: {} }, "digests.stores"],
    [true, "digests"],
  ])("is checked when the service is made: %j", async (digests, name) => {
    await expect(createTestService({ digests: digests as never })).rejects.toThrow(name);
  });
});
