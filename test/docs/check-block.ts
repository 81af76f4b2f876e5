import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import ts from "typescript";
import { parseAllDocuments } from "yaml";
import { describeIssues } from "../../src/cli/config/issues.ts";
import { configFileSchema } from "../../src/cli/config/schema.ts";
import { projectFolder } from "../support/built.ts";
import { type Block, toPlace, toWhole } from "./blocks.ts";
import { findDockerfileFaults } from "./dockerfile.ts";
import { findRequestFaults } from "./http-request.ts";
import { findShellFaults, toTyped } from "./shell.ts";
import { findUnitFaults } from "./systemd.ts";
import type { Finding } from "./typescript.ts";

/** Languages of the code that TypeScript checks. */
export const CODE: readonly string[] = ["ts", "tsx", "js"];

/** Its transcripts are played by a test of their own. */
const REPLAYED = "docs/quick-start.md";

/** An account, for configurations that are shown in part. */
const SOMEBODY = [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }];

/** What is wrong with a block, a line each; `findings` are those of TypeScript. */
export async function findBlockFaults(block: Block, findings: ReadonlyMap<Block, Finding>): Promise<readonly string[]> {
  const { unknown, reason, file, language, page } = block;
  if (unknown.length > 0) return unknown.map((text) => `${toPlace(block)}: <!-- ${text} --> is none that we know`);
  if (reason !== undefined) return [];
  if (file !== undefined) return at(block, await findDifference(block, file));
  if (CODE.includes(language)) return findings.get(block)?.faults ?? [`${toPlace(block)}: was not checked`];
  if (language === "json" || language === "jsonc") return at(block, findJsonFaults(block));
  if (language === "sh") return at(block, await findShellFaults(toWhole(block)));
  if (language === "console") return page === REPLAYED ? [] : at(block, await findShellFaults(toTyped(block.text)));
  if (language === "yaml") return at(block, findYamlFaults(toWhole(block)));
  if (language === "toml") return at(block, findTomlFaults(toWhole(block)));
  if (language === "ini") return at(block, await findUnitFaults(toWhole(block)));
  if (language === "dockerfile") return at(block, await findDockerfileFaults(toWhole(block)));
  if (language === "http") return at(block, findRequestFaults(toWhole(block)));
  if (language === "text") return at(block, await findPictureFaults(block));
  return [`${toPlace(block)}: ${language || "no language"} is none that we know`];
}

function at(block: Block, faults: readonly string[]): readonly string[] {
  return faults.map((fault) => `${toPlace(block)}: ${fault}`);
}

/** A block that shows a file has to be a part of it; `// ...` stands for what is left out, and ends the part. */
async function findDifference({ text }: Block, file: string): Promise<readonly string[]> {
  if (!existsSync(join(projectFolder, file))) return [`${file} is not there`];
  const shown = text.split(/^\s*(?:\/\/|#) \.\.\.$/m)[0]?.trim() ?? "";
  return (await readFile(join(projectFolder, file), "utf8")).includes(shown) ? [] : [`is not what ${file} has`];
}

/** A picture has nothing but ports to be compared with: each has to stand in a file beside its page. */
async function findPictureFaults({ page, text }: Block): Promise<readonly string[]> {
  const folder = join(projectFolder, dirname(page));
  const names = (await readdir(folder)).filter((name) => /\.(?:conf|json)$/.test(name));
  const beside = (await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")))).join("\n");
  const ports = text.match(/:\d+\b/g) ?? [];
  if (ports.length === 0) return ["shows nothing that could be compared with anything"];
  return ports.filter((port) => !beside.includes(port)).map((port) => `${port}: is in none of ${names.join(", ")}`);
}

/** JSON has to be right, and what is a configuration, or a part of one, has to do for the command. */
function findJsonFaults(block: Block): readonly string[] {
  const parsed = parseJson(block);
  if ("fault" in parsed) return [parsed.fault];
  const { value } = parsed;
  if (block.isOther || typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const isWhole = "authentication" in value;
  const judged = configFileSchema.safeParse(isWhole ? value : { authentication: SOMEBODY, ...value });
  if (judged.success) return [];
  const isOther = judged.error.issues.some(({ code, path }) => code === "unrecognized_keys" && path.length === 0);
  return isOther && !isWhole ? [] : describeIssues(judged.error);
}

function parseJson(block: Block): { readonly value: unknown } | { readonly fault: string } {
  const text = toWhole(block);
  if (block.language === "json") {
    try {
      return { value: JSON.parse(text) };
    } catch (error) {
      return { fault: String(error) };
    }
  }
  const { config, error } = ts.parseConfigFileTextToJson("block.jsonc", text);
  return error === undefined ? { value: config } : { fault: ts.flattenDiagnosticMessageText(error.messageText, " ") };
}

function findYamlFaults(text: string): readonly string[] {
  return parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => message));
}

function findTomlFaults(text: string): readonly string[] {
  try {
    parseToml(text);
    return [];
  } catch (error) {
    return [String(error)];
  }
}
