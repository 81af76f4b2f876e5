import { describe, expect, it, vi } from "vitest";
import { openResponseBody, type ResponseBodyOptions } from "../../../../src/runtimes/web/response-body.ts";

/** A stream of these chunks, which ends or fails after them. It notes whether it was cancelled. */
function streamOf(chunks: readonly (number | Error)[]) {
  const left = [...chunks];
  const onCancel = vi.fn();
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next === undefined) controller.close();
        else if (typeof next !== "number") throw next;
        else controller.enqueue(new Uint8Array(next).fill(7));
      },
      cancel: onCancel,
    },
    { highWaterMark: 0 },
  );
  return { stream, onCancel };
}

async function read(chunks: readonly (number | Error)[], options: Partial<ResponseBodyOptions>): Promise<unknown> {
  const { stream } = streamOf(chunks);
  const body = await openResponseBody(stream.getReader(), { wholeBytes: 10, length: undefined, ...options });
  if ("byteLength" in body) return body.byteLength;
  const bytes = await new Response(body).bytes();
  return ["streamed", bytes.byteLength];
}

describe("openWireBody", () => {
  it.each([
    [[], 0],
    [[10], 10],
    [[3, 0, 4, 3], 10],
  ])("reads %j whole where that is promised to be short", async (chunks, length) => {
    expect(await read(chunks, { length })).toBe(length);
  });

  it.each([
    [[20], 20],
    [[8, 0, 8, 4], 20],
    [[8, 8], undefined],
  ])("streams %j, of the length %s", async (chunks, length) => {
    const sum = chunks.reduce((total, size) => total + size, 0);
    expect(await read(chunks, { length })).toEqual(["streamed", sum]);
  });

  it("gives no stream for what turns out to be empty", async () => {
    expect(await read([], {})).toBe(0);
  });

  it.each([
    ["too few bytes, whole", [4], 5],
    ["too many bytes, whole", [4, 4], 5],
    ["no bytes of many", [], 20],
    ["a source that fails at once", [new Error("x")], 20],
    ["a source that fails while it is read whole", [4, new Error("x")], 5],
  ])("throws before the answer for %s", async (_what, chunks, length) => {
    await expect(read(chunks, { length })).rejects.toThrow();
  });

  it.each([
    ["too few bytes", [8, 8], 20],
    ["too many bytes", [8, 8, 8], 20],
    ["more behind the promised length", [8, 12, 1], 20],
    ["a source that fails behind the promised length", [8, 12, new Error("x")], 20],
    ["a source that fails midway", [8, new Error("x")], undefined],
  ])("breaks off, and never ends well, for %s", async (_what, chunks, length) => {
    const { stream } = streamOf(chunks);
    const body = await openResponseBody(stream.getReader(), { wholeBytes: 10, length });
    expect("byteLength" in body).toBe(false);
    await expect(new Response(body as ReadableStream).bytes()).rejects.toThrow();
  });

  it("lets go of a source of which it wants no more", async () => {
    const { stream, onCancel } = streamOf([8, 8, 8, 8]);
    await expect(openResponseBody(stream.getReader(), { wholeBytes: 10, length: 9 })).rejects.toThrow(RangeError);
    expect(onCancel).toHaveBeenCalledOnce();
  });

  it("lets go of the source when the client does, and tells", async () => {
    const { stream, onCancel } = streamOf([8, 8, 8]);
    const told = vi.fn();
    const body = await openResponseBody(stream.getReader(), { wholeBytes: 10, length: 24, onCancel: told });
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel("gone");
    expect(onCancel).toHaveBeenCalledExactlyOnceWith("gone");
    expect(told).toHaveBeenCalledExactlyOnceWith("gone");
  });

  it("waits no longer for a silent source when the client has gone", async () => {
    const onCancel = vi.fn();
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined), cancel: onCancel });
    const leaving = new AbortController();
    const opening = openResponseBody(silent.getReader(), { wholeBytes: 10, length: 5, signal: leaving.signal });
    leaving.abort("gone");
    await expect(opening).rejects.toThrow(RangeError);
    expect(onCancel).toHaveBeenCalledExactlyOnceWith("gone");
  });

  it("lets go of a silent source whose client had gone before", async () => {
    const onCancel = vi.fn();
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined), cancel: onCancel });
    const options = { wholeBytes: 10, length: 5, signal: AbortSignal.abort("gone") };
    await expect(openResponseBody(silent.getReader(), options)).rejects.toBe("gone");
    expect(onCancel).toHaveBeenCalledExactlyOnceWith("gone");
  });

  it("takes bytes that are at hand, of the promised length alone", async () => {
    const bytes = new Uint8Array(20);
    for (const length of [20, undefined]) expect(await openResponseBody(bytes, { wholeBytes: 10, length })).toBe(bytes);
    for (const length of [19, 21]) {
      await expect(openResponseBody(bytes, { wholeBytes: 10, length })).rejects.toThrow(RangeError);
    }
  });
});
