import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { parse } from "shell-quote";
import { createProgram } from "../../src/cli/program.ts";
import { projectFolder } from "../support/built.ts";
import { toSteps } from "./transcript.ts";

/** Programs that pages may name beside our own. */
const KNOWN = new Set(
  `apt-get aws base64 bun caddy cat cd certbot chmod chown cmp cp curl date deno diff docker echo export find flyctl gh git grep head htpasswd install jq
  journalctl kubectl ln ls mkdir mv nginx openssl podman printf psql redis-cli redis-server rm sed set sftp sha256sum sleep sort ssh ssh-keygen systemctl tail tar
  tee test time touch true unzip useradd usermod wget wrangler xargs`.split(/\s+/),
);

const KEYWORDS = new Set([
  "do",
  "done",
  "else",
  "fi",
  "for",
  "function",
  "if",
  "in",
  "then",
  "until",
  "while",
  "{",
  "}",
]);

/** Stand in front of another command. */
const PREFIXES = new Set(["env", "exec", "sudo", "time", "!", "do", "then", "else"]);

/** What is wrong with the commands of a text for a shell, a line each: nothing of it is run. */
export async function findShellFaults(text: string): Promise<readonly string[]> {
  const syntax = await findSyntaxFault(text);
  if (syntax !== undefined) return [syntax];
  const faults = await Promise.all(toCommands(text).map(findFault));
  return faults.filter((fault) => fault !== undefined);
}

/** The commands of a transcript. */
export function toTyped(transcript: string): string {
  return toSteps(transcript)
    .map(({ command }) => `${command}\n`)
    .join("");
}

async function findSyntaxFault(text: string): Promise<string | undefined> {
  const checking = promisify(execFile)("bash", ["-n", "-c", text]);
  return checking.then(
    () => undefined,
    (error: { stderr: string }) => error.stderr.trim(),
  );
}

/** The words of each command, without redirections and what is assigned for it. */
function toCommands(text: string): readonly (readonly string[])[] {
  const withoutDocuments = text.replace(/<<-?\s*(['"]?)(\w+)\1(.*)\n[\s\S]*?^\s*\2$/gm, "$3");
  const lines = withoutDocuments.replace(/\\\n/g, " ").split("\n");
  return lines.flatMap(splitLine).map(withoutPrefixes).filter(isCommand);
}

function splitLine(line: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]];
  let isTarget = false;
  for (const entry of parse(line, (name) => `$${name}`)) {
    if (typeof entry === "object" && "op" in entry && entry.op !== "glob") {
      isTarget = /^(?:>|>>|<|>&)$/.test(entry.op);
      if (!isTarget) commands.push([]);
      else if (/^\d$/.test(commands.at(-1)?.at(-1) ?? "")) commands.at(-1)?.pop();
      continue;
    }
    const word = typeof entry === "string" ? entry : "pattern" in entry ? entry.pattern : undefined;
    if (word !== undefined && !isTarget) commands.at(-1)?.push(word);
    isTarget = false;
  }
  return commands;
}

function withoutPrefixes(words: readonly string[]): readonly string[] {
  const isUser = (at: number): boolean => words[at] === "-u" && words[at - 1] === "sudo";
  const start = words.findIndex(
    (word, at) => !PREFIXES.has(word) && !/^\w+=/.test(word) && !isUser(at) && !isUser(at - 1),
  );
  return start < 0 ? [] : words.slice(start);
}

function isCommand([name]: readonly string[]): boolean {
  return name !== undefined && !KEYWORDS.has(name);
}

async function findFault([name = "", ...args]: readonly string[]): Promise<string | undefined> {
  if (name === "fileferry" || name.endsWith("/node_modules/.bin/fileferry")) return findOptionFault(args);
  if (name === "npm") return findNpmFault(args);
  // Its own options stand in front of the program.
  if (name === "npx") return findFault(args.slice(args.findIndex((word) => !word.startsWith("-"))));
  if (name === "node" || name === "bash" || name === "sh") return findScriptFault(name, args);
  if (["tsc", "vitest", "openapi-typescript"].includes(name) || KNOWN.has(name)) return undefined;
  return `${name}: is none of the known programs`;
}

/** What the command says of its arguments; it does nothing of what they ask. */
export async function findOptionFault(args: readonly string[]): Promise<string | undefined> {
  let said: string | undefined;
  const program = createProgram(() => undefined);
  const disarm = (command: Command): void => {
    command.configureOutput({ writeOut: () => undefined, outputError: (text) => (said = text.trim()) });
    if (command.commands.length === 0) command.exitOverride().action(() => undefined);
    for (const one of command.commands) disarm(one);
  };
  disarm(program);
  await program.parseAsync(args, { from: "user" }).catch(() => undefined);
  return said === undefined ? undefined : `fileferry ${args.join(" ")}: ${said}`;
}

async function findNpmFault([command = "", ...args]: readonly string[]): Promise<string | undefined> {
  const prefix = args.indexOf("--prefix");
  const place = prefix < 0 ? "" : (args[prefix + 1] ?? "");
  const [script = ""] = args.filter((_, index) => prefix < 0 || (index !== prefix && index !== prefix + 1));
  const manifest = join(projectFolder, place, "package.json");
  if (!existsSync(manifest)) return `npm: ${place} has no package.json`;
  const { scripts = {} } = JSON.parse(await readFile(manifest, "utf8"));
  if (command === "run" && scripts[script] === undefined) return `npm run ${script}: there is no such script`;
  if (["test", "start"].includes(command) && scripts[command] === undefined) return `npm ${command}: there is none`;
  return ["ci", "init", "install", "pkg", "run", "test", "start", "pack"].includes(command)
    ? undefined
    : `npm ${command}: is unknown`;
}

/** A script of ours has to be there. */
function findScriptFault(name: string, args: readonly string[]): string | undefined {
  const script = args.find((word) => !word.startsWith("-"));
  if (script === undefined || !/^(?:\.ci|bench|examples|scripts|site|test)\//.test(script)) return undefined;
  return existsSync(join(projectFolder, script)) ? undefined : `${name} ${script}: is not there`;
}
