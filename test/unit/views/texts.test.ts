import { describe, expect, it } from "vitest";
import { DONE_CODES } from "../../../src/contracts/texts.ts";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";
import { fillText } from "../../../src/views/texts.ts";

/** All texts of a language but its failures, by their names. */
function textsOf({ failures: _failures, ...texts }: typeof ENGLISH): [name: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]): [string, string][] =>
    typeof text === "string"
      ? [[name, text]]
      : Object.entries(text).map(([key, own]) => [`${name}.${key}`, own as string]),
  );
}

describe("the texts", () => {
  it("are all there in German, with the same values in them", () => {
    const german = new Map(textsOf(GERMAN));
    for (const [name, text] of textsOf(ENGLISH)) {
      const values = (of: string) => (of.match(/\{\w+\}/g) ?? []).sort();
      expect([name, values(german.get(name) ?? "")]).toEqual([name, values(text)]);
      expect(german.get(name), name).not.toBe("");
    }
    expect(german.size).toBe(textsOf(ENGLISH).length);
  });

  it("say something for every code of what a form has done", () => {
    for (const { done } of [ENGLISH, GERMAN]) expect(Object.keys(done).sort()).toEqual([...DONE_CODES].sort());
  });
});

describe("fillText", () => {
  it("fills in values as they are, and leaves what it has none for", () => {
    expect(fillText("{a} and {b} and {toString}", { a: "$& {b}", b: "2" })).toBe("$& {b} and 2 and {toString}");
  });
});
