import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { projectFolder } from "../support/built.ts";

const MAX_COLUMNS = 160;
/** A row of a table cannot be wrapped. */
const MAX_COLUMNS_OF_ROW = 200;
const MAX_WORDS_OF_README = 900;
const MAX_WORDS_OF_DECISION = 400;

let pages: readonly (readonly [file: string, text: string])[];

beforeAll(async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "*.md"], { cwd: projectFolder });
  const files = stdout.split("\n").filter((file) => file !== "");
  pages = await Promise.all(
    files.map(async (file) => [file, await readFile(join(projectFolder, file), "utf8")] as const),
  );
});

describe("the pages", () => {
  it(`have no line over ${MAX_COLUMNS} columns, and no row of a table over ${MAX_COLUMNS_OF_ROW}`, () => {
    const wide = lines().filter(({ text }) => text.length > (text.startsWith("|") ? MAX_COLUMNS_OF_ROW : MAX_COLUMNS));
    expect(wide.map(({ place }) => place)).toEqual([]);
  });

  it("have one sentence on each line", () => {
    // The changelog has one line for each entry.
    const prose = lines().filter(({ place, isCode }) => !isCode && !place.startsWith("CHANGELOG.md"));
    expect(prose.filter(({ text }) => hasTwoSentences(text)).map(({ place }) => place)).toEqual([]);
  });

  it("say who acts, in the words of the field", () => {
    const words = /\b(?:whoever|nobody|begun|mends?|mended|is told of|tells of|so many)\b/i;
    const quoted = (text: string): string => text.replace(/"[^"]*"/g, "");
    expect(
      lines()
        .filter(({ text }) => words.test(quoted(text)))
        .map(({ place }) => place),
    ).toEqual([]);
  });

  it(`are a README of at most ${MAX_WORDS_OF_README} words`, () => {
    expect(countWords(textOf("README.md"))).toBeLessThanOrEqual(MAX_WORDS_OF_README);
  });

  it(`are decisions with a context, a decision and consequences, in at most ${MAX_WORDS_OF_DECISION} words`, () => {
    const decisions = pages.filter(([file]) => file.startsWith("docs/decisions/"));
    expect(decisions.length).toBeGreaterThan(0);
    const wrong = decisions.filter(([, text]) => {
      const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
      return headings.join() !== "Context,Decision,Consequences" || countWords(text) > MAX_WORDS_OF_DECISION;
    });
    expect(wrong.map(([file]) => file)).toEqual([]);
  });
});

interface Line {
  readonly place: string;
  readonly text: string;
  /** Whether it is in a code block. */
  readonly isCode: boolean;
}

function lines(): readonly Line[] {
  return pages.flatMap(([file, page]) => {
    let isCode = false;
    return page.split("\n").map((text, index) => {
      if (/^\s*```/.test(text)) isCode = !isCode;
      return { place: `${file}:${index + 1}`, text, isCode };
    });
  });
}

/**
 * Whether a line of prose ends a sentence in the middle, except after a bold label. Code, parentheses and quotations
 * may have any text.
 */
function hasTwoSentences(text: string): boolean {
  if (/^\s*(?:\||#|<|```)/.test(text)) return false;
  const plain = text.replace(/`[^`]*`|\([^()]*\)|"[^"]*"/g, "x").replace(/^\s*(?:[-*]|\d+\.) /, "");
  return /(?<!e\.g|i\.e)[\w)\]]\. +[A-Z[]/.test(plain);
}

function textOf(file: string): string {
  return pages.find(([name]) => name === file)?.[1] ?? "";
}

/** The words of a page: what has a letter or a digit. */
function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
