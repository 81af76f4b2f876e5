import { expect, it } from "vitest";
import { readFieldText } from "../../../src/http/header-text.ts";

it.each([
  ["", ""],
  ["a b", "a b"],
  ["zo\u00c3\u00ab", "zo\u00eb"],
  ["\u00f0\u009f\u0098\u0080", "\u{1f600}"],
  ["\u00ef\u00bb\u00bfa", "\ufeffa"],
  ["\u00ef\u00bf\u00bd", "\ufffd"],
  ["zo\u00eb", undefined],
  ["\u00c3", undefined],
])("a field of the bytes %j is the text %j", (value, text) => {
  expect(readFieldText(value)).toBe(text);
});
