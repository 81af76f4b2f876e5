import { describe, expect, it } from "vitest";
import { createMessageReader, framingOf } from "../support/openapi/message-reader.ts";

/** Returns what a reader reports for bytes that come in pieces of this size. */
function read(text: string, size: number, isEnded = false): readonly unknown[] {
  const told: unknown[] = [];
  const reader = createMessageReader({
    onHead(head) {
      told.push(head.start);
      const framing = framingOf(head);
      return framing === "nonsense" ? undefined : framing === "unsaid" ? "to the end" : framing;
    },
    onWhole: (content) => void told.push(content && Buffer.from(content).toString()),
    onNonsense: () => void told.push("nonsense"),
  });
  const bytes = Buffer.from(text, "latin1");
  for (let at = 0; at < bytes.byteLength; at += size) reader.take(bytes.subarray(at, at + size));
  if (isEnded) reader.end();
  return told;
}

describe.each([1, 2, 3, 7, 10_000])("messages on a connection, in pieces of %i bytes", (size) => {
  it("are told apart by their lengths, and by their chunks", () => {
    const text = [
      "\r\nA\r\nContent-Length: 5\r\n\r\nhello",
      "B\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
      "C\r\nContent-Length: 0\r\n\r\n",
      "D\r\n\r\nrest",
    ].join("");
    const whole = ["A", "hello", "B", "abc0123456789", "C", "", "D"];
    expect(read(text, size)).toEqual(whole);
    expect(read(text, size, true)).toEqual([...whole, "rest"]);
  });

  it("are not whole where they are broken off", () => {
    expect(read("A\r\nContent-Length: 5\r\n\r\nhell", size, true)).toEqual(["A"]);
    expect(read("A\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", size, true)).toEqual(["A"]);
    expect(read("A\r\nContent-Le", size, true)).toEqual([]);
  });

  it.each(["A\r\nno field\r\n\r\n", "A\r\nx : y\r\n\r\n", "A\r\nx: y\r\n folded\r\n\r\n"])(
    "are none where a head is none: %j",
    (text) => {
      expect(read(`${text}B\r\nContent-Length: 0\r\n\r\n`, size)).toEqual(["nonsense"]);
    },
  );

  it("are none behind a length, or a chunk, that is none", () => {
    const next = "B\r\nContent-Length: 0\r\n\r\n";
    expect(read(`A\r\nContent-Length: 5, 5\r\n\r\nhello${next}`, size)).toEqual(["A"]);
    expect(read(`A\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${next}`, size)).toEqual(["A"]);
    expect(read(`A\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n${next}`, size)).toEqual(["A", "nonsense"]);
  });
});

it("a content that is too long to keep is counted all the same", () => {
  const text = `A\r\nContent-Length: 300000\r\n\r\n${"x".repeat(300_000)}B\r\nContent-Length: 1\r\n\r\ny`;
  expect(read(text, 65_536)).toEqual(["A", undefined, "B", "y"]);
});

it("a content whose fields are looked at is kept, however long a listing is", () => {
  const fields = `Content-Type: application/json\r\nContent-Length: 300000`;
  expect(read(`A\r\n${fields}\r\n\r\n${"x".repeat(300_000)}`, 65_536)).toEqual(["A", "x".repeat(300_000)]);
});
