import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseUploadMetadata, toUploadName } from "../../../../src/http/uploads/metadata.ts";
import { base64, refusalOf } from "./refusals.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("Upload-Metadata (R 3.2)", () => {
  it.each<[value: string, pairs: readonly [string, string][]]>([
    [`filename ${base64("plan.pdf")}`, [["filename", "plan.pdf"]]],
    [
      `filename ${base64("a")},is_confidential`,
      [
        ["filename", "a"],
        ["is_confidential", ""],
      ],
    ],
    [
      "a ,b ",
      [
        ["a", ""],
        ["b", ""],
      ],
    ],
    [`~!"#;=: ${base64("\u00e4")}`, [['~!"#;=:', "\u00e4"]]],
    [
      `__proto__ ${base64("x")},A,a`,
      [
        ["__proto__", "x"],
        ["A", ""],
        ["a", ""],
      ],
    ],
  ])("is %j", (value, pairs) => {
    expect([...parseUploadMetadata(value)]).toEqual(pairs.map(([key, text]) => [key, bytesOf(text)]));
  });

  it.each([
    "",
    ",",
    "a,",
    ",a",
    " a",
    "a, b",
    " YQ==",
    "a  YQ==",
    "a YQ== ",
    "a YQ==,a Yg==",
    "a,a",
    "a YQ",
    "a YQ=",
    "a YR==",
    "a YQ==YQ==",
    "a Y-_=",
    "a Y Q==",
    "a\tYQ==",
    "\u00e4 YQ==",
  ])("is not %j", async (value) => {
    expect(await refusalOf(() => parseUploadMetadata(value))).toBe("400 upload-metadata-invalid");
  });

  it("has at most 8 KiB", async () => {
    const value = `a ${"A".repeat(8188)}`;
    expect(parseUploadMetadata(`${value}AA`.slice(0, 2 + 8188)).get("a")).toHaveLength(6141);
    expect(await refusalOf(() => parseUploadMetadata(`${value}AAAA`))).toBe("400 upload-metadata-too-large");
  });

  it("is read as clients write it, for all keys and values", () => {
    const keys = fc.stringMatching(/^[!-+\--~]{1,20}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(keys, fc.uint8Array()), { selector: ([key]) => key, minLength: 1 }),
        (pairs) => {
          const value = pairs.map(([key, bytes]) => `${key} ${base64(bytes)}`).join(",");
          if (value.length <= 8192) expect([...parseUploadMetadata(value)]).toEqual(pairs);
        },
      ),
    );
  });

  it("is refused or a map, whatever it is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(..."ab ,=Y\u00e4Q\t") }), async (value) => {
        const refusal = await refusalOf(() => parseUploadMetadata(value));
        expect([undefined, "400 upload-metadata-invalid"]).toContain(refusal);
      }),
    );
  });
});

describe("the name of an upload", () => {
  const nameOf = (value: string) => toUploadName(parseUploadMetadata(value));
  const named = (key: string, name: string | Uint8Array) => `${key} ${base64(name)}`;

  it.each([
    [named("filename", "Grüße 文.txt"), "Grüße 文.txt"],
    [named("name", "a"), "a"],
    [`${named("name", "b")},${named("filename", "a")}`, "a"],
    [`${named("relativePath", "x/y")},${named("filename", "a")}`, "a"],
    [named("filename", "\ufeffa"), "\ufeffa"],
  ])("in %s is %j", (value, name) => {
    expect(nameOf(value)).toBe(name);
  });

  it.each([
    "",
    ".",
    "..",
    "a/b",
    "/a",
    "..\\a",
    "a\u0000",
    "a\n",
    "\u009f",
    new Uint8Array([0x61, 0xff]),
    new Uint8Array([0xed, 0xa0, 0x80]),
  ])("is not %j (CONTRACT 2.2)", async (name) => {
    expect(await refusalOf(() => nameOf(named("filename", name)))).toBe("400 name-invalid");
  });

  it("is refused if it is empty, also if there is another", async () => {
    expect(await refusalOf(() => nameOf(`filename,${named("name", "a")}`))).toBe("400 name-invalid");
  });

  it("is required", async () => {
    expect(await refusalOf(() => nameOf(named("Filename", "a")))).toBe("400 upload-name-missing");
    expect(await refusalOf(() => toUploadName(undefined))).toBe("400 upload-name-missing");
  });
});
