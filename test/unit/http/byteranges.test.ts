import { describe, expect, it } from "vitest";
import { type ByteSource, sourceOfBytes, toByteStream } from "../../../src/contracts/byte-source.ts";
import { toMultipartRanges } from "../../../src/http/byteranges.ts";

const content = "0123456789";
const parts = [
  { offset: 7, length: 3 },
  { offset: 0, length: 1 },
];

function start() {
  return toMultipartRanges(parts, 10, "text/plain", async ({ offset, length }) =>
    sourceOfBytes(new TextEncoder().encode(content.slice(offset, offset + length))),
  );
}

/** A part, whose opening the test ends, and what has become of it. */
function observed() {
  const state = { open: 0, finishOpening: (): void => undefined };
  const opening = new Promise<void>((resolve) => {
    state.finishOpening = resolve;
  });
  const part: ByteSource = {
    readInto: async () => 0,
    close: async () => {
      state.open -= 1;
    },
  };
  const open = async (): Promise<ByteSource> => {
    state.open += 1;
    await opening;
    return part;
  };
  return { state, source: toMultipartRanges([{ offset: 0, length: 1 }], 9, "text/plain", open).source };
}

describe("several ranges as one body", () => {
  it("stand between boundaries, each with its type and its place (RFC 9110 14.6)", async () => {
    const { contentType, length, source } = start();
    const boundary = /^multipart\/byteranges; boundary=([\da-f]{32})$/.exec(contentType)?.[1];
    const body = await new Response(toByteStream(source)).text();
    expect(body).toBe(
      [
        "",
        `--${boundary}`,
        "Content-Type: text/plain",
        "Content-Range: bytes 7-9/10",
        "",
        "789",
        `--${boundary}`,
        "Content-Type: text/plain",
        "Content-Range: bytes 0-0/10",
        "",
        "0",
        `--${boundary}--`,
        "",
      ].join("\r\n"),
    );
    expect(length).toBe(body.length);
  });

  it("have a boundary of their own each time, of 32 digits", () => {
    const boundaries = Array.from({ length: 50 }, () => start().contentType.split("=")[1]);
    expect(new Set(boundaries).size).toBe(50);
    for (const boundary of boundaries) expect(boundary).toMatch(/^[\da-f]{32}$/);
  });

  it("end where they are closed, also before the first is read", async () => {
    const { source } = start();
    await source.close();
    expect(await source.readInto(new Uint8Array(1000))).toBe(0);
  });

  it("leave nothing open when they are closed in the middle of a read", async () => {
    const { state, source } = observed();
    const buffer = new Uint8Array(1000);
    await source.readInto(buffer);
    const reading = source.readInto(buffer);
    await source.close();
    state.finishOpening();
    expect([await reading, state.open]).toEqual([0, 0]);
  });

  it("close a part that was being opened when they were closed", async () => {
    const { state, source } = observed();
    const buffer = new Uint8Array(1000);
    await source.readInto(buffer);
    const reading = source.readInto(buffer);
    await expect.poll(() => state.open).toBe(1);
    await source.close();
    state.finishOpening();
    expect(await reading).toBe(0);
    expect(state.open).toBe(0);
  });
});
