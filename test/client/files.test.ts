import { describe, expect, it } from "vitest";
import { brokenBody, streamOf } from "../support/bodies.ts";
import { collect, failureOf, openClient } from "./setup.ts";

const HOSTILE = ["100 %", "a#b", "a?b=c", " blank ", "grün ☃ 😀", "a&b+c;d", "%2e%2e", '"}],{"', "`$x`", "..."];
type Stream = ReadableStream<Uint8Array<ArrayBuffer>>;

describe("files by the client", () => {
  it.each(HOSTILE)("have the name %j in every request", async (name) => {
    const { client, stored } = await openClient();
    await client.createFolder(`/${name}`);
    await client.put(`/${name}/${name}`, "hello");
    expect(await stored(`/alice/${name}/${name}`)).toBe("hello");
    expect(await (await client.get(`/${name}/${name}`)).text()).toBe("hello");
    expect(await client.stat(`/${name}/${name}`)).toMatchObject({ name, is_directory: false, size: 5 });
    expect(await collect(client.list(`/${name}`))).toMatchObject([{ name, is_directory: false, size: 5 }]);
    await client.remove(`/${name}/${name}`);
    expect(await collect(client.list(`/${name}`))).toEqual([]);
    await client.remove(`/${name}`);
    expect(await collect(client.list("/"))).toEqual([]);
  });

  it.each(["", "a", "a/b", "//", "/a//b", "/a/", "/.", "/a/../b", "/./a"])("have no path %j", async (path) => {
    const { client } = await openClient();
    const isNone = expect.objectContaining({
      name: "TypeError",
      message: expect.stringContaining("Not an absolute path"),
    });
    await expect(client.get(path)).rejects.toEqual(isNone);
    await expect(client.put(path, "x")).rejects.toEqual(isNone);
    await expect(client.archive(path)).rejects.toEqual(isNone);
    await expect(collect(client.list(path))).rejects.toEqual(isNone);
  });

  it.each([
    ["text", () => "grün", "grün"],
    ["bytes", () => new TextEncoder().encode("xgrün").subarray(1), "grün"],
    ["a buffer", () => new TextEncoder().encode("grün").buffer, "grün"],
    ["a blob", () => new Blob(["<p>"], { type: "text/html" }), "<p>"],
    ["a stream", () => streamOf("gr", "ün") as Stream, "grün"],
    ["an empty text", () => "", ""],
    ["an empty blob", () => new Blob([]), ""],
    ["an empty stream", () => streamOf() as Stream, ""],
  ])("are uploaded from %s, with and without progress", async (_what, content, expected) => {
    const { client, stored } = await openClient();
    const { etag, modified } = await client.put("/a", content());
    expect(await stored("/alice/a")).toBe(expected);
    expect(await client.stat("/a")).toMatchObject({ etag, modified, size: Buffer.byteLength(expected) });
    const calls: (readonly [number, number | undefined])[] = [];
    await client.put("/b", content(), { onProgress: (sent, total) => calls.push([sent, total]) });
    expect(await stored("/alice/b")).toBe(expected);
    const total = Buffer.byteLength(expected);
    expect(calls.at(-1)).toEqual([total, total]);
  });

  it("tell the progress of an upload in steps up to its total", async () => {
    const { client } = await openClient();
    const calls: (readonly [number, number | undefined])[] = [];
    const content = new Uint8Array(3_000_000);
    await client.put("/a", content, { onProgress: (sent, total) => calls.push([sent, total]) });
    expect(calls.length).toBeGreaterThan(5);
    expect(calls.map(([sent]) => sent)).toEqual(calls.map(([sent]) => sent).toSorted((a, b) => a - b));
    expect(new Set(calls.map(([, total]) => total))).toEqual(new Set([content.byteLength]));
    expect(calls.at(-1)?.[0]).toBe(content.byteLength);
  });

  it("tell no total of a stream before its end", async () => {
    const { client } = await openClient();
    const calls: (readonly [number, number | undefined])[] = [];
    const onProgress = (sent: number, total: number | undefined) => calls.push([sent, total]);
    await client.put("/a", streamOf("abc", "de") as Stream, { onProgress });
    expect(calls).toEqual([
      [3, undefined],
      [5, undefined],
      [5, 5],
    ]);
  });

  it.each([undefined, () => undefined])("stay as they are when an upload is aborted", async (onProgress) => {
    const { client, stored } = await openClient();
    await client.put("/a", "old");
    const aborting = new AbortController();
    let cancelled: unknown;
    let parts = 0;
    const content: Stream = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        controller.enqueue(new Uint8Array(65_536));
        if (++parts === 10) aborting.abort();
      },
      cancel: (reason) => {
        cancelled = reason;
      },
    });
    const upload = client.put("/a", content, { signal: aborting.signal, onProgress });
    await expect(upload).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => cancelled).toBeDefined();
    expect(await stored("/alice/a")).toBe("old");
  });

  it("stay as they are when the stream of an upload breaks, and the error has the cause", async () => {
    const { client, stored } = await openClient();
    await client.put("/a", "old");
    const error = await failureOf(client.put("/a", brokenBody("new") as Stream));
    expect(error).toMatchObject({ status: undefined, code: undefined, cause: expect.any(Error) });
    expect(await stored("/alice/a")).toBe("old");
  });

  it("are uploaded only under the conditions of the caller", async () => {
    const { client, stored } = await openClient();
    const { etag } = await client.put("/a", "1", { ifNoneMatch: "*" });
    const exists = await failureOf(client.put("/a", "2", { ifNoneMatch: "*" }));
    expect(exists).toMatchObject({ status: 412, code: "precondition-failed" });
    expect(exists.message).toBe("A precondition of the request failed.");
    await client.put("/a", "3", { ifMatch: etag });
    expect(await failureOf(client.put("/a", "4", { ifMatch: etag }))).toMatchObject({ status: 412 });
    expect(await failureOf(client.remove("/a", { ifMatch: etag }))).toMatchObject({ status: 412 });
    expect(await stored("/alice/a")).toBe("3");
  });

  it("are downloaded as ranges, and not again if they are the same", async () => {
    const { client } = await openClient({ files: { "/alice/a": "0123456789" } });
    const { etag = "" } = await client.stat("/a");
    const part = await client.get("/a", { range: { start: 2, end: 4 }, ifRange: etag });
    expect([part.status, await part.text()]).toEqual([206, "234"]);
    expect(await (await client.get("/a", { range: { start: 7 } })).text()).toBe("789");
    expect((await client.get("/a", { ifNoneMatch: etag })).status).toBe(304);
    expect(await failureOf(client.get("/a", { ifMatch: '"other"' }))).toMatchObject({ status: 412 });
    const beyond = await failureOf(client.get("/a", { range: { start: 10 } }));
    expect(beyond).toMatchObject({ status: 416, code: "range-not-satisfiable" });
  });

  it("are told from folders", async () => {
    const { client } = await openClient({ files: { "/alice/folder/a": "x" } });
    const folder = { name: "folder", is_directory: true, size: 0, modified: null, etag: undefined };
    expect(await client.stat("/folder")).toEqual(folder);
    expect(await client.stat("/")).toEqual({ ...folder, name: "" });
    expect(await failureOf(client.get("/folder"))).toMatchObject({ code: "not-a-file" });
    expect(await failureOf(client.get("/"))).toMatchObject({ code: "not-a-file" });
    await client.remove("/folder");
    expect(await failureOf(client.stat("/folder"))).toMatchObject({ status: 404, code: "not-found" });
  });

  it("have metadata in the configured header", async () => {
    const events: unknown[] = [];
    const onEvent = (event: { readonly data: unknown }) => events.push(event.data);
    const { client, connect } = await openClient({ metadataFields: "X-Labels", onEvent });
    const metadata = { project: ["a", "b, c"], note: ' "grün" = ☃ ' };
    await connect({ metadataHeader: "X-Labels" }).put("/a", "x", { metadata });
    const expected = { project: ["a", "b, c"], note: [' "grün" = ☃ '] };
    expect(events).toContainEqual(expect.objectContaining({ total_write: 1, metadata: expected }));
    await expect(client.put("/a", "x", { metadata })).rejects.toThrow(TypeError);
  });
});
