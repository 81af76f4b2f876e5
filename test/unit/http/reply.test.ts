import { describe, expect, it, vi } from "vitest";
import { sourceOfBytes, toByteStream } from "../../../src/contracts/byte-source.ts";
import type { StoredFile } from "../../../src/contracts/storage-adapter.ts";
import { html } from "../../../src/http/html.ts";
import {
  bytesReply,
  emptyReply,
  fileReply,
  htmlReply,
  jsonReply,
  type Reply,
  type ReplyBody,
  releaseBody,
  sourceReply,
  textReply,
  withoutContent,
} from "../../../src/http/reply.ts";

const bytes = new TextEncoder().encode("zo\u00eb");
const fields = { "X-One": "1", "X-None": undefined, "Set-Cookie": "a=1" };
const own = [
  ["X-One", "1"],
  ["Set-Cookie", "a=1"],
];

const source = sourceOfBytes(bytes);
const stream = toByteStream(sourceOfBytes(bytes));

function file(of: StoredFile["source"]): StoredFile {
  return { body: stream, ...(of !== undefined && { source: of }) } as StoredFile;
}

describe("a reply", () => {
  it.each<[what: string, reply: Reply, type: readonly string[][], content: string]>([
    [
      "JSON",
      jsonReply(201, { name: "zo\u00eb" }, fields),
      [["Content-Type", "application/json; charset=utf-8"]],
      '{"name":"zo\u00eb"}',
    ],
    [
      "HTML",
      htmlReply(201, html`<p>${"<"}</p>`, fields),
      [["Content-Type", "text/html; charset=utf-8"]],
      "<p>&lt;</p>",
    ],
    ["text", textReply(201, "zo\u00eb", fields), [], "zo\u00eb"],
    ["bytes", bytesReply(201, bytes, fields), [], "zo\u00eb"],
  ])("with %s has its status, a line for each of its fields, and its bytes", (_what, reply, type, content) => {
    const encoded = new TextEncoder().encode(content);
    const headers = [...own, ...type, ["Content-Length", String(encoded.byteLength)]];
    expect(reply).toEqual({ status: 201, headers, body: encoded });
  });

  it.each<[what: string, reply: Reply, body: ReplyBody | undefined]>([
    ["nothing", emptyReply(201, fields), undefined],
    ["a source", sourceReply(201, source, fields), source],
    ["a file", fileReply(201, file(undefined), fields), stream],
    ["a file that has a source", fileReply(201, file(source), fields), source],
    ["a file in memory", fileReply(201, file(bytes), fields), bytes],
  ])("with %s has its body unchanged", (_what, reply, body) => {
    expect(reply.headers).toEqual(own);
    expect(reply.body).toBe(body);
  });

  it("to HEAD has the same status and fields, and releases the content", () => {
    const close = vi.fn(async () => undefined);
    const headers = [["Content-Length", "4"]];
    const reply = withoutContent(sourceReply(206, { ...source, close }, { "Content-Length": "4" }));
    expect(reply).toEqual({ status: 206, headers });
    expect(close).toHaveBeenCalledOnce();
    expect(withoutContent(emptyReply(204)).status).toBe(204);
  });
});

describe("releaseBody", () => {
  it("ignores failures, and bodies that another reader holds", () => {
    const cancel = vi.fn();
    releaseBody(new ReadableStream({ cancel }));
    expect(cancel).toHaveBeenCalledOnce();
    const locked = new ReadableStream<Uint8Array>();
    locked.getReader();
    releaseBody(locked);
    releaseBody({ ...source, close: () => Promise.reject(new Error("The disk is gone.")) });
    for (const body of [undefined, "text", bytes]) releaseBody(body);
  });
});
