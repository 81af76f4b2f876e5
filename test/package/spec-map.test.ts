import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** One rule of the spec, with what keeps it. */
interface Row {
  readonly line: number;
  readonly section: string;
  readonly rule: string;
  readonly sources: readonly string[];
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

/** How many rules of each section of the spec are mapped: one that goes missing is missed. */
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
};

const text = readFileSync(`${root}docs/spec-map.md`, "utf8");
const rows = readRows(text);

function readRows(markdown: string): readonly Row[] {
  return markdown.split("\n").flatMap((line, index) => {
    if (!/^\|.*\|$/.test(line) || /^\| ?(Section|---)/.test(line)) return [];
    const cells = line.slice(1, -1).split(/(?<!\\)\|/);
    const [section = "", rule = "", source = "", test = ""] = cells.map((cell) => cell.trim().replaceAll("\\|", "|"));
    expect(cells, `line ${index + 1} has four cells`).toHaveLength(4);
    return [{ line: index + 1, section, rule, sources: readSources(source), tests: readTests(test) }];
  });
}

function readSources(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
}

/** Entries such as `spec/login.test.ts`: "title"; a title is kept to its closing quotation mark before `<br>` or the end. */
function readTests(cell: string): Row["tests"] {
  return cell.split("<br>").map((entry) => {
    const [, file = "", title = ""] = /^`([^`]+)`: "(.*)"$/.exec(entry.trim()) ?? [];
    return { file: `test/${file}`, title };
  });
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
  it("has a row for every rule of every section that is built", () => {
    const found: Record<string, number> = {};
    for (const { section } of rows) {
      const name = section.startsWith("1.") ? "1" : section;
      found[name] = (found[name] ?? 0) + 1;
    }
    expect(found).toEqual(RULES);
  });

  it("has complete rows only: a rule, a source and a test each", () => {
    for (const { line, rule, sources, tests } of rows) {
      expect(rule.length, `line ${line}: the rule`).toBeGreaterThan(10);
      expect(sources.length, `line ${line}: the sources`).toBeGreaterThan(0);
      expect(tests.length, `line ${line}: the tests`).toBeGreaterThan(0);
    }
  });

  it("names sources that exist", () => {
    for (const { line, sources } of rows) {
      for (const path of sources) expect(existsSync(`${root}src/${path}`), `line ${line}: src/${path}`).toBe(true);
    }
  });

  it("names tests that exist, by file and exact title", () => {
    for (const { line, tests } of rows) {
      for (const { file, title } of tests) {
        expect(existsSync(root + file) && title !== "", `line ${line}: ${file}`).toBe(true);
        expect(titlesOf(file), `line ${line}: ${file}`).toContain(title);
      }
    }
  });

  it("names every rule once", () => {
    const rules = rows.map(({ section, rule }) => `${section} ${rule}`);
    expect(new Set(rules).size).toBe(rules.length);
  });

  it("leaves no rule for later", () => {
    expect(text).not.toMatch(/not covered|not there yet/i);
  });
});
