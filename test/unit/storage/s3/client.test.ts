import { describe, expect, it } from "vitest";
import { StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { createS3Storage, type S3StorageOptions } from "../../../../src/storage/s3.ts";
import { rejectionOf } from "../../../../src/testing/expectations.ts";
import { namesIn, put, readFileText } from "../../../../src/testing/storage/content.ts";
import { createFake, listing, refusal } from "../../../support/s3/fake.ts";

const KEYS = { accessKeyId: "ACCESSKEY", secretAccessKey: "SECRETKEY" };

describe("createS3Storage", () => {
  it.each<[string, object]>([
    ["bucket", { bucket: "a/b" }],
    ["region", { region: "a b" }],
    ["endpoint", { endpoint: "ftp://store.test" }],
    ["endpoint", { endpoint: "https://user:secret@store.test" }],
    ["forcePathStyle", { forcePathStyle: "yes" }],
    ["forcePathStyle", { forcePathStyle: false, endpoint: "http://127.0.0.1:9000" }],
    ["forcePathStyle", { forcePathStyle: false, endpoint: "http://[::1]:9000" }],
    ["forcePathStyle", { forcePathStyle: false, endpoint: "http://store.test", bucket: "MyBucket" }],
    ["prefix", { prefix: "a//b" }],
    ["prefix", { prefix: "../b" }],
    ["accessKeyId", { accessKeyId: "" }],
    ["secretAccessKey", { secretAccessKey: undefined }],
    ["sessionToken", { sessionToken: "" }],
    ["credentials", { credentials: async () => KEYS }],
    ["partBytes", { partBytes: 5_000_000 }],
    ["parallelParts", { parallelParts: 0 }],
    ["conditionalWrites", { conditionalWrites: 1 }],
    ["retries", { retries: -1 }],
    ["idleTimeoutSeconds", { idleTimeoutSeconds: Number.NaN }],
    ["fetch", { fetch: "fetch" }],
  ])("throws a TypeError that names a wrong %s: %j", (name, wrong) => {
    const options = { bucket: "bucket", ...KEYS, ...wrong } as S3StorageOptions;
    expect(() => createS3Storage(options)).toThrow(new RegExp(`^The option ${name} must be `));
  });

  it("says that keys and a function for them exclude each other", () => {
    const options = { bucket: "bucket", ...KEYS, credentials: async () => KEYS };
    expect(() => createS3Storage(options)).toThrow("The option credentials must be left out if accessKeyId is given.");
  });

  it.each<[string, Partial<S3StorageOptions>, string]>([
    [
      "AWS, by the host's name",
      { endpoint: undefined as never, region: "eu-1" },
      "https://bucket.s3.eu-1.amazonaws.com/a",
    ],
    ["an endpoint, by the path", {}, "http://store.test/bucket/a"],
    ["an endpoint with a path", { endpoint: "http://store.test/s3/" }, "http://store.test/s3/bucket/a"],
    ["an endpoint by the host's name", { forcePathStyle: false }, "http://bucket.store.test/a"],
    ["a prefix", { prefix: "/x y/z/" }, "http://store.test/bucket/x%20y/z/a"],
  ])("asks %s", async (_, options, url) => {
    const { storage, calls } = createFake(() => refusal(404, "", "HEAD"), options);
    await rejectionOf(storage.stat("/a"));
    // Another request, for its properties, goes at the same time.
    expect(calls.map((call) => call.url)).toContain(url);
  });

  it("encodes what is not unreserved in names, and signs by version 4 without the body", async () => {
    const { storage, calls } = createFake();
    await storage.stat("/a+b%/c d'(é)*");
    const call = calls.find(({ url }) => url === "http://store.test/bucket/a%2Bb%25/c%20d%27%28%C3%A9%29%2A");
    expect(call?.headers.get("authorization")).toMatch(
      /^AWS4-HMAC-SHA256 Credential=ACCESSKEY\/\d{8}\/us-east-1\/s3\//,
    );
    expect(call?.headers.get("x-amz-content-sha256")).toBe("UNSIGNED-PAYLOAD");
  });

  it("takes keys of up to 1,024 bytes, and reads what it lists; a folder's marker needs one of them", async () => {
    const parent = `${"n".repeat(250)}/`.repeat(4);
    const { storage, objects } = createFake();
    objects.set(parent, { body: "", headers: new Headers() });
    const path = (bytes: number) => `/${parent}${"f".repeat(bytes - parent.length)}`;
    await put(storage, path(1024), "longest");
    expect(await namesIn(storage, `/${parent.slice(0, -1)}`)).toEqual(["f".repeat(1024 - parent.length)]);
    expect(await readFileText(storage, path(1024))).toBe("longest");
    await storage.remove(path(1024));
    await expect(storage.createFolder(path(1024))).rejects.toMatchObject({ code: "bad-name" });
    await storage.createFolder(path(1023));
    await expect(put(storage, path(1025), "x")).rejects.toMatchObject({ code: "bad-name" });
  });
});

describe("calls of S3", () => {
  it.each([408, 429, 500, 502, 503, 504])("are repeated after %i", async (status) => {
    const { storage, calls } = createFake((_, number) => (number < 3 ? refusal(status, "") : listing(["a"])));
    await storage.check();
    expect(calls).toHaveLength(3);
  });

  it.each([
    [403, "AccessDenied", "denied"],
    [403, "SignatureDoesNotMatch", "unavailable"],
    [404, "NoSuchBucket", "unavailable"],
    [301, "PermanentRedirect", "unavailable"],
    [403, "QuotaExceeded", "no-space"],
    [400, "XMinioAdminBucketQuotaExceeded", "no-space"],
  ])("are not repeated after %i %s, which is %s", async (status, name, code) => {
    const { storage, calls } = createFake(() => refusal(status, name));
    const error = await rejectionOf(storage.check());
    expect(error).toMatchObject({ code, message: expect.stringContaining(`${status} ${name}`) });
    expect(calls).toHaveLength(1);
  });

  it("wait as long as Retry-After says, but no longer than the option", async () => {
    const busy = () => refusal(503, "SlowDown", "GET", { "retry-after": "3600" });
    const { storage } = createFake((_, number) => (number === 1 ? busy() : undefined), { maxRetryDelaySeconds: 0.1 });
    const begin = performance.now();
    await storage.check();
    expect(performance.now() - begin).toBeGreaterThan(95);
  });

  it("end as unavailable when the connection fails each time, and say neither keys nor what failed in detail", async () => {
    const cause = Object.assign(new Error("to ACCESSKEY"), { code: "ECONNRESET" });
    const { storage, calls } = createFake(() => Promise.reject(new TypeError("SECRETKEY failed", { cause })), {
      retries: 2,
    });
    const error = await rejectionOf(storage.check());
    expect(error).toBeInstanceOf(StorageError);
    expect(String(error)).toBe("StorageError: The bucket bucket does not respond: GET bucket: ECONNRESET");
    expect((error as Error).cause).toBeUndefined();
    expect(calls).toHaveLength(3);
  });

  it("are given up when no head comes in time, and tried again", async () => {
    const { storage, calls } = createFake((call, number) => (number === 1 ? untilAborted(call.signal) : undefined), {
      headersTimeoutSeconds: 0.03,
    });
    await storage.check();
    expect(calls[0]?.signal?.aborted).toBe(true);
  });

  it("are given up when an answer stands still, and tried again", async () => {
    const silent = () => new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([60])) }));
    const { storage, calls } = createFake((_, number) => (number === 1 ? silent() : undefined), {
      idleTimeoutSeconds: 0.03,
    });
    await storage.check();
    expect(calls).toHaveLength(2);
  });

  it("are signed with new keys when the store calls the provider's expired", async () => {
    let asked = 0;
    const credentials = async () => ({ ...KEYS, accessKeyId: `KEY${++asked}`, sessionToken: "token" });
    let now = Date.UTC(2026, 10, 22);
    const { storage, calls } = createFake(
      ({ headers }) => (/KEY1\//.test(headers.get("authorization") ?? "") ? refusal(400, "ExpiredToken") : undefined),
      {
        accessKeyId: undefined as never,
        secretAccessKey: undefined as never,
        credentials,
        clock: () => (now += 20_000),
      },
    );
    await storage.check();
    await storage.check();
    expect(calls.map(({ headers }) => /Credential=(\w+)/.exec(headers.get("authorization") ?? "")?.[1])).toEqual([
      "KEY1",
      "KEY2",
      "KEY2",
    ]);
    expect(calls[0]?.headers.get("x-amz-security-token")).toBe("token");
  });

  it("are not tried again with keys that no header can hold, and do not quote them", async () => {
    const { storage, calls } = createFake(undefined, { accessKeyId: "ACCESS\nKEY" });
    expect(String(await rejectionOf(storage.check()))).toBe(
      "StorageError: The bucket bucket does not respond: GET bucket: the request cannot be signed: TypeError",
    );
    expect(calls).toHaveLength(0);
  });

  it("ask for the stored bytes of what fetch would unpack", async () => {
    const { storage, calls } = createFake(({ query, method }) => {
      if (method !== "GET" || query.has("list-type")) return undefined;
      const isPlain = query.get("response-content-encoding") === "identity";
      const headers = { "content-length": "6", etag: '"t"', ...(!isPlain && { "content-encoding": "gzip" }) };
      return new Response("packed", { headers });
    });
    expect(await readFileText(storage, "/file.gz")).toBe("packed");
    expect(calls).toHaveLength(2);
  });

  it("end when a body is cancelled", async () => {
    const { storage, calls } = createFake(({ method }) =>
      method === "GET" ? new Response("text", { headers: { "content-length": "9000000", etag: '"t"' } }) : undefined,
    );
    const { body } = await storage.read("/file");
    await body.cancel();
    expect(calls[0]?.signal?.aborted).toBe(true);
  });
});

describe("a download", () => {
  it("that is cancelled while it asks for the rest ends that request", async () => {
    let resumed: AbortSignal | undefined;
    const { storage, calls } = createFake(({ method, query, signal }) => {
      if (method !== "GET" || query.has("list-type")) return undefined;
      if (calls.filter((call) => call.method === "GET").length > 1) {
        resumed = signal;
        return untilAborted(signal);
      }
      return new Response("some", { headers: { "content-length": "9", etag: '"t"' } });
    });
    const { source } = await storage.read("/file");
    if (source === undefined || !("readInto" in source)) throw new Error("no source");
    expect(await source.readInto(new Uint8Array(9))).toBe(4);
    const rest = source.readInto(new Uint8Array(9));
    await expect.poll(() => resumed).toBeDefined();
    await source.close();
    expect(resumed?.aborted).toBe(true);
    expect(await rest).toBe(0);
  });

  it("that breaks goes on where it was, of a store that knows no ranges and sends the whole again", async () => {
    let answers = 0;
    const { storage } = createFake(({ method, query }) => {
      if (method !== "GET" || query.has("list-type")) return undefined;
      answers += 1;
      return new Response(answers === 1 ? "some" : "some text", { headers: { "content-length": "9", etag: '"t"' } });
    });
    expect(await readFileText(storage, "/file")).toBe("some text");
  });

  it("that breaks at one place again and again comes to an end", async () => {
    const { storage, calls } = createFake(
      ({ method, query }) =>
        method === "GET" && !query.has("list-type")
          ? new Response("some", { headers: { "content-length": "9", etag: '"t"' } })
          : undefined,
      { retries: 2 },
    );
    await expect(readFileText(storage, "/file")).rejects.toMatchObject({ code: "unavailable" });
    expect(calls).toHaveLength(3);
  });
});

function untilAborted(signal: AbortSignal | undefined): Promise<Response> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason));
  });
}
