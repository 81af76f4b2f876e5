import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createAzureClient } from "../../../../src/storage/azure/client.ts";
import { createAzureCopier } from "../../../../src/storage/azure/copy.ts";
import { fromBlobName, toBlobName } from "../../../../src/storage/azure/names.ts";
import { toAzureSettings } from "../../../../src/storage/azure/options.ts";
import { toSignedText } from "../../../../src/storage/azure/signature.ts";
import { createAzureWriter } from "../../../../src/storage/azure/write.ts";
import { type AzureStorageOptions, createAzureStorage } from "../../../../src/storage/azure.ts";
import { createPermits } from "../../../../src/storage/object-store/permits.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";

const KEY = btoa("the key of an account");
const OPTIONS = { account: "account", container: "files", key: KEY, retries: 2, retryDelaySeconds: 0 };

interface Call {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A storage whose requests a function answers, and what it has been asked. */
function createFake(answer: (call: Call) => Response, options: Partial<AzureStorageOptions> = {}) {
  const calls: Call[] = [];
  const storage = createAzureStorage({
    ...OPTIONS,
    ...options,
    async fetch(url, { method = "GET", headers }) {
      const call = { url, method, headers: Object.fromEntries(new Headers(headers)) };
      calls.push(call);
      return answer(call);
    },
  });
  return { storage, calls };
}

function refusal(status: number, code: string): Response {
  return new Response(null, { status, headers: { "x-ms-error-code": code } });
}

function listing(...names: string[]): Response {
  const blobs = names.map(
    (name) => `<Blob><Name>${name}</Name><Properties><Content-Length>1</Content-Length></Properties></Blob>`,
  );
  return new Response(`<EnumerationResults><Blobs>${blobs.join("")}</Blobs><NextMarker/></EnumerationResults>`);
}

describe("createAzureStorage", () => {
  it.each<[string, object]>([
    ["account", { account: "Account" }],
    ["container", { container: "a--b" }],
    ["key", { key: "no base64!" }],
    ["key", { key: "" }],
    ["endpoint", { endpoint: "ftp://store.test" }],
    ["endpoint", { endpoint: "https://user:secret@store.test" }],
    ["endpoint", { endpoint: "https://store.test/?sig=a" }],
    ["prefix", { prefix: "a//b" }],
    ["blockBytes", { blockBytes: 1000 }],
    ["parallelBlocks", { parallelBlocks: 0 }],
    ["maxHeldBytes", { maxHeldBytes: 1 }],
    ["retries", { retries: -1 }],
    ["idleTimeoutSeconds", { idleTimeoutSeconds: Number.NaN }],
    ["fetch", { fetch: "fetch" }],
  ])("throws an error that names a wrong %s: %j", (name, wrong) => {
    const options = { ...OPTIONS, ...wrong } as AzureStorageOptions;
    expect(() => createAzureStorage(options)).toThrow(new RegExp(`^The option ${name} must be `));
  });

  it.each<[string, Partial<AzureStorageOptions>, string]>([
    ["Azure", {}, "https://account.blob.core.windows.net/files/a%20b/%E2%98%83"],
    [
      "an endpoint with a path",
      { endpoint: "http://store.test/account/" },
      "http://store.test/account/files/a%20b/%E2%98%83",
    ],
    [
      "a prefix",
      { prefix: "/x y./z/" },
      "https://account.blob.core.windows.net/files/x%20y%EF%BC%8E/z/a%20b/%E2%98%83",
    ],
  ])("asks %s", async (_, options, url) => {
    const { storage, calls } = createFake(
      (call) => (call.method === "HEAD" ? refusal(404, "BlobNotFound") : listing()),
      options,
    );
    expect(await storage.stat("/a b/☃")).toBeUndefined();
    expect(calls.map((call) => call.url)).toContain(url);
  });

  it("signs requests by the account's key, and sends it never", async () => {
    const { storage, calls } = createFake(() => listing("a"), { clock: () => 0 });
    await storage.check();
    const [{ url = "", headers = {} } = {}] = calls;
    const text = [
      ..."GET,,,,,,,,,,,".split(","),
      "x-ms-date:Thu, 01 Jan 1970 00:00:00 GMT",
      "x-ms-version:2021-12-02",
      "/account/files",
      "comp:list",
      "maxresults:1",
      "restype:container",
    ].join("\n");
    const signature = createHmac("sha256", "the key of an account").update(text).digest("base64");
    expect(headers["authorization"]).toBe(`SharedKey account:${signature}`);
    expect(url + JSON.stringify(headers)).not.toContain(KEY);
  });

  it("tries again what may pass, and says what does not without a key", async () => {
    const busy = createFake(() => refusal(503, "ServerBusy"));
    await expect(busy.storage.check()).rejects.toMatchObject({
      code: "unavailable",
      message: "The container files does not respond: GET container list: the store responded 503 ServerBusy",
    });
    expect(busy.calls).toHaveLength(3);
    for (const [status, code, expected] of [
      [403, "AuthenticationFailed", "unavailable"],
      [403, "AuthorizationPermissionMismatch", "denied"],
      [404, "ContainerNotFound", "unavailable"],
      [413, "RequestBodyTooLarge", "too-large"],
    ] as const) {
      const { storage, calls } = createFake(() => refusal(status, code));
      await expect(storage.stat("/a")).rejects.toMatchObject({ code: expected });
      expect(new Set(calls.map(({ url }) => url)).size).toBe(calls.length);
    }
  });

  it("refuses what is no listing, and one that never ends", async () => {
    const text = "<EnumerationResults><Blobs/><NextMarker>same</NextMarker></EnumerationResults>";
    for (const answer of ["", "<a/>", text]) {
      const { storage, calls } = createFake(() => new Response(answer));
      await expect(storage.list("/")[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "unavailable" });
      expect(calls.length).toBeLessThan(4);
    }
  });

  it.each(["d/../other", "d/."])("asks for no blob whose dots lead a URL elsewhere: %s", async (dotted) => {
    const { storage, calls } = createFake(({ method }) =>
      method === "GET" ? listing(dotted) : refusal(404, "BlobNotFound"),
    );
    await expect(storage.remove("/d")).rejects.toMatchObject({ code: "denied" });
    expect(calls.map(({ method }) => method)).not.toContain("DELETE");
  });

  it("takes a lost response of a write for what it is, by the mark of the blob", async () => {
    let mark: string | undefined;
    let puts = 0;
    const etag = '"0x1"';
    const { storage } = createFake(({ method, headers, url }) => {
      if (method === "GET") return listing();
      if (url.includes(".fileferry-properties")) return refusal(404, "BlobNotFound");
      if (method === "HEAD" && mark === undefined) return refusal(404, "BlobNotFound");
      const found = { etag, "content-length": "4", "last-modified": "Thu, 01 Jan 1970 00:00:00 GMT" };
      if (method === "HEAD")
        return new Response(null, { headers: { ...found, "x-ms-meta-fileferry_write": mark ?? "" } });
      puts += 1;
      if (puts > 1) return refusal(409, "BlobAlreadyExists");
      mark = headers["x-ms-meta-fileferry_write"];
      throw new TypeError("lost");
    });
    expect(await put(storage, "/file", "text", { ifNoneMatch: "*" })).toMatchObject({ name: "file", size: 4, etag });
    expect(puts).toBe(2);
  });

  it.each([
    ["by one request", 4],
    ["by a list of blocks", 1_200_000],
  ])("keeps a file that the store makes as the signal aborts: %s", async (_way, size) => {
    const client = new AbortController();
    const { storage } = createFake(
      ({ method, url }) => {
        if (method === "GET") return listing();
        if (method === "HEAD") return refusal(404, "BlobNotFound");
        if (!url.includes("comp=block&")) client.abort(new Error("gone"));
        return new Response(null, { status: 201, headers: { etag: '"0x1"' } });
      },
      { blockBytes: 1_048_576 },
    );
    const entry = await put(storage, "/file", "x".repeat(size), { signal: client.signal });
    expect([client.signal.aborted, entry.size, entry.etag]).toEqual([true, size, '"0x1"']);
  });

  it("makes URLs for the content as it is stored", async () => {
    const own = { etag: '"1"', "content-length": "4", "content-encoding": "gzip" };
    const { storage } = createFake(() => new Response(null, { headers: own }));
    const request = { seconds: 60, contentType: "text/plain", contentDisposition: "attachment" };
    const url = await storage.presignRead("/file", request);
    expect(new URL(url ?? "").searchParams.get("rsce")).toBe("identity");
  });

  it("has removed a file also if its properties cannot be removed", async () => {
    const { storage, calls } = createFake(({ method, url }) => {
      if (method === "DELETE" && url.includes(".fileferry-properties")) return refusal(503, "ServerBusy");
      return new Response(null, { status: method === "DELETE" ? 202 : 200, headers: { "content-length": "1" } });
    });
    await storage.remove("/file");
    expect(calls.filter(({ method }) => method === "DELETE").at(-1)?.url).toContain(".fileferry-properties/file");
  });

  it("reads bytes as they are stored, also with a content encoding", async () => {
    const { storage, calls } = createFake(({ url }) => {
      const isPlain = url.includes("rsce=identity");
      const headers = { "content-length": "4", ...(isPlain ? {} : { "content-encoding": "gzip" }) };
      return new Response(isPlain ? "zip!" : "unzipped", { headers });
    });
    expect(await readFileText(storage, "/file.gz")).toBe("zip!");
    expect(calls[1]?.headers["authorization"]).toBeUndefined();
  });
});

describe("createAzureCopier", () => {
  const contentHeaders = {
    "content-type": "text/css",
    "content-encoding": "gzip",
    "content-language": "de",
    "content-disposition": "inline",
    "cache-control": "max-age=60",
  };

  it.each([
    ["all of its headers", contentHeaders],
    ["none that it does not have", {}],
  ])("gives the copy of a blob that it reads %s", async (_, own) => {
    const found = { etag: '"1"', "content-length": "4", "x-ms-meta-mine": "kept", ...own };
    const puts: Call[] = [];
    const settings = toAzureSettings({
      ...OPTIONS,
      async fetch(url, { method = "GET", headers }) {
        const isSource = new URL(url).pathname.endsWith("/source");
        if (method === "PUT") puts.push({ url, method, headers: Object.fromEntries(new Headers(headers)) });
        if (method === "PUT") return new Response(null, { status: 201, headers: { etag: '"2"' } });
        if (!isSource) return refusal(404, "BlobNotFound");
        return new Response(method === "HEAD" ? null : "text", { headers: found });
      },
    });
    const client = createAzureClient(settings);
    const copier = createAzureCopier(client, createAzureWriter(client), { maxBytes: 1 });
    await copier.copyObject("source", "copy", { isNew: true, permits: createPermits(1) });
    const [{ headers = {} } = {}] = puts;
    expect(headers["x-ms-meta-mine"]).toBe("kept");
    const sent = Object.entries(headers).filter(([name]) => /^x-ms-blob-(?!type)/.test(name));
    expect(Object.fromEntries(sent)).toEqual(
      Object.fromEntries(Object.entries(own).map(([name, value]) => [`x-ms-blob-${name}`, value])),
    );
  });

  it("copies in the store what has a URL of up to 2,048 characters, and reads what has a longer one", async () => {
    const sources: number[] = [];
    const { storage, calls } = createFake(({ url, method, headers }) => {
      const source = headers["x-ms-copy-source"];
      if (source !== undefined) sources.push(source.length);
      if ((source?.length ?? 0) > 2048) return refusal(400, "OutOfRangeInput");
      if (url.includes("comp=list")) return listing();
      if (method === "PUT") return new Response(null, { status: 201, headers: { etag: '"2"' } });
      if (!url.endsWith("/file") || url.includes(".fileferry-properties")) return refusal(404, "BlobNotFound");
      return new Response(method === "HEAD" ? null : "text", { headers: { etag: '"1"', "content-length": "4" } });
    });
    const folder = "ж".repeat(100);
    await storage.copy(`/${folder}/file`, "/short");
    await storage.copy(`/${folder}/${folder}/${folder}/${folder}/file`, "/long");
    expect(sources).toEqual([expect.any(Number)]);
    const puts = calls.filter(({ method }) => method === "PUT").map(({ url }) => url.replace(/.*\//, ""));
    expect(puts).toEqual(["short", "long"]);
  });

  it("says why the store cannot read a source, and takes that for no change", async () => {
    let copies = 0;
    const { storage } = createFake(({ url, method, headers }) => {
      if (headers["x-ms-copy-source"] !== undefined) copies += 1;
      if (headers["x-ms-copy-source"] !== undefined) return refusal(403, "CannotVerifyCopySource");
      if (url.includes("comp=list")) return listing();
      if (method !== "HEAD" || !url.endsWith("/file")) return refusal(404, "BlobNotFound");
      return new Response(null, { headers: { etag: '"1"', "content-length": "4" } });
    });
    await expect(storage.copy("/file", "/copy")).rejects.toMatchObject({
      code: "unavailable",
      message: "copy to copy: the store responded 403 CannotVerifyCopySource",
    });
    expect(copies).toBe(1);
  });
});

describe("toSignedText", () => {
  it("is what the documentation of Azure shows", () => {
    const text = toSignedText("myaccount", {
      method: "GET",
      url: new URL("https://myaccount.blob.core.windows.net/mycontainer?restype=container&comp=metadata&timeout=20"),
      headers: { "x-ms-version": "2015-02-21", "x-ms-date": "Fri, 26 Jun 2015 23:39:12 GMT" },
      contentLength: 0,
    });
    expect(text).toBe(
      "GET\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:Fri, 26 Jun 2015 23:39:12 GMT\nx-ms-version:2015-02-21\n/myaccount/mycontainer\ncomp:metadata\nrestype:container\ntimeout:20",
    );
  });

  it("puts each header into its line", () => {
    const text = toSignedText("a", {
      method: "PUT",
      url: new URL("http://127.0.0.1:1/a/b/%20c"),
      headers: {
        "x-ms-b": "2",
        "x-ms-a-b": "1",
        "x-ms-a": "0",
        "if-match": '"t"',
        "content-type": "x/y",
        range: "bytes=0-1",
      },
      contentLength: 7,
    });
    expect(text).toBe('PUT\n\n\n7\n\nx/y\n\n\n"t"\n\n\nbytes=0-1\nx-ms-a:0\nx-ms-a-b:1\nx-ms-b:2\n/a/a/b/%20c');
  });

  it("has the headers in the order of the store: _ before digits, and no hyphens", () => {
    const names = ["x-ms-meta-file2", "x-ms-meta-i", "x-ms-meta-file_name", "x-ms-meta-i0", "x-ms-meta-i_"];
    const text = toSignedText("a", {
      method: "GET",
      url: new URL("http://127.0.0.1:1/?i0=&i_="),
      headers: Object.fromEntries([...names, "x-ms-metab"].map((name) => [name, ""])),
      contentLength: 0,
    });
    const lines = text.split("\n").slice(12);
    expect(lines.map((line) => line.replace(/:$/, ""))).toEqual([
      "x-ms-metab",
      ...["file_name", "file2", "i", "i_", "i0"].map((name) => `x-ms-meta-${name}`),
      "/a/",
      "i0",
      "i_",
    ]);
  });
});

describe("toBlobName", () => {
  it.each([
    ["plain.txt", "plain.txt"],
    ["a\\b", "a＼b"],
    ["end.", "end．"],
    ["...", "..．"],
    ["a\u0001b\u007f", "a␁b␡"],
    ["\uffff", "\u201bffff"],
  ])("writes %j as %j", (name, stored) => {
    expect(toBlobName(name)).toBe(stored);
    expect(fromBlobName(stored)).toBe(name);
  });

  it("gives each name a name of its own, that leads back", () => {
    const signs = [
      "a",
      ".",
      "\\",
      "\u201b",
      "\uff3c",
      "\uff0e",
      "␁",
      "␡",
      "\u0001",
      "\u007f",
      "\uffff",
      "\ufffe",
      "f",
      "e",
    ];
    const names = signs.flatMap((one) => signs.flatMap((two) => signs.map((three) => one + two + three)));
    const stored = names.map(toBlobName);
    expect(new Set(stored).size).toBe(names.length);
    expect(stored.map(fromBlobName)).toEqual(names);
    const isChanged = (name: string) => /[\\\ufffe\uffff]|\.$/.test(name) || [...name].some((sign) => sign < " ");
    expect(stored.filter(isChanged)).toEqual([]);
  });
});
