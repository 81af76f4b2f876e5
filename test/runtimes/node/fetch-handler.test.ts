import { describe, expect, it, vi } from "vitest";
import type { ByteSource } from "../../../src/contracts/byte-source.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import { type Reply, sourceReply } from "../../../src/http/reply.ts";
import { createHandler } from "../../../src/http/reply-handler.ts";
import { toFetchHandler } from "../../../src/node.ts";
import { streamOf } from "../../support/bodies.ts";
import { createTestService } from "../../support/service.ts";
import { stubService } from "./raw-client.ts";

const url = "http://files.example/home/a";

/** What the handler makes of an answer. */
function answerWith(answer: Response | Reply, init: RequestInit = {}): Promise<Response> {
  const handler = "ok" in answer ? async () => answer : createHandler(async () => answer);
  return toFetchHandler(handler)(new Request(url, init));
}

/** Five bytes that fail behind the third where asked to, and whether they were let go. */
function makeSource(failing = false): ByteSource & { isClosed(): boolean } {
  const bytes = new TextEncoder().encode("bytes");
  let isClosed = false;
  let offset = 0;
  return {
    async readInto(buffer) {
      if (failing && offset === 3) throw new Error("The disk is gone.");
      const part = bytes.subarray(offset, offset + (failing ? 3 : 5));
      buffer.set(part);
      offset += part.byteLength;
      return part.byteLength;
    },
    async close() {
      isClosed = true;
    },
    isClosed: () => isClosed,
  };
}

describe("toFetchHandler", () => {
  it("answers with the platform's own Response, whatever the body is made of", async () => {
    const bodies = ["bytes", new TextEncoder().encode("bytes"), streamOf("by", "tes")];
    const answers = [...bodies.map((body) => new Response(body)), sourceReply(200, makeSource(), {})];
    for (const answer of answers) {
      const response = await answerWith(answer);
      expect(response).toBeInstanceOf(globalThis.Response);
      expect([response.status, await response.text()]).toEqual([200, "bytes"]);
    }
  });

  it("keeps each cookie a field of its own, and the status", async () => {
    const headers = new Headers([
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
      ["Location", "/home/"],
    ]);
    const response = await answerWith(new Response(null, { status: 302, headers }));
    expect([response.status, response.headers.getSetCookie(), response.headers.get("location")]).toEqual([
      302,
      ["a=1", "b=2"],
      "/home/",
    ]);
  });

  it("lets go of what it does not send", async () => {
    const source = makeSource();
    const response = await answerWith(sourceReply(200, source, { "Content-Length": "5" }), { method: "HEAD" });
    expect([response.body, response.headers.get("content-length"), source.isClosed()]).toEqual([null, "5", true]);
    const left = makeSource();
    await (await answerWith(sourceReply(200, left, {}))).body?.cancel();
    expect(left.isClosed()).toBe(true);
  });

  it("breaks off where its source does, so that nobody takes a part for the whole", async () => {
    const response = await answerWith(sourceReply(200, makeSource(true), {}));
    await expect(response.text()).rejects.toThrow();
  });

  it("answers 500 where its source fails, or ends too early, before the first bytes", async () => {
    const failing = { ...makeSource(), readInto: () => Promise.reject(new Error("The disk is gone.")) };
    const answers = [
      sourceReply(200, failing, { "Content-Length": "500000" }),
      sourceReply(200, failing, {}),
      sourceReply(200, makeSource(), { "Content-Length": "6" }),
      new Response("bytes", { headers: { "Content-Length": "6" } }),
      new Response("bytes", { headers: { "Content-Length": "4" } }),
    ];
    for (const answer of answers) {
      const response = await answerWith(answer);
      expect([response.status, await response.text(), [...response.headers]]).toEqual([500, "", []]);
    }
  });

  it("breaks off where a long source ends too early", async () => {
    const response = await answerWith(sourceReply(200, makeSource(), { "Content-Length": "500000" }));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("gives a Response of the platform's own no content for %s with %s", async (method, status) => {
    const cancel = vi.fn();
    const body = new ReadableStream({ cancel });
    // The platform's own does not make one of 204 with a body; a host's class may.
    const own = Object.defineProperty(new Response(body), "status", { value: status });
    const response = await answerWith(own, { method });
    expect([response.status, response.body]).toEqual([status, null]);
    expect(cancel).toHaveBeenCalledOnce();
  });

  it("never rejects", async () => {
    const handle = toFetchHandler(async () => {
      throw new Error("secret");
    });
    const response = await handle(new Request(url));
    expect([response.status, await response.text()]).toEqual([500, ""]);
  });

  it("hands the connection on, an empty one where there is none, and takes one API alone", async () => {
    const seen: Connection[] = [];
    const handle = toFetchHandler(
      stubService((_request, connection) => {
        seen.push(connection);
        return new Response();
      }),
    );
    const connection: Connection = { peer: { address: "192.0.2.1", port: 1, family: "IPv4", protocol: "TCP" } };
    await handle(new Request(url), connection);
    await handle(new Request(url));
    expect(seen).toEqual([connection, {}]);
    const { service } = await createTestService();
    const answer = await toFetchHandler(service, { api: "rest" })(new Request("http://files.example/home/"));
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("refuses a variant that there is not", async () => {
    const { service } = await createTestService();
    expect(() => toFetchHandler(service, { api: "soap" as "rest" })).toThrow(TypeError);
    expect(() => toFetchHandler(service.fetch, { api: "rest" })).toThrow(TypeError);
  });
});
