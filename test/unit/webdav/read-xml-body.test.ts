import { describe, expect, it } from "vitest";
import { isHttpError } from "../../../src/http/http-error.ts";
import { readXmlBody } from "../../../src/webdav/read-xml-body.ts";

/** A request whose body comes in these pieces. */
function requestOf(pieces: readonly string[], fields: Readonly<Record<string, string>> = {}) {
  const state = { sent: 0 };
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) {
      state.sent++;
      yield new TextEncoder().encode(piece);
    }
  }
  const request = { body: body(), bodyUsed: false, headers: new Headers(fields) } as unknown as Request;
  return { request, state };
}

async function read(
  pieces: readonly string[],
  fields?: Readonly<Record<string, string>>,
  maxBytes = 10,
): Promise<string> {
  const { request } = requestOf(pieces, fields);
  return readXmlBody(request, { maxBytes }).then(
    (bytes) => new TextDecoder().decode(bytes),
    (error) => (isHttpError(error) ? error.code : Promise.reject(error)),
  );
}

describe("an XML body", () => {
  it("is read completely, in whatever pieces it comes", async () => {
    expect(await read(["<", "", "a", "/>"])).toBe("<a/>");
    expect(await read([..."<abcdefg/>"], { "Content-Type": "text/xml" })).toBe("<abcdefg/>");
    expect(await read([])).toBe("");
    expect(await readXmlBody(new Request("http://files.example/"))).toHaveLength(0);
  });

  it("is refused if it is announced as too large, before it is read", async () => {
    const { request, state } = requestOf(["<a/>"], { "Content-Length": "11" });
    await expect(readXmlBody(request, { maxBytes: 10 })).rejects.toMatchObject({ code: "body-too-large" });
    expect(state.sent).toBe(0);
  });

  it("is refused if it is too large, when that is known", async () => {
    const { request, state } = requestOf(["12345", "123456", "1", "1"]);
    await expect(readXmlBody(request, { maxBytes: 10 })).rejects.toMatchObject({ code: "body-too-large" });
    expect(state.sent).toBe(2);
    expect(await read(["12345", "12345"])).toBe("1234512345");
  });

  it("is refused if it is something else than XML, unless it is empty", async () => {
    expect(await read(["{}"], { "Content-Type": "application/json" })).toBe("xml-media-type");
    expect(await read([""], { "Content-Type": "application/json" })).toBe("");
  });

  it("is refused with a content encoding", async () => {
    expect(await read(["<a/>"], { "Content-Encoding": "gzip" })).toBe("content-encoding-unsupported");
  });
});
