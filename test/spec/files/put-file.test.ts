import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { brokenBody, recordedBody, streamOf } from "../../support/bodies.ts";
import { type CallOptions, createTestService, variants } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

describe("PUT /home/<path>", () => {
  it("creates the file and answers 201 (4.2)", async () => {
    const { call, stored } = await createTestService();
    for (const variant of ["json", "webdav"] as const) {
      const answer = await call("PUT", `/home/${variant}.txt`, { variant, body: "content" });
      expect(answer.status).toBe(201);
      expect(answer.header("server-path")).toBe(`/${variant}.txt`);
      expect(await stored(`/alice/${variant}.txt`)).toBe("content");
    }
  });

  it("overwrites the file and answers 201 (4.2, CONTRACT 4.2)", async () => {
    const { call, stored } = await createTestService({ files: { "/alice/a.txt": "a longer former content" } });
    expect((await call("PUT", "/home/a.txt", { body: "new" })).status).toBe(201);
    expect(await stored("/alice/a.txt")).toBe("new");
  });

  it("answers the validators that GET gives then (CONTRACT 4.2)", async () => {
    const { call } = await createTestService();
    const put = await call("PUT", "/home/a.txt", { body: "x" });
    const get = await call("GET", "/home/a.txt");
    expect(put.header("etag")).toMatch(/^"/);
    expect(put.header("etag")).toBe(get.header("etag"));
    expect(put.header("last-modified")).toBe(get.header("last-modified"));
  });

  it("stores every byte as it is, in however many chunks it comes (4.2)", async () => {
    const { call, storage } = await createTestService();
    const content = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 13) % 256);
    let offset = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (offset >= content.length) return controller.close();
        controller.enqueue(content.slice(offset, offset + 7919));
        offset += 7919;
      },
    });
    expect((await call("PUT", "/home/a.bin", { body })).status).toBe(201);
    const stored = await new Response((await storage.read("/alice/a.bin")).body).arrayBuffer();
    expect(new Uint8Array(stored)).toEqual(content);
  });

  it("stores an empty file, with an empty body or none (4.2)", async () => {
    const { call, stored } = await createTestService();
    expect((await call("PUT", "/home/a", { body: "" })).status).toBe(201);
    expect((await call("PUT", "/home/b", { headers: { "content-length": "0" } })).status).toBe(201);
    expect((await call("PUT", "/home/c")).status).toBe(201);
    expect([await stored("/alice/a"), await stored("/alice/b"), await stored("/alice/c")]).toEqual(["", "", ""]);
  });

  it("takes the content for what it is, whatever its type says (4.2)", async () => {
    const { call, stored } = await createTestService();
    const types = [
      "application/json",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "text/plain",
    ];
    for (const type of types) {
      const answer = await call("PUT", "/home/a", { body: "--x {", headers: { "content-type": type } });
      expect(answer.status).toBe(201);
      expect(await stored("/alice/a")).toBe("--x {");
    }
  });

  it("takes a content without announced length (4.2)", async () => {
    const { call, stored } = await createTestService();
    expect((await call("PUT", "/home/a", { body: streamOf("one ", "two") })).status).toBe(201);
    expect(await stored("/alice/a")).toBe("one two");
  });

  it("stores in a sub-folder (4.2)", async () => {
    const { call, stored } = await createTestService({ files: { "/alice/f/g/": "" } });
    expect((await call("PUT", "/home/f/g/a", { body: "x" })).status).toBe(201);
    expect(await stored("/alice/f/g/a")).toBe("x");
  });

  it("ignores the query (1.3)", async () => {
    const { call, stored } = await createTestService();
    expect((await call("PUT", "/home/a?x=/../b", { body: "x", undescribed: "it is ignored" })).status).toBe(201);
    expect(await stored("/alice/a")).toBe("x");
  });

  it("fails without its parent folder, by the status of the variant (CONTRACT 1)", async () => {
    const { call, storage } = await createTestService();
    const statuses = [];
    for (const variant of variants) statuses.push((await call("PUT", "/home/no/a", { variant, body: "x" })).status);
    expect(statuses).toEqual([422, 409, 400]);
    expect(await storage.stat("/alice/no")).toBeUndefined();
  });

  it("fails onto an existing folder, which stays (CONTRACT 2.5)", async () => {
    const { call, stored } = await createTestService({ files: { "/alice/f/a": "x" } });
    const statuses = [];
    for (const variant of variants) statuses.push((await call("PUT", "/home/f", { variant, body: "x" })).status);
    expect(statuses).toEqual([422, 409, 400]);
    expect(await stored("/alice/f/a")).toBe("x");
  });

  it.each(["bytes 0-1/2", "bytes 0-2/3", "bytes */3", "nonsense", ""])(
    "answers 400 to Content-Range %j and keeps the former content (SECURITY 8)",
    async (range) => {
      const { call, stored } = await createTestService({ files: { "/alice/a": "former" } });
      const answer = await call("PUT", "/home/a", { body: "new", headers: { "content-range": range } });
      expect(answer.status).toBe(400);
      expect(await stored("/alice/a")).toBe("former");
    },
  );

  it("refuses a name that is too long by 400 (SECURITY 3)", async () => {
    const { call } = await createTestService();
    expect((await call("PUT", `/home/${"a".repeat(255)}`, { body: "x" })).status).toBe(201);
    expect((await call("PUT", `/home/${"a".repeat(256)}`, { body: "x" })).status).toBe(400);
    expect((await call("PUT", `/home/${"%C3%A9".repeat(128)}`, { body: "x" })).status).toBe(400);
  });

  it("never compresses or decodes: coded content is refused or kept as it is (RFC 9110 8.4)", async () => {
    const { call, stored } = await createTestService();
    const answer = await call("PUT", "/home/a", { body: "x", headers: { "content-encoding": "gzip" } });
    expect([201, 415]).toContain(answer.status);
    expect(await stored("/alice/a")).toBe(answer.status === 201 ? "x" : undefined);
    expect((await call("PUT", "/home/a", { body: "x", headers: { "content-encoding": "identity" } })).status).toBe(201);
  });
});

describe("an upload that is not whole", () => {
  const failing: readonly (readonly [what: string, options: () => CallOptions])[] = [
    ["is shorter than announced", () => ({ body: streamOf("short"), headers: { "content-length": "10" } })],
    ["is longer than announced", () => ({ body: streamOf("much too", " long"), headers: { "content-length": "3" } })],
    ["has no content though one was announced", () => ({ body: streamOf(), headers: { "content-length": "3" } })],
    ["breaks off midway", () => ({ body: brokenBody("some", " content") })],
    ["breaks off at once", () => ({ body: brokenBody() })],
    ["breaks off midway with a length", () => ({ body: brokenBody("some"), headers: { "content-length": "8" } })],
    ["breaks off at its end", () => ({ body: brokenBody("all 8 by"), headers: { "content-length": "8" } })],
  ];

  it.each(failing)("because it %s leaves the former content (CONTRACT 4.1)", async (_what, options) => {
    const { call, stored } = await createTestService({ files: { "/alice/a": "former" } });
    const before = (await call("GET", "/home/a")).header("etag");
    expect((await call("PUT", "/home/a", { variant: "json", ...options() })).status).toBe(400);
    expect(await stored("/alice/a")).toBe("former");
    expect((await call("GET", "/home/a")).header("etag")).toBe(before);
  });

  it.each(failing)("because it %s leaves no file where none was (CONTRACT 4.1)", async (_what, options) => {
    const { call } = await createTestService();
    expect((await call("PUT", "/home/a", { variant: "json", ...options() })).status).toBe(400);
    expect((await call("GET", "/home/", { variant: "json" })).json()).toEqual({ content: [] });
  });

  it.each(["-1", "+3", "3.0", "3e0", "0x3", "3, 3", "three", "٣", "3;", "1".repeat(16)])(
    "because its length is %j leaves the former content, with a body or without (CONTRACT 4.1)",
    async (length) => {
      const { call, stored } = await createTestService({ files: { "/alice/a": "former" } });
      const headers = { "content-length": length };
      for (const body of [streamOf("new"), undefined]) {
        expect((await call("PUT", "/home/a", { headers, body })).status).toBe(400);
      }
      expect(await stored("/alice/a")).toBe("former");
    },
  );

  it("because it is not made of bytes is stored by no storage (CONTRACT 4.1)", async () => {
    const { storage, stored } = await createTestService({ files: { "/alice/a": "former" } });
    const texts = (async function* () {
      yield "a text" as unknown as Uint8Array;
    })();
    await expect(storage.write("/alice/a", texts, { size: 3 })).rejects.toThrow(TypeError);
    expect(await stored("/alice/a")).toBe("former");
  });

  it("because its request is aborted leaves the former content, and is no failure of ours (CONTRACT 4.1)", async () => {
    const { call, stored, log } = await createTestService({ files: { "/alice/a": "former" } });
    const controller = new AbortController();
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(stream) {
          pulls++;
          if (pulls === 3) return controller.abort();
          stream.enqueue(new Uint8Array(10));
        },
      },
      { highWaterMark: 0 },
    );
    const answer = await call("PUT", "/home/a", { body, signal: controller.signal });
    expect(answer.status).toBe(400);
    expect(await stored("/alice/a")).toBe("former");
    expect(log.entries).toEqual([]);
  });

  it("is not seen until it is whole (CONTRACT 4.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/a": "former" } });
    const seen: string[] = [];
    let left = 3;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          seen.push((await call("GET", "/home/a")).text, String((await call("GET", "/home/b")).status));
          if (left-- === 0) controller.close();
          else controller.enqueue(new TextEncoder().encode("new "));
        },
      },
      { highWaterMark: 0 },
    );
    expect((await call("PUT", "/home/a", { body })).status).toBe(201);
    expect(new Set(seen)).toEqual(new Set(["former", "404"]));
    expect((await call("GET", "/home/a")).text).toBe("new new new ");
  });

  it("and another one at the same time leave one of them whole (CONTRACT 4.1)", async () => {
    const { call, stored } = await createTestService();
    const contents = ["a".repeat(50_000), "b".repeat(40_000), "c".repeat(30_000)];
    const statuses = await Promise.all(contents.map(async (body) => (await call("PUT", "/home/a", { body })).status));
    expect(statuses).toEqual([201, 201, 201]);
    expect(contents).toContain(await stored("/alice/a"));
  });
});

describe("a refused request's body", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const huge = { "content-length": String(2 ** 40) };

  it.each<readonly [what: string, method: string, path: string, options: CallOptions, status: number]>([
    ["without credentials", "PUT", "/home/a", { as: null }, 401],
    ["with wrong credentials", "PUT", "/home/a", { headers: { authorization: "Basic YWxpY2U6eA==" } }, 401],
    ["of another site", "PUT", "/home/a", { headers: { origin: "https://evil.example" } }, 403],
    ["for a reserved name", "PUT", "/home/__svc__/a", {}, 403],
    ["for a malformed path", "PUT", "/home/a%2fb", {}, 400],
    ["for a part of a file", "PUT", "/home/a", { headers: { "content-range": "bytes 0-1/2" } }, 400],
    ["with a malformed length", "PUT", "/home/a", { headers: { "content-length": "-1" } }, 400],
    ["with a malformed condition", "PUT", "/home/a", { headers: { "if-match": "x" } }, 400],
    ["with If-None-Match", "PUT", "/home/a", { headers: { "if-none-match": "*" } }, 412],
    ["with If-Match", "PUT", "/home/a", { headers: { "if-match": '"x"' } }, 412],
    ["without its parent", "PUT", "/home/no/a", {}, 422],
    ["onto a folder", "PUT", "/home/f", {}, 422],
    ["below a file", "PUT", "/home/a/b", {}, 422],
    ["of a name that is too long", "PUT", `/home/${"a".repeat(256)}`, {}, 400],
    ["for a folder that is there", "PUT", "/home/f/", { headers: { "content-length": "5" } }, 415],
    ["of MKCOL", "MKCOL", "/home/new/", { headers: { "content-length": "5" } }, 415],
    ["posted to a file", "POST", "/home/a", {}, 405],
    ["of a method that is not allowed", "PUT", "/__svc__/login", {}, 405],
    ["of a method that is not implemented", "PROPFIND", "/home/f/", {}, 501],
    ["of commands without credentials", "POST", "/home/f/", { as: null }, 401],
    ["of commands of another type", "POST", "/home/f/", { headers: { "content-type": "text/plain" } }, 415],
    ["of commands over 1 MiB", "POST", "/home/f/", { headers: { "content-type": "application/json", ...huge } }, 413],
    ["of a login over 1 MiB", "POST", "/__svc__/login", { as: null, headers: { ...form, ...huge } }, 413],
    [
      "of a login of another site",
      "POST",
      "/__svc__/login",
      { headers: { ...form, origin: "https://evil.example" } },
      403,
    ],
    ["of a login of another type", "POST", "/__svc__/login", { headers: { "content-type": "text/plain" } }, 415],
    ["outside of the service", "PUT", "/elsewhere", {}, 404],
  ])("is not read: %s (CONTRACT 4.3)", async (_what, method, path, options, status) => {
    const { call } = await createTestService({ files: { "/alice/a": "x", "/alice/f/": "" } });
    const body = recordedBody("never", " to be ", "read");
    const answer = await call(method, path, { variant: "json", body: body.stream, ...options });
    expect(answer.status).toBe(status);
    expect(body.pulls()).toBe(0);
  });

  it("is read no further than to its limit (SECURITY 12)", async () => {
    const { call } = await createTestService();
    const chunk = "x".repeat(64 * 1024);
    for (const [path, type] of [
      ["/__svc__/login", form["content-type"]],
      ["/home/", "application/json"],
    ] as const) {
      const body = recordedBody(...Array.from({ length: 1000 }, () => chunk));
      expect((await call("POST", path, { headers: { "content-type": type }, body: body.stream })).status).toBe(413);
      expect(body.pulls()).toBeLessThan(25);
    }
  });

  it("is read no further when the storage is full (CONTRACT 4.1)", async () => {
    const { StorageError } = await import("../../../src/contracts/storage-adapter.ts");
    const base = createMemoryStorage();
    const storage = overrideStorage(base, {
      async write(_path, content) {
        for await (const _ of content) throw new StorageError("no-space", "/dev/sda1 full");
        throw new StorageError("no-space");
      },
    });
    const { call } = await createTestService({ storage });
    const body = recordedBody(...Array.from({ length: 100 }, () => "x"));
    expect((await call("PUT", "/home/a", { body: body.stream })).status).toBe(507);
    expect(body.pulls()).toBeLessThan(5);
  });
});
