import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreeOnLength, createTooLargeError } from "../../../../src/http/uploads/length.ts";
import type { DraftAppend, TusAppend, UploadAppend } from "../../../../src/http/uploads/request-types.ts";
import { readUploadCreation } from "../../../../src/http/uploads/requests.ts";
import { errorOf, refusalOf, toRequest } from "./refusals.ts";

const COMMON = { offset: 5, length: undefined, announced: 5, digests: [] };

function tus(changes: Partial<TusAppend>): UploadAppend {
  return { ...COMMON, protocol: "tus", ...changes };
}

function draft(changes: Partial<DraftAppend>): UploadAppend {
  return { ...COMMON, protocol: "draft", interop: 8, isComplete: false, fileDigests: [], ...changes };
}

/** The length that is known after an append, or its refusal. */
async function lengthAfter(append: UploadAppend, size?: number, maxBytes = 100): Promise<number | string | undefined> {
  let length: number | undefined;
  const refusal = await refusalOf(() => {
    length = agreeOnLength(append, { size, maxBytes });
  });
  return refusal ?? length;
}

describe("the length of an upload by tus (R 3.6, 3.7)", () => {
  it("is what was told once, or is told now, or unknown", async () => {
    expect(await lengthAfter(tus({}))).toBeUndefined();
    expect(await lengthAfter(tus({}), 10)).toBe(10);
    expect(await lengthAfter(tus({ length: 20 }))).toBe(20);
    expect(await lengthAfter(tus({ length: 20 }), 20)).toBe(20);
    expect(await lengthAfter(tus({ length: 5, announced: undefined }))).toBe(5);
  });

  it.each<[refusal: string, changes: Partial<TusAppend>, size: number | undefined]>([
    ["400 upload-length-inconsistent", { length: 20 }, 21],
    ["400 upload-length-inconsistent", { length: 9 }, undefined],
    ["400 upload-length-inconsistent", { length: 9 }, 9],
    ["400 upload-length-inconsistent", { length: 4, announced: undefined }, undefined],
    ["413 upload-too-long", {}, 9],
    ["413 too-large", { length: 101 }, undefined],
    ["413 too-large", { announced: 96 }, undefined],
    ["413 too-large", {}, 101],
  ])("is refused by %s with %j and a former length of %s", async (refusal, changes, size) => {
    expect(await lengthAfter(tus(changes), size)).toBe(refusal);
  });
});

describe("the length of an upload by the draft (R 4.5)", () => {
  it("is what was told once, or is told now, or by the last content", async () => {
    expect(await lengthAfter(draft({}))).toBeUndefined();
    expect(await lengthAfter(draft({}), 10)).toBe(10);
    expect(await lengthAfter(draft({ length: 20 }), 20)).toBe(20);
    expect(await lengthAfter(draft({ isComplete: true }))).toBe(10);
    expect(await lengthAfter(draft({ isComplete: true, length: 10 }), 10)).toBe(10);
    expect(await lengthAfter(draft({ isComplete: true, announced: undefined }))).toBeUndefined();
    expect(await lengthAfter(draft({ isComplete: true, announced: 0 }), 5)).toBe(5);
  });

  it.each<[refusal: string, changes: Partial<DraftAppend>, size: number | undefined]>([
    ["400 upload-length-inconsistent", { length: 20 }, 21],
    ["400 upload-length-inconsistent", { isComplete: true }, 11],
    ["400 upload-length-inconsistent", { isComplete: true, length: 11 }, undefined],
    ["400 upload-length-inconsistent", { announced: 6 }, 10],
    ["400 upload-length-inconsistent", { length: 9 }, undefined],
    ["413 too-large", { isComplete: true, announced: 96 }, undefined],
    ["413 too-large", { length: 101 }, undefined],
  ])("is refused by %s with %j and a former length of %s", async (refusal, changes, size) => {
    expect(await lengthAfter(draft(changes), size)).toBe(refusal);
  });
});

describe("the length of a new upload", () => {
  const PART = { "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream" };

  it("is not less than the content of the creation", async () => {
    const read = async (headers: HeadersInit, protocol: "tus" | "draft") => {
      const request = toRequest("POST", { ...headers, "Content-Length": "5" }, { body: "hello" });
      const creation = await readUploadCreation(request, protocol, false);
      return agreeOnLength(creation, { size: undefined, maxBytes: 100 });
    };
    expect(await read({ ...PART, "Upload-Length": "5" }, "tus")).toBe(5);
    expect(await read({ ...PART, "Upload-Defer-Length": "1" }, "tus")).toBeUndefined();
    expect(await read({ "Upload-Complete": "?1" }, "draft")).toBe(5);
    expect(await refusalOf(() => read({ ...PART, "Upload-Length": "4" }, "tus"))).toBe("413 upload-too-long");
    const short = { "Upload-Complete": "?0", "Upload-Length": "4" };
    expect(await refusalOf(() => read(short, "draft"))).toBe("400 upload-length-inconsistent");
  });
});

it("a length once known stays, and no announced content goes beyond it", async () => {
  const bytes = fc.nat(12);
  const optional = fc.option(bytes, { nil: undefined });
  const common = { offset: bytes, length: optional, announced: optional, digests: fc.constant([]) };
  const appends = fc.oneof(
    fc.record({ protocol: fc.constant("tus" as const), ...common }),
    fc.record({
      protocol: fc.constant("draft" as const),
      interop: fc.constant(undefined),
      isComplete: fc.boolean(),
      fileDigests: fc.constant([]),
      ...common,
    }),
  );
  await fc.assert(
    fc.asyncProperty(appends, optional, bytes, async (append, size, maxBytes) => {
      const length = await lengthAfter(append, size, maxBytes);
      if (typeof length === "string") return;
      if (size !== undefined) expect(length).toBe(size);
      if (append.length !== undefined) expect(length).toBe(append.length);
      const end = append.offset + (append.announced ?? 0);
      expect(end).toBeLessThanOrEqual(length ?? maxBytes);
      expect(length ?? 0).toBeLessThanOrEqual(maxBytes);
    }),
  );
});

it("a file that is too large is refused with the maximum, in the fields of its protocol (R 5.4)", async () => {
  expect(createTooLargeError("tus", 5).headers).toEqual({ "Tus-Max-Size": "5" });
  expect(createTooLargeError("draft", 5).headers).toEqual({ "Upload-Limit": "max-size=5" });
  const error = await errorOf(() => agreeOnLength(draft({ length: 101 }), { size: undefined, maxBytes: 100 }));
  expect([error?.message, error?.headers]).toEqual([
    "The file is larger than 100 bytes.",
    { "Upload-Limit": "max-size=100" },
  ]);
});
