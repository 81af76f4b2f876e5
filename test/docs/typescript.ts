import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { projectFolder } from "../support/built.ts";
import { type Block, toPlace, toWhole } from "./blocks.ts";

interface Unit {
  readonly block: Block;
  readonly file: string;
  readonly text: string;
  /** Where the block's own text begins, and ends, in it. */
  readonly start: number;
  readonly end: number;
}

/** What TypeScript finds in blocks, a line each; and the module that is not installed, where that is all. */
export interface Finding {
  readonly faults: readonly string[];
  readonly missing?: string;
}

/** Here the modules of the frameworks are found as well as the project's own. */
const PLACE = join(projectFolder, "examples/frameworks");

const frameworks = Object.keys(JSON.parse(readFileSync(join(PLACE, "package.json"), "utf8")).dependencies);

/** What every page takes for given: the parts that its reader has chosen. */
const GIVEN = `
  declare global {
    const storage: import("fileferry").StorageAdapter;
    const authentication: import("fileferry").Authenticator;
    const service: import("fileferry").FileService;
  }
  export {};
`;

/** Checks blocks by one program, with the project's own options: `fileferry/...` is its source. */
export function checkTypes(blocks: readonly Block[]): ReadonlyMap<Block, Finding> {
  const units = toUnits(blocks);
  const texts = new Map([[join(PLACE, "given.ts"), GIVEN], ...units.map(({ file, text }) => [file, text] as const)]);
  const options = readOptions();
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.getSourceFile = (file, settings, ...rest) => {
    const text = texts.get(file);
    return text === undefined
      ? getSourceFile(file, settings, ...rest)
      : ts.createSourceFile(file, text, settings, true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return new Map(units.map((unit) => [unit.block, findFaults(program, unit)]));
}

function readOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile(join(projectFolder, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, projectFolder);
  // A part of a program need not use all that it has.
  return { ...options, jsx: ts.JsxEmit.ReactJSX, noUnusedLocals: false, noUnusedParameters: false };
}

function toUnits(blocks: readonly Block[]): readonly Unit[] {
  const former = new Map<string, string>();
  return blocks.map((block) => {
    const begun = block.continues ? (former.get(block.page) ?? "") : "";
    const whole = `${begun}${toWhole(block)}`;
    former.set(block.page, whole);
    const name = block.page.replace(/\W/g, "-");
    const start = begun.length + block.before.length;
    const file = join(PLACE, `${name}-${block.line}.${block.language === "tsx" ? "tsx" : "ts"}`);
    // A module, whatever it imports.
    return { block, file, text: `${whole}\nexport {};\n`, start, end: start + block.text.length };
  });
}

function findFaults(program: ts.Program, unit: Unit): Finding {
  const file = program.getSourceFile(unit.file);
  const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  const missing = found.map(toMissing).find((name) => name !== undefined);
  if (missing !== undefined) return { faults: [], missing };
  const faults = found.filter(({ start = 0 }) => !isFormer(unit, start)).map((each) => describe(unit, each));
  return { faults };
}

/** Whether a place is in a block that this one continues. That block reports its own errors. */
function isFormer({ block, start }: Unit, place: number): boolean {
  return block.continues && place < start - block.before.length;
}

function describe({ block, text, start, end }: Unit, { start: at = 0, messageText }: ts.Diagnostic): string {
  const message = ts.flattenDiagnosticMessageText(messageText, " ");
  const isOwn = at >= start && at <= end;
  const offset = isOwn ? text.slice(start, at).split("\n").length - 1 : 0;
  return `${toPlace(block, offset)}: ${isOwn ? "" : "in what is given: "}${message}`;
}

/** The module of a framework that a block imports, if the frameworks of the examples are not installed. */
function toMissing({ code, messageText }: ts.Diagnostic): string | undefined {
  if (code !== 2307 || existsSync(join(PLACE, "node_modules/express"))) return undefined;
  const [, name = ""] = /'([^']*)'/.exec(String(messageText)) ?? [];
  return frameworks.some((each) => name === each || name.startsWith(`${each}/`)) ? name : undefined;
}
