import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** One rule of the spec, with what implements and checks it. */
interface Rule {
  readonly line: number;
  readonly section: string;
  readonly rule: string;
  readonly sources: string[];
  readonly tests: { readonly line: number; readonly file: string; readonly titles: string[] }[];
}

/** How many rules of each section are mapped, so that none is lost. */
const RULES: Readonly<Record<string, number>> = {
  "1": 18,
  "2.1": 5,
  "2.2": 1,
  "2.3": 5,
  "2.4": 13,
  "2.5": 2,
  "4.1": 11,
  "4.2": 16,
  "4.3": 11,
  "4.4": 7,
  "4.5": 8,
  "4.6": 10,
  "4.7": 5,
  "5.1": 10,
  "5.2": 3,
  "6": 4,
  "7.1": 9,
  "7.2": 9,
  "WebDAV 1": 1,
  "WebDAV 2": 10,
  "WebDAV 3": 7,
  "WebDAV 4": 6,
  "WebDAV 5": 5,
  "WebDAV 6": 13,
  "WebDAV 8": 4,
  "WebDAV 9": 3,
  "WebDAV 10": 4,
  "Uploads 1": 5,
  "Uploads 2": 5,
  "Uploads 3": 10,
  "Uploads 4": 7,
  "Uploads 5": 7,
  "Uploads 6": 1,
  "Uploads 7": 3,
  "Uploads 8": 3,
  "Uploads 9": 1,
  "Uploads 10": 1,
  "Uploads 14": 1,
  "Links 1": 5,
  "Links 2": 3,
  "Links 3": 6,
  "Links 4": 1,
  "Links 5": 3,
  "Links 6": 5,
  "Links 7": 2,
  "Links 8": 1,
  "Links 9": 3,
  "Links 10": 1,
  "Links 11": 1,
};

const text = readFileSync(`${root}docs/spec-map.md`, "utf8");
const { rules, unknown } = readRules(text);

/**
 * Reads the lists below the headings of sections; `unknown` are lines there that have none of the forms, or come out of
 * order.
 */
function readRules(markdown: string): { readonly rules: readonly Rule[]; readonly unknown: readonly string[] } {
  const rules: Rule[] = [];
  const unknown: string[] = [];
  let section: string | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    const line = index + 1;
    const [, name] = /^## ((?:WebDAV |Uploads |Links )?\d+(?:\.\d+)?) \S/.exec(text) ?? [];
    section = name ?? section;
    if (section === undefined || name !== undefined || text === "") continue;
    const [, rule] = /^- (\S.*)$/.exec(text) ?? [];
    if (rule !== undefined) rules.push({ line, section, rule, sources: [], tests: [] });
    else if (!readEntry(text, line, rules.at(-1))) unknown.push(`line ${line}: ${text}`);
  }
  return { rules, unknown };
}

/**
 * Reads a line below a rule: its sources, a file of tests, or the title of one; a title goes to its closing quotation
 * mark at the end.
 */
function readEntry(text: string, line: number, rule: Rule | undefined): boolean {
  const [, sources] = /^ {2}- Source: (`[^`]+`(?:, `[^`]+`)*)$/.exec(text) ?? [];
  const [, file] = /^ {2}- `([^`]+)`$/.exec(text) ?? [];
  const [, title] = /^ {4}- "(.+)"$/.exec(text) ?? [];
  if (sources !== undefined) rule?.sources.push(...sources.slice(1, -1).split("`, `"));
  if (file !== undefined) rule?.tests.push({ line, file: `test/${file}`, titles: [] });
  const isTitle = title !== undefined && rule?.tests.at(-1)?.titles.push(title) !== undefined;
  return rule !== undefined && (sources !== undefined || file !== undefined || isTitle);
}

const titlesOfFile = new Map<string, ReadonlySet<string>>();

/** The titles of a test file's `it(...)` and `it.each(...)(...)`, as they are written. */
function titlesOf(file: string): ReadonlySet<string> {
  const known = titlesOfFile.get(file);
  if (known !== undefined) return known;
  const titles = new Set<string>();
  const source = ts.createSourceFile(file, readFileSync(root + file, "utf8"), ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    const [first] = ts.isCallExpression(node) && isIt(node.expression) ? node.arguments : [];
    if (first !== undefined && ts.isStringLiteralLike(first)) titles.add(first.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  titlesOfFile.set(file, titles);
  return titles;
}

function isIt(callee: ts.Expression): boolean {
  if (ts.isIdentifier(callee)) return callee.text === "it";
  if (!ts.isCallExpression(callee) || !ts.isPropertyAccessExpression(callee.expression)) return false;
  return isIt(callee.expression.expression) && callee.expression.name.text === "each";
}

describe("docs/spec-map.md", () => {
  it("has every rule of every section that is built", () => {
    const found: Record<string, number> = {};
    for (const { section } of rules) {
      const name = section.startsWith("1.") ? "1" : section;
      found[name] = (found[name] ?? 0) + 1;
    }
    expect(found).toEqual(RULES);
  });

  it("has nothing below the headings but rules, sources, files of tests and their titles", () => {
    expect(unknown).toEqual([]);
  });

  it("has complete rules only: a text, a source and a test each", () => {
    for (const { line, rule, sources, tests } of rules) {
      expect(rule.length, `line ${line}: the rule`).toBeGreaterThan(10);
      expect(sources.length, `line ${line}: the sources`).toBeGreaterThan(0);
      expect(tests.length, `line ${line}: the tests`).toBeGreaterThan(0);
      for (const { line, titles } of tests) expect(titles.length, `line ${line}: the titles`).toBeGreaterThan(0);
    }
  });

  it("names sources that exist", () => {
    for (const { line, sources } of rules) {
      for (const path of sources) expect(existsSync(`${root}src/${path}`), `line ${line}: src/${path}`).toBe(true);
    }
  });

  it("names tests that exist, by file and exact title", () => {
    for (const { line, file, titles } of rules.flatMap(({ tests }) => tests)) {
      expect(existsSync(root + file), `line ${line}: ${file}`).toBe(true);
      for (const title of titles) expect(titlesOf(file), `line ${line}: ${file}`).toContain(title);
    }
  });

  it("names every rule once", () => {
    const names = rules.map(({ section, rule }) => `${section} ${rule}`);
    expect(new Set(names).size).toBe(rules.length);
  });

  it("leaves no rule for later", () => {
    expect(text).not.toMatch(/not covered|not there yet/i);
  });

  it("is read line by line", () => {
    const page = [
      "Before.",
      "## 1.1 A",
      "",
      "- rule",
      "  - Source: `a.ts`, `b.ts`",
      "  - `c.test.ts`",
      '    - "d "e""',
    ];
    const read = { line: 4, section: "1.1", rule: "rule", sources: ["a.ts", "b.ts"] };
    const tests = [{ line: 6, file: "test/c.test.ts", titles: ['d "e"'] }];
    expect(readRules(page.join("\n"))).toEqual({ rules: [{ ...read, tests }], unknown: [] });
  });

  it.each([
    "  - Source: `a.ts`",
    "  - `a.test.ts`",
    '    - "title"',
    "- rule\n    - `a.ts`",
    '- rule\n    - "title"',
    "- rule\n  - Source: a.ts",
    "- rule\n  - `a.test.ts`: title",
    "- rule\n  - `a.test.ts`\n    - title",
    "text",
  ])("is not read where a line has another form: %j", (lines) => {
    expect(readRules(`## 1.1 A\n${lines}`).unknown).toHaveLength(1);
  });
});
