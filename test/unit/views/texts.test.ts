import { readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { DONE_CODES } from "../../../src/contracts/pages/texts.ts";
import { fillText } from "../../../src/platform/fill-text.ts";
import { ENGLISH } from "../../../src/views/texts/english.ts";
import { BUILT_IN } from "../../../src/views/texts.ts";
import { projectFolder } from "../../support/built.ts";

/** All texts of a language except its failures, by their names. */
function textsOf({ failures: _failures, ...texts }: typeof ENGLISH): [name: string, text: string][] {
  return Object.entries(texts).flatMap(([name, text]): [string, string][] =>
    typeof text === "string"
      ? [[name, text]]
      : Object.entries(text).map(([key, own]) => [`${name}.${key}`, own as string]),
  );
}

/** The English texts that the comments of an interface quote last, by the names of its members. */
async function quotedTexts(path: string): Promise<Readonly<Record<string, string>>> {
  const file = ts.createSourceFile(
    path,
    await readFile(join(projectFolder, path), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  );
  const members = file.statements.filter(ts.isInterfaceDeclaration).flatMap((one) => [...one.members]);
  const quoted = members.flatMap((member) => {
    const comment = ts.getJSDocCommentsAndTags(member).map((part) => ts.getTextOfJSDocComment(part.comment) ?? "");
    const text = comment.join(" ").match(/`([^`]*)`\.?$/)?.[1];
    return text === undefined ? [] : [[member.name?.getText() ?? "", text]];
  });
  return Object.fromEntries(quoted);
}

describe("the texts", () => {
  it("of the script are those that the comments of its types quote", async () => {
    const quoted = await quotedTexts("src/contracts/pages/script-texts.ts");
    expect(Object.keys(quoted).length).toBeGreaterThan(20);
    expect(ENGLISH.script).toMatchObject(quoted);
  });

  it.each(BUILT_IN.map((texts) => [texts.language, texts] as const))(
    "all exist in %s, with the same placeholders",
    (_, texts) => {
      const translated = new Map(textsOf(texts));
      for (const [name, text] of textsOf(ENGLISH)) {
        const values = (of: string) => (of.match(/\{\w+\}/g) ?? []).sort();
        expect([name, values(translated.get(name) ?? "")]).toEqual([name, values(text)]);
        expect(translated.get(name), name).not.toBe("");
      }
      expect(translated.size).toBe(textsOf(ENGLISH).length);
    },
  );

  it("have a message for every result code of a form", () => {
    for (const { done } of BUILT_IN) expect(Object.keys(done).sort()).toEqual([...DONE_CODES].sort());
  });
});

describe("fillText", () => {
  it("inserts values unchanged, and keeps placeholders without a value", () => {
    expect(fillText("{a} and {b} and {toString}", { a: "$& {b}", b: "2" })).toBe("$& {b} and 2 and {toString}");
  });
});
