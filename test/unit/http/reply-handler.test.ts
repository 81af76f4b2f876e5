import { describe, expect, it, vi } from "vitest";
import { type ByteSource, sourceOfBytes } from "../../../src/contracts/byte-source.ts";
import type { RequestHandler } from "../../../src/contracts/file-service.ts";
import { emptyReply, type ReplyBody, sourceReply } from "../../../src/http/reply.ts";
import { createHandler, toReplyHandler } from "../../../src/http/reply-handler.ts";
import { streamOf } from "../../support/bodies.ts";

const url = "http://files.example/home/a";
const bytes = new TextEncoder().encode("bytes");

/** A source of the bytes that counts its closing. */
function createSource(): ByteSource & { readonly close: ReturnType<typeof vi.fn<() => Promise<void>>> } {
  return { ...sourceOfBytes(bytes), close: vi.fn(async () => undefined) };
}

describe("a handler that is made of replies", () => {
  it.each<[what: string, body: ReplyBody]>([
    ["text", "bytes"],
    ["bytes", bytes],
    ["a source", sourceOfBytes(bytes)],
    ["a stream", streamOf("by", "tes")],
  ])("returns the platform's own Response with %s", async (_what, body) => {
    const handle = createHandler(async () => ({ status: 201, headers: [["X-One", "1"]], body }));
    const response = await handle(new Request(url));
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.headers.get("x-one"), await response.text()]).toEqual([201, "1", "bytes"]);
  });

  it("keeps each cookie a field of its own", async () => {
    const headers = ["a=1", "b=2"].map((cookie) => ["Set-Cookie", cookie] as const);
    const response = await createHandler(async () => ({ status: 303, headers }))(new Request(url));
    expect([response.body, response.headers.getSetCookie()]).toEqual([null, ["a=1", "b=2"]]);
  });

  it("passes an empty connection if the caller has none", async () => {
    const reply = vi.fn(async () => emptyReply(204));
    const request = new Request(url);
    await createHandler(reply)(request);
    expect(reply).toHaveBeenCalledExactlyOnceWith(request, {});
  });

  it("closes the source when the response is cancelled, or the request is aborted before or after it", async () => {
    const cancelled = createSource();
    await (await createHandler(async () => sourceReply(200, cancelled, {}))(new Request(url))).body?.cancel();
    expect(cancelled.close).toHaveBeenCalledOnce();

    const [aborted, late] = [createSource(), createSource()];
    const client = new AbortController();
    const request = new Request(url, { signal: client.signal });
    await createHandler(async () => sourceReply(200, aborted, {}))(request);
    expect(aborted.close).not.toHaveBeenCalled();
    client.abort();
    expect(aborted.close).toHaveBeenCalledOnce();
    await createHandler(async () => sourceReply(200, late, {}))(request);
    expect(late.close).toHaveBeenCalledOnce();
  });

  it("ends no body like a complete one after the request is aborted", async () => {
    const client = new AbortController();
    let rest = 2;
    const source: ByteSource = {
      async readInto(buffer) {
        buffer.fill(1, 0, 1);
        rest -= 1;
        return rest < 0 ? 0 : 1;
      },
      async close() {
        rest = 0;
      },
    };
    const handle = createHandler(async () => sourceReply(200, source, {}));
    const reader = (await handle(new Request(url, { signal: client.signal }))).body?.getReader();
    expect((await reader?.read())?.value).toHaveLength(1);
    client.abort(new Error("gone"));
    await expect(reader?.read()).rejects.toThrow("gone");
  });

  it("does not close a source that was read to its end", async () => {
    const source = createSource();
    const client = new AbortController();
    const handle = createHandler(async () => sourceReply(200, source, {}));
    await (await handle(new Request(url, { signal: client.signal }))).text();
    client.abort();
    expect(source.close).not.toHaveBeenCalled();
  });

  it("returns a blank 500 for a header that cannot be sent, and closes the source", async () => {
    const source = createSource();
    const response = await createHandler(async () => sourceReply(200, source, { ETag: "a\nb" }))(new Request(url));
    expect([response.status, response.body, [...response.headers]]).toEqual([500, null, []]);
    expect(source.close).toHaveBeenCalledOnce();
  });
});

describe("toReplyHandler", () => {
  it("returns the function that a handler was made of", () => {
    const reply = async () => emptyReply(204);
    expect(toReplyHandler(createHandler(reply))).toBe(reply);
  });

  const refuse = async () => new Response(null, { status: 418 });
  it.each<[string, (handler: RequestHandler) => RequestHandler]>([
    [
      "a function",
      (handler) => async (request, connection) => ((await refuse()).ok ? handler(request, connection) : refuse()),
    ],
    ["a Proxy", (handler) => new Proxy(handler, { apply: refuse })],
    ["a copy of the handler's properties", (handler) => Object.assign(refuse, handler)],
    ["an object that inherits from the handler", (handler) => Object.setPrototypeOf(refuse, handler)],
  ])("never bypasses what a host puts around a handler: %s", async (_what, wrap) => {
    const wrapped = wrap(createHandler(async () => emptyReply(204)));
    expect((await toReplyHandler(wrapped)(new Request(url), {})).status).toBe(418);
  });

  it("converts the Response of any other handler", async () => {
    const given = new Response("bytes", {
      status: 201,
      headers: [
        ["Set-Cookie", "a=1"],
        ["Set-Cookie", "b=2"],
      ],
    });
    const { status, headers, body } = await toReplyHandler(async () => given)(new Request(url), {});
    expect([status, body]).toEqual([201, given.body]);
    expect(headers).toContainEqual(["set-cookie", "a=1"]);
    expect(headers).toContainEqual(["set-cookie", "b=2"]);
  });

  it("calls a method on its owner", async () => {
    const owner = {
      status: 202,
      async fetch() {
        return new Response(null, { status: this.status });
      },
    };
    expect((await toReplyHandler(owner.fetch, owner)(new Request(url), {})).status).toBe(202);
  });
});
