import { describe, expect, it } from "vitest";
import { type ByteSource, sourceOfBytes, toByteStream } from "../../../src/contracts/byte-source.ts";
import type { StoredFile } from "../../../src/contracts/storage-adapter.ts";
import { html } from "../../../src/http/html.ts";
import {
  bytesResponse,
  emptyResponse,
  fileResponse,
  htmlResponse,
  jsonResponse,
  sourceResponse,
  streamResponse,
  textResponse,
  withoutContent,
} from "../../../src/http/responses.ts";
import { createSourceResponse, findSource } from "../../../src/http/source-response.ts";

const bytes = new TextEncoder().encode("zo\u00eb");
const fields = { "X-One": "1", "X-None": undefined, "Set-Cookie": ["a=1", "b=2"] };
const own = [
  ["set-cookie", "a=1"],
  ["set-cookie", "b=2"],
  ["x-one", "1"],
];

/** A source of the bytes, and whether it has been closed. */
function observed() {
  const state = { isClosed: false };
  const source: ByteSource = {
    ...sourceOfBytes(bytes),
    close: async () => {
      state.isClosed = true;
    },
  };
  return { state, source };
}

function file(source: StoredFile["source"]): StoredFile {
  const body = toByteStream(sourceOfBytes(new TextEncoder().encode("by its stream")));
  return { body, ...(source !== undefined && { source }) } as StoredFile;
}

describe("an answer", () => {
  it.each<[what: string, respond: () => Response, more: readonly (readonly [string, string])[], text: string]>([
    [
      "JSON",
      () => jsonResponse(201, { name: "zo\u00eb" }, fields),
      [
        ["content-length", "15"],
        ["content-type", "application/json; charset=utf-8"],
      ],
      '{"name":"zo\u00eb"}',
    ],
    [
      "HTML",
      () => htmlResponse(201, html`<p>${"<"}</p>`, fields),
      [
        ["content-length", "11"],
        ["content-type", "text/html; charset=utf-8"],
      ],
      "<p>&lt;</p>",
    ],
    ["text", () => textResponse(201, "zo\u00eb", fields), [["content-length", "4"]], "zo\u00eb"],
    ["bytes", () => bytesResponse(201, bytes, fields), [["content-length", "4"]], "zo\u00eb"],
    ["nothing", () => emptyResponse(201, fields), [], ""],
    ["a stream", () => streamResponse(201, toByteStream(sourceOfBytes(bytes)), fields), [], "zo\u00eb"],
    ["a source", () => sourceResponse(201, observed().source, fields), [], "zo\u00eb"],
    ["a file", () => fileResponse(201, file(undefined), fields), [], "by its stream"],
    ["a file that has a source", () => fileResponse(201, file(observed().source), fields), [], "zo\u00eb"],
    ["a file that is at hand", () => fileResponse(201, file(bytes), fields), [["content-length", "4"]], "zo\u00eb"],
  ])("with %s has its status, each value of its fields, and its content", async (_what, respond, more, text) => {
    const response = respond();
    expect(response.status).toBe(201);
    const sent = [...response.headers].sort(([one], [other]) => one.localeCompare(other));
    expect(sent).toEqual([...more, ...own]);
    expect(await response.text()).toBe(text);
  });

  it("to HEAD has the same status and fields, and lets go of the content", async () => {
    const { state, source } = observed();
    const response = withoutContent(sourceResponse(206, source, { "Content-Length": "4" }));
    expect([response.status, response.headers.get("content-length"), response.body]).toEqual([206, "4", null]);
    await expect.poll(() => state.isClosed).toBe(true);
    expect(withoutContent(emptyResponse(204)).status).toBe(204);
  });
});

describe("an answer that is read from a source", () => {
  /** What the light `Response` keeps of it, as a runtime finds it. */
  function bodyOf(source: ByteSource): AsyncIterable<Uint8Array> {
    const response = createSourceResponse(source, { status: 200 });
    return (response as unknown as { bodyInit: AsyncIterable<Uint8Array> }).bodyInit;
  }

  it("is known by it to a runtime that reads it without a stream, also to another copy of this package", () => {
    const { source } = observed();
    expect(findSource(bodyOf(source))).toBe(source);
    expect(Reflect.get(bodyOf(source), Symbol.for("fileferry.byte-source"))).toBe(source);
    expect(findSource({})).toBeUndefined();
  });

  it("has one stream, however often it is asked for", () => {
    const response = createSourceResponse(observed().source, { status: 200 });
    expect(response.body).toBeInstanceOf(ReadableStream);
    expect(response.body).toBe(response.body);
  });

  it("can be iterated", async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of bodyOf(observed().source)) chunks.push(chunk);
    expect(chunks).toEqual([bytes]);
  });

  it("closes the source where the iteration is given up, also before it began", async () => {
    const begun = observed();
    for await (const _chunk of bodyOf(begun.source)) break;
    const unbegun = observed();
    const end = await bodyOf(unbegun.source)[Symbol.asyncIterator]().return?.();
    expect([end, begun.state.isClosed, unbegun.state.isClosed]).toEqual([{ done: true, value: undefined }, true, true]);
  });
});
