import { describe, expect, it } from "vitest";
import { parseJsonText } from "../../../src/platform/json-text.ts";

function parse(text: string): unknown {
  return parseJsonText(new TextEncoder().encode(text));
}

describe("parseJsonText", () => {
  it("parses JSON, also after a byte order mark", () => {
    expect(parse('{ "a": [1, "ü"] }')).toEqual({ a: [1, "ü"] });
    expect(parse("\ufeff{}")).toEqual({});
  });

  it.each([
    ["a comma behind the last member", '{\n  "a": 1,\n}', "line 3, column 1"],
    ["a comma behind the last element", '{\n  "a": [1,\n  ]\n}', "line 3, column 3"],
    ["a text without quotes", '{ "a": x }', "line 1, column 8"],
    ["a missing comma", '{ "a": 1\n  "b": 2 }', "line 2, column 3"],
    ["a comment", '{\n  // no\n  "a": 1 }', "line 2, column 3"],
    ["a broken escape", '{ "a": "C:\\q" }', "line 1, column 12"],
    ["an end too early", '{ "a": {\n', "line 2, column 1"],
    ["something behind the end", "{}\n{}", "line 2, column 1"],
    ["nothing", "", "line 1, column 1"],
  ])("reports the position of %s, on every engine", (_case, text, place) => {
    expect(() => parse(text)).toThrow(`${place}: is not valid JSON`);
  });

  it.each([
    ['{ "a": 1,\n  "b": { "c": ["d", "d"] }, "a": 2 }', "line 2, column 29"],
    ['[{ "a": 1 }, { "a": { "a": 1 }, "\\u0061": ":" }]', "line 1, column 33"],
  ])("refuses a key that an object has twice: %s", (text, place) => {
    expect(() => parse(text)).toThrow(`${place}: is the same key again`);
  });

  it("takes a key for the same only in one object, and no value for a key", () => {
    const text = '{ "a": { "a": "\\"a\\":" }, "b": [{ "a": "b" }, { "a": "{" }], "": "a", "c": "a" }';
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    '{ "password": "secret\n" }',
    '{ "password": secret }',
    '{ "password": "secret" x',
    '{ "password": "secret',
  ])("never quotes %j", (text) => {
    expect(() => parse(text)).toThrow(SyntaxError);
    expect(() => parse(text)).not.toThrow("secret");
  });

  it("rejects bytes that are not UTF-8", () => {
    expect(() => parseJsonText(Uint8Array.of(0x7b, 0xff, 0x7d))).toThrow("is not valid UTF-8");
  });
});
