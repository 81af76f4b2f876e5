import { join, relative } from "node:path";
import ts from "typescript";
import { projectFolder } from "../built.ts";

/** The platform's classes through which a service reads requests, and the methods that look a name up. */
const READERS = ["Headers", "URLSearchParams"] as const;
const METHODS = ["get", "getAll", "has"];

/** The names that the code of a service looks up in one of those classes. */
export interface ReadNames {
  /** The names in the code, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Where a name may be any text, as `http/forwarded.ts: name`: mostly that of an option. */
  readonly open: readonly string[];
}

/** Asks the compiler for every look-up in an object of the platform's types in the service's code. */
export function findReadNames(): Readonly<Record<(typeof READERS)[number], ReadNames>> {
  const source = join(projectFolder, "src");
  const { config } = ts.readConfigFile(join(projectFolder, "tsconfig.core.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, projectFolder);
  const program = ts.createProgram([join(source, "service/service.ts"), join(source, "service/openapi.ts")], options);
  const checker = program.getTypeChecker();
  const found = {
    Headers: { names: new Set<string>(), open: [] as string[] },
    URLSearchParams: { names: new Set<string>(), open: [] as string[] },
  };

  function visit(file: ts.SourceFile, node: ts.Node): void {
    const read = ts.isCallExpression(node) ? toRead(checker, node) : undefined;
    if (read !== undefined) {
      const { names, open } = found[read.reader];
      const texts = toTexts(checker.getTypeAtLocation(read.name));
      for (const text of texts ?? []) names.add(text.toLowerCase());
      if (texts === undefined) open.push(`${relative(source, file.fileName)}: ${read.name.getText(file)}`);
    }
    ts.forEachChild(node, (child) => visit(file, child));
  }

  for (const file of program.getSourceFiles()) if (file.fileName.startsWith(`${source}/`)) visit(file, file);
  return found;
}

/** Reads a call that looks a name up. */
function toRead(
  checker: ts.TypeChecker,
  { expression, arguments: [name] }: ts.CallExpression,
): { readonly reader: (typeof READERS)[number]; readonly name: ts.Expression } | undefined {
  if (name === undefined || !ts.isPropertyAccessExpression(expression)) return undefined;
  if (!METHODS.includes(expression.name.text)) return undefined;
  const type = checker.getNonNullableType(checker.getTypeAtLocation(expression.expression));
  const reader = READERS.find((known) => type.getSymbol()?.name === known);
  return reader && { reader, name };
}

/** The texts that a type allows; `undefined` if it allows any. */
function toTexts(type: ts.Type): readonly string[] | undefined {
  const parts = type.isUnion() ? type.types : [type];
  const texts = parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
  return texts.length === parts.length ? texts : undefined;
}
