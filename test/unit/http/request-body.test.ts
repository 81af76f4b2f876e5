import { describe, expect, it } from "vitest";
import { createBodyReadError } from "../../../src/http/body-already-read.ts";
import { createError } from "../../../src/http/errors.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { hasContent, readBody, readContentLength, readFormBody, readJsonBody } from "../../../src/http/request-body.ts";

const encoder = new TextEncoder();

/** A request whose body comes in these pieces, and breaks off with an error that is one of them. */
function requestOf(
  pieces: readonly (string | Uint8Array | Error)[] | null,
  fields: Record<string, string> = {},
): Request {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces ?? []) {
      if (piece instanceof Error) throw piece;
      yield typeof piece === "string" ? encoder.encode(piece) : piece;
    }
  }
  const headers = new Headers(fields);
  return { body: pieces === null ? null : body(), bodyUsed: false, headers } as unknown as Request;
}

describe("the announced length of a body", () => {
  it.each([
    [undefined, undefined],
    ["0", 0],
    ["12", 12],
    ["999999999999999", 999_999_999_999_999],
  ])("%s is %s", (value, length) => {
    expect(readContentLength(new Headers(value === undefined ? {} : { "content-length": value }))).toBe(length);
  });

  it.each(["", "x", "-1", "+1", "1.5", "1e3", "0x1", "1, 1", "1x", "x1", "1".repeat(16)])("is never %j", (value) => {
    expect(() => readContentLength(new Headers({ "content-length": value }))).toThrow(
      createError("content-length-invalid"),
    );
  });
});

describe("a request", () => {
  it.each<[pieces: readonly string[] | null, fields: Record<string, string>, brings: boolean]>([
    [["abc"], { "content-length": "3" }, true],
    [["abc"], { "content-length": "0" }, false],
    [[], { "transfer-encoding": "chunked" }, false],
    [["", "a"], { "transfer-encoding": "chunked" }, true],
    [[], { "transfer-encoding": "chunked", expect: "100-continue" }, true],
    [null, { expect: "100-continue" }, false],
    [["", "", "abc"], {}, true],
    [["", ""], {}, false],
    [[], {}, false],
    [null, {}, false],
  ])("of %j with %j brings content: %s (RFC 9112 6.3)", async (pieces, fields, brings) => {
    expect(await hasContent(requestOf(pieces, fields))).toBe(brings);
  });
});

describe("a body", () => {
  async function read(request: Request): Promise<string> {
    let text = "";
    for await (const chunk of readBody(request)) text += new TextDecoder().decode(chunk);
    return text;
  }

  it("comes as it is, or is none", async () => {
    expect(await read(requestOf(["ab", "c"]))).toBe("abc");
    expect(await read(requestOf(null))).toBe("");
  });

  it("that breaks off is the client's failure, with what it broke off by", async () => {
    const cause = new Error("the client went away");
    await expect(read(requestOf(["ab", cause]))).rejects.toMatchObject({
      failure: "malformed",
      message: "The request's body is incomplete.",
      cause,
    });
  });

  it("that somebody has read is the host's failure, with what it has to do about it", async () => {
    const cause = createBodyReadError();
    const consumed = {
      failure: "internal",
      message: "The request's body was read before it reached the service.",
      cause,
    };
    await expect(read(requestOf([cause]))).rejects.toMatchObject(consumed);
    await expect(read(requestOf(null, { "content-length": "3" }))).rejects.toMatchObject(consumed);
  });
});

describe("a JSON body", () => {
  const small = `"${"x".repeat(16 * 1024 - 2)}"`;

  it("is the value of all its pieces, wherever they are cut", async () => {
    const bytes = encoder.encode('{"name":"zo\u00eb"}');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readJsonBody(requestOf(pieces))).toEqual({ name: "zo\u00eb" });
  });

  it.each<[what: string, pieces: readonly (string | Uint8Array)[], message: string]>([
    ["nothing", [], "The body is not valid JSON."],
    ["another text", ["{]"], "The body is not valid JSON."],
    ["bytes that are no UTF-8", ['"', Uint8Array.of(0xff), '"'], "The body is not valid UTF-8."],
    ["a character that is cut off", ['"', Uint8Array.of(0xc3)], "The body is not valid UTF-8."],
    [
      "a list of more than 1,000",
      [JSON.stringify(Array(1001).fill(0))],
      "The body has too many values, or they are nested too deeply.",
    ],
    [
      "more than 5,000 values",
      [JSON.stringify(Array(1000).fill([1, 2, 3, 4]).with(0, [1, 2, 3, 4, 5]))],
      "The body has too many values, or they are nested too deeply.",
    ],
    [
      "101 levels",
      [`${"[".repeat(101)}${"]".repeat(101)}`],
      "The body has too many values, or they are nested too deeply.",
    ],
  ])("is refused that is %s", async (_what, pieces, message) => {
    await expect(readJsonBody(requestOf(pieces))).rejects.toMatchObject({ failure: "malformed", message });
  });

  it("may hold 1,000 members and 5,000 values, or as many as its endpoint says, but no fewer", async () => {
    const most = Array(1000).fill([1, 2, 3, 4]);
    for (const maxMembers of [undefined, 1, 1000]) {
      const limits = maxMembers === undefined ? {} : { maxMembers };
      expect(await readJsonBody(requestOf([JSON.stringify(most)]), limits)).toEqual(most);
    }
    const more = Array(1001).fill(0);
    expect(await readJsonBody(requestOf([JSON.stringify(more)]), { maxMembers: 1001 })).toEqual(more);
  });

  it("that holds more fails as its endpoint says", async () => {
    const failure = new HttpError("too-large", "Too many.");
    const reading = readJsonBody(requestOf([JSON.stringify(Array(1001).fill(0))]), { toTooLarge: () => failure });
    await expect(reading).rejects.toBe(failure);
  });

  it("is no larger than it may be, whether that is announced or not (SECURITY 12)", async () => {
    const tooLarge = { failure: "too-large", message: "The body is larger than 5 bytes." };
    const announced = requestOf([new Error("not to be read")], { "content-length": "6" });
    await expect(readJsonBody(announced, { maxBytes: 5 })).rejects.toMatchObject(tooLarge);
    await expect(readJsonBody(requestOf(['"ab', 'cd"']), { maxBytes: 5 })).rejects.toMatchObject(tooLarge);
    expect(await readJsonBody(requestOf(['"ab', 'c"'], { "content-length": "5" }), { maxBytes: 5 })).toBe("abc");
  });

  it("is of 1 MiB at most unless its endpoint says otherwise (CONTRACT 4.5)", async () => {
    const text = "x".repeat(1024 * 1024 - 2);
    expect(await readJsonBody(requestOf([`"${text}"`]))).toBe(text);
    await expect(readJsonBody(requestOf([`"${text}x"`]))).rejects.toMatchObject({
      failure: "too-large",
      message: "The body is larger than 1048576 bytes.",
    });
  });

  it("is announced before it is read if it has more than 16 KiB by its length", async () => {
    const heard: number[] = [];
    const onAnnounced = (bytes: number) => heard.push(bytes);
    const ask = (length: number) =>
      readJsonBody(requestOf(['"x"'], { "content-length": String(length) }), { onAnnounced });
    await ask(3);
    await ask(16 * 1024);
    expect(heard).toEqual([]);
    await ask(16 * 1024 + 1);
    expect(heard).toEqual([16 * 1024 + 1]);
    await expect(readJsonBody(requestOf(['"x"'], { "content-length": String(16 * 1024 + 1) }))).resolves.toBe("x");
    await expect(readJsonBody(requestOf(['"x"']), { onAnnounced })).resolves.toBe("x");
    expect(heard).toHaveLength(1);
  });

  it("of 16 KiB is small: no function is called", async () => {
    const heard: number[] = [];
    const onLarge = (bytes: number) => heard.push(bytes);
    await readJsonBody(requestOf([small], { "content-length": String(16 * 1024) }), { onLarge });
    expect(heard).toEqual([]);
    await readJsonBody(requestOf([small, " "]), { onLarge });
    expect(heard).toEqual([16 * 1024 + 1]);
  });

  it("of more may be refused before it is read", async () => {
    const failure = new HttpError("unavailable", "Too many are held.");
    const onLarge = () => {
      throw failure;
    };
    await expect(readJsonBody(requestOf([small, " "]), { onLarge })).rejects.toBe(failure);
    expect(await readJsonBody(requestOf([small, " "]))).toHaveLength(16 * 1024 - 2);
  });
});

describe("a form's body", () => {
  it("is its fields, of which there may be 100", async () => {
    expect([...(await readFormBody(requestOf(["a=1&b=%C3", "%AB+"]), { maxBytes: 100 }))]).toEqual([
      ["a", "1"],
      ["b", "\u00eb "],
    ]);
    const text = Array.from({ length: 100 }, (_, index) => `f${index}=x`).join("&");
    expect((await readFormBody(requestOf([text]), { maxBytes: 1000 })).size).toBe(100);
    await expect(readFormBody(requestOf([`${text}&`]), { maxBytes: 1000 })).rejects.toMatchObject({
      failure: "malformed",
      message: "The form has more than 100 fields.",
    });
    await expect(readFormBody(requestOf(["a=12"]), { maxBytes: 3 })).rejects.toMatchObject({ failure: "too-large" });
  });
});
