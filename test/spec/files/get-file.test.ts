import { describe, expect, it } from "vitest";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

describe("GET /home/<path>", () => {
  it("answers 200, the content and Server-Path (4.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/f/a.txt": "content" } });
    const answer = await call("GET", "/home/f/a.txt");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("content");
    expect(answer.header("server-path")).toBe("/f/a.txt");
  });

  it("answers every byte as it is (4.2)", async () => {
    const content = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 31) % 256);
    const { call } = await createTestService({ files: { "/alice/all.bin": content } });
    expect((await call("GET", "/home/all.bin")).bytes).toEqual(content);
  });

  it("answers an empty file (4.2)", async () => {
    const { call } = await createTestService({ files: { "/alice/empty": "" } });
    const answer = await call("GET", "/home/empty");
    expect([answer.status, answer.text, answer.header("content-length")]).toEqual([200, "", "0"]);
  });

  it("carries length, validators and Accept-Ranges (CONTRACT 3.1)", async () => {
    const modified = Date.UTC(2020, 1, 29, 12, 34, 56, 789);
    const storage = createMemoryStorage({ clock: () => modified });
    const { call } = await createTestService({ storage, files: { "/alice/a.txt": "content" } });
    const answer = await call("GET", "/home/a.txt");
    expect(answer.header("content-length")).toBe("7");
    expect(answer.header("last-modified")).toBe("Sat, 29 Feb 2020 12:34:56 GMT");
    expect(answer.header("etag")).toMatch(/^"[!#-~]*"$/);
    expect(answer.header("accept-ranges")).toBe("bytes");
  });

  it("changes the ETag with the content (CONTRACT 3.1)", async () => {
    const { call } = await createTestService({ files: { "/alice/a.txt": "one" } });
    const before = (await call("GET", "/home/a.txt")).header("etag");
    expect((await call("GET", "/home/a.txt")).header("etag")).toBe(before);
    await call("PUT", "/home/a.txt", { body: "two" });
    expect((await call("GET", "/home/a.txt")).header("etag")).not.toBe(before);
  });

  it("carries a weak ETag where the storage gives none (CONTRACT 3.1)", async () => {
    const base = createMemoryStorage();
    const withoutTag = <T extends { etag?: string }>({ etag: _, ...rest }: T) => rest;
    const storage = overrideStorage(base, {
      stat: async (path) => {
        const entry = await base.stat(path);
        return entry && withoutTag(entry);
      },
      read: async (path, range) => {
        const { entry, body } = await base.read(path, range);
        return { entry: withoutTag(entry), body };
      },
    });
    const { call } = await createTestService({ storage, files: { "/alice/a.txt": "one" } });
    const etag = (await call("GET", "/home/a.txt")).header("etag") ?? "";
    expect(etag).toMatch(/^W\/"[!#-~]*"$/);
    expect((await call("HEAD", "/home/a.txt")).header("etag")).toBe(etag);
    expect((await call("GET", "/home/a.txt", { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await call("GET", "/home/a.txt", { headers: { "if-match": etag } })).status).toBe(412);
    const ranged = await call("GET", "/home/a.txt", { headers: { range: "bytes=0-0", "if-range": etag } });
    expect(ranged.status).toBe(200);
  });

  it.each([
    ["a.txt", /^text\/plain(;|$)/],
    ["a.html", /^text\/html(;|$)/],
    ["a.HTML", /^text\/html(;|$)/],
    ["a.json", /^application\/json(;|$)/],
    ["a.pdf", /^application\/pdf$/],
    ["a.png", /^image\/png$/],
    ["a.svg", /^image\/svg\+xml(;|$)/],
    ["a.tar.gz", /^application\/gzip$/],
    ["a.csv", /^text\/csv(;|$)/],
    ["a.unknown-kind", /^application\/octet-stream$/],
    ["a", /^application\/octet-stream$/],
    ["a.", /^application\/octet-stream$/],
    [".constructor", /^application\/octet-stream$/],
    ["a.__proto__", /^application\/octet-stream$/],
  ])("says the type of %s by its extension (CONTRACT 3.1)", async (name, type) => {
    const { call } = await createTestService({ files: { [`/alice/${name}`]: "x" } });
    expect((await call("GET", `/home/${name}`)).header("content-type")).toMatch(type);
  });

  it("never lets a user's file run in the service's origin (CONTRACT 3.2, SECURITY 21)", async () => {
    const { call } = await createTestService({ files: { "/alice/evil.html": "<script>alert(1)</script>" } });
    for (const headers of [{}, { range: "bytes=0-3" }]) {
      const answer = await call("GET", "/home/evil.html", { variant: "html", headers });
      expect(answer.header("content-security-policy")).toBe("sandbox; default-src 'none'");
      expect(answer.header("x-content-type-options")).toBe("nosniff");
      expect(answer.header("content-disposition")).toMatch(/^attachment; /);
      expect(answer.header("cache-control")).toBe("private, no-cache");
    }
  });

  it.each([
    ["report.txt", 'filename="report.txt"'],
    ["my report.txt", 'filename="my report.txt"'],
    ["caf\u00e9.txt", undefined],
    ["\u20ac rates.csv", undefined],
    ["\u{1f600}.png", undefined],
    ['say "hi".txt', undefined],
    ["a;b=c.txt", 'filename="a;b=c.txt"'],
    ["100%.txt", undefined],
    ["%41.txt", undefined],
    ["it's (me)*.txt", 'filename="it\'s (me)*.txt"'],
    ["a, b.txt", 'filename="a, b.txt"'],
    ["\u202egnp.exe", undefined],
    [" lead and trail ", undefined],
    ["UTF-8''x", undefined],
    ["a?b#c&d.txt", undefined],
  ])("is saved under its name %j in both forms (CONTRACT 3.2, SECURITY 20)", async (name, plain) => {
    const { call } = await createTestService({ files: { [`/alice/${name}`]: "x" } });
    const answer = await call("GET", `/home/${encodeURIComponent(name)}`);
    const value = answer.header("content-disposition") ?? "";
    expect(value).toMatch(/^attachment; filename="[ -!#-[\]-~]*"; filename\*=UTF-8''(?:[\w!#$&+.^`|~-]|%[\dA-F]{2})*$/);
    expect(decodeURIComponent(/filename\*=UTF-8''(.*)$/.exec(value)?.[1] ?? "")).toBe(name);
    if (plain !== undefined) expect(value).toContain(plain);
  });

  it("stops reading the storage when the client goes away (SECURITY 11)", async () => {
    const base = createMemoryStorage();
    let isCancelled = false;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(1024)),
        cancel: () => {
          isCancelled = true;
        },
      });
    const storage = overrideStorage(base, {
      read: async (path) => ({ entry: (await base.read(path)).entry, body: body() }),
    });
    const { open } = await createTestService({ storage, files: { "/alice/a": "x" } });
    const reader = (await open("GET", "/home/a")).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    expect(isCancelled).toBe(true);
  });

  it("releases what HEAD does not send (SECURITY 11)", async () => {
    const base = createMemoryStorage();
    let opened = 0;
    const storage = overrideStorage(base, {
      async read(path, range) {
        opened++;
        const { entry, body } = await base.read(path, range);
        return {
          entry,
          body: body.pipeThrough(
            new TransformStream({
              flush: () => {
                opened--;
              },
            }),
          ),
        };
      },
    });
    const { call } = await createTestService({ storage, files: { "/alice/a": "x" } });
    expect((await call("HEAD", "/home/a")).status).toBe(200);
    expect(opened).toBe(0);
  });

  it("is read as text and as JSON by who calls the service directly, whatever the storage's chunks are", async () => {
    const content = '{"a":"é"}';
    const memory = createMemoryStorage();
    const storage = overrideStorage(memory, {
      read: async (path) => ({
        entry: (await memory.read(path)).entry,
        body: new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode(content));
            controller.close();
          },
        }),
      }),
    });
    const { open } = await createTestService({ storage, files: { "/alice/a": content } });
    expect(await (await open("GET", "/home/a")).text()).toBe(content);
    expect(await (await open("GET", "/home/a")).json()).toEqual({ a: "é" });
  });

  it("breaks off when the storage fails midway, instead of ending early (SECURITY 9)", async () => {
    const base = createMemoryStorage();
    let sent = false;
    const body = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (sent) throw new StorageError("unavailable", "disk on fire");
          sent = true;
          controller.enqueue(new Uint8Array(3));
        },
      });
    const storage = overrideStorage(base, {
      read: async (path) => ({ entry: (await base.read(path)).entry, body: body() }),
    });
    const { open } = await createTestService({ storage, files: { "/alice/a": "content" } });
    const response = await open("GET", "/home/a");
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
  });

  it("sends one version, also when the file is replaced in between (CONTRACT 4.1)", async () => {
    const base = createMemoryStorage();
    let isArmed = false;
    const storage = overrideStorage(base, {
      async stat(path) {
        const entry = await base.stat(path);
        if (isArmed && path.endsWith("/a")) {
          isArmed = false;
          await base.write(path, new Blob(["a much longer one"]).stream() as unknown as AsyncIterable<Uint8Array>);
        }
        return entry;
      },
    });
    const { call } = await createTestService({ storage, files: { "/alice/a": "short" } });
    isArmed = true;
    const answer = await call("GET", "/home/a", { headers: { range: "bytes=2-" } });
    const versions = [
      ["bytes 2-4/5", "ort"],
      ["bytes 2-16/17", "much longer one"],
    ];
    expect(answer.status).toBe(206);
    expect(versions).toContainEqual([answer.header("content-range"), answer.text]);
  });
});
