import { describe, expect, it } from "vitest";
import { DONE_CODES } from "../../../src/contracts/texts.ts";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";
import { fillText } from "../../../src/views/texts.ts";

/** All texts of a language except its failures, by their names. */
function textsOf({ failures: _failures, ...texts }: typeof ENGLISH): [name: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]): [string, string][] =>
    typeof text === "string"
      ? [[name, text]]
      : Object.entries(text).map(([key, own]) => [`${name}.${key}`, own as string]),
  );
}

describe("the texts", () => {
  it("all exist in German, with the same placeholders", () => {
    const german = new Map(textsOf(GERMAN));
    for (const [name, text] of textsOf(ENGLISH)) {
      const values = (of: string) => (of.match(/\{\w+\}/g) ?? []).sort();
      expect([name, values(german.get(name) ?? "")]).toEqual([name, values(text)]);
      expect(german.get(name), name).not.toBe("");
    }
    expect(german.size).toBe(textsOf(ENGLISH).length);
  });

  it("have a message for every result code of a form", () => {
    for (const { done } of [ENGLISH, GERMAN]) expect(Object.keys(done).sort()).toEqual([...DONE_CODES].sort());
  });
});

describe("fillText", () => {
  it("inserts values unchanged, and keeps placeholders without a value", () => {
    expect(fillText("{a} and {b} and {toString}", { a: "$& {b}", b: "2" })).toBe("$& {b} and 2 and {toString}");
  });
});
