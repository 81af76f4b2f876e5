import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { projectFolder } from "../support/built.ts";

const MAX_COLUMNS = 120;
const MAX_FILES = 30;

let sources: readonly (readonly [file: string, source: ts.SourceFile])[];

beforeAll(async () => {
  const { stdout } = await promisify(execFile)("git", ["ls-files", "*.ts", "*.mjs"], { cwd: projectFolder });
  const files = stdout.split("\n").filter((file) => file !== "");
  sources = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(projectFolder, file), "utf8");
      return [file, ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true)] as const;
    }),
  );
});

describe("the sources", () => {
  it(`have no comment over ${MAX_COLUMNS} columns`, () => {
    const wide = sources.flatMap(([file, source]) => {
      const lines = source.text.split("\n");
      return lines.flatMap((line, index) => {
        const isComment = /^\s*(?:\/\/|\/\*|\*)/.test(line);
        // A line of a program keeps its length, as of a URL or a table of test cases; its comment does not.
        return isComment && line.length > MAX_COLUMNS ? [`${file}:${index + 1}`] : [];
      });
    });
    expect(wide).toEqual([]);
  });

  it("say in comments who acts, in the words of the field", () => {
    const words = /\b(?:whoever|nobody|somebody|anybody|begun|mends?|mended|beside|is told of|tells of|so many)\b/i;
    const found = sources.flatMap(([file, source]) => {
      if (!file.startsWith("src/")) return [];
      const lines = source.text.split("\n");
      return lines.flatMap((line, index) => {
        const [, comment = ""] = /(?:^\s*(?:\/\*)?\*|\/\/ )(.*)/.exec(line) ?? [];
        return words.test(comment) ? [`${file}:${index + 1}`] : [];
      });
    });
    expect(found).toEqual([]);
  });

  it(`lie in folders of at most ${MAX_FILES} files`, () => {
    const counts = new Map<string, number>();
    for (const [file] of sources) {
      if (/^(?:src|test)\//.test(file)) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > MAX_FILES)).toEqual([]);
  });

  it("export no two things by one name", () => {
    const owners = new Map<string, string[]>();
    for (const [file, source] of sources) {
      if (!file.startsWith("src/") || file.endsWith(".d.ts")) continue;
      for (const name of exportedNames(source)) owners.set(name, [...(owners.get(name) ?? []), file]);
    }
    expect([...owners].filter(([, files]) => files.length > 1)).toEqual([]);
  });
});

/** The names that a file declares and exports; what it re-exports is another file's. */
function exportedNames(source: ts.SourceFile): readonly string[] {
  return source.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    }
    const { name } = statement as ts.DeclarationStatement;
    return name === undefined ? [] : [name.text];
  });
}
