import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseWords, quote } from "shell-quote";
import { defaultPort } from "../../src/cli/config/serve-settings.ts";
import { projectFolder } from "../support/built.ts";
import { findCommandLineFault } from "./command-line.ts";
import { findShellFaults } from "./shell.ts";

/** An instruction of a Dockerfile, with all that stands behind its name. */
interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The instructions of a Dockerfile, those over lines as one. */
export function parseDockerfile(text: string): readonly Instruction[] {
  const lines = text.replace(/\\\n/g, " ").split("\n");
  return lines
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", rest = ""] = /^(\S+)\s*(.*)$/.exec(line) ?? [];
      return { name, rest };
    });
}

/**
 * What is wrong with a Dockerfile whose container runs the command, a line each: its instructions are played by a test
 * of their own.
 */
export async function findDockerfileFaults(text: string): Promise<readonly string[]> {
  const instructions = parseDockerfile(text);
  const isWhole = instructions[0]?.name === "FROM" && instructions.at(-1)?.name === "CMD";
  const found = await Promise.all(
    instructions.map(async ({ name, rest }, index) => {
      const find = FAULTS[name];
      if (find === undefined) return [`${name}: is no instruction that we know`];
      return (await find(rest, instructions.slice(0, index))).map((fault) => `${name} ${rest}: ${fault}`);
    }),
  );
  return [...(isWhole ? [] : ["does not begin with FROM and end with CMD"]), ...found.flat()];
}

type Find = (rest: string, former: readonly Instruction[]) => readonly string[] | Promise<readonly string[]>;

/** What each instruction is compared with; those that have nothing are played alone. */
const FAULTS: Readonly<Record<string, Find>> = {
  FROM: findImageFaults,
  WORKDIR: () => [],
  COPY(rest, former) {
    const [, from] = /^--from=(\S+)/.exec(rest) ?? [];
    const isThere = from === undefined || former.some((one) => one.name === "FROM" && one.rest.endsWith(` AS ${from}`));
    return isThere ? [] : [`there is no stage ${from}`];
  },
  RUN: findShellFaults,
  ENV: (rest) => (rest === "PATH=/app/node_modules/.bin:$PATH" ? [] : ["is no variable that the command needs"]),
  USER: (rest) => (rest === "node" ? [] : ["is no user of the image"]),
  VOLUME: (rest, former) => (former.some((one) => one.rest.includes(`mkdir ${rest} `)) ? [] : ["nobody has made it"]),
  EXPOSE: (rest) => (rest === String(defaultPort) ? [] : ["the command listens elsewhere"]),
  HEALTHCHECK: (rest) => (rest.includes("/__svc__/health") ? [] : ["does not ask for the health"]),
  CMD: findCommandFaults,
};

/** The package has to run on it. */
function findImageFaults(rest: string): readonly string[] {
  const { engines } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const oldest = Number(/^>=(\d+)$/.exec(engines.node)?.[1]);
  const major = Number(/^node:(\d+)(?:-[\w.]+)?(?: AS \w+)?$/.exec(rest)?.[1]);
  return major >= oldest ? [] : ["is no Node that the package runs on"];
}

async function findCommandFaults(rest: string): Promise<readonly string[]> {
  try {
    const fault = await findCommandLineFault(JSON.parse(rest));
    return fault === undefined ? [] : [fault];
  } catch {
    return ["is no list of words"];
  }
}

/** Folders of a container that instructions name. */
const OF_CONTAINER = /(?<![\w.-])\/(?=(?:app|build|files|etc\/fileferry)\b)/g;

/**
 * Converts the instructions to commands for bash. Each stage has a folder of `roots` as its root, and links to the
 * folder `context` instead of copying it. All files belong to the user of the test, as it cannot create other users.
 */
export function toCommands(text: string, context: string, roots: string): string {
  let count = 0;
  let root = "";
  const commands = parseDockerfile(text).map(({ name, rest }) => {
    const own = rest.replace(OF_CONTAINER, `${root}/`);
    switch (name) {
      case "FROM":
        root = join(roots, / AS (\w+)$/.exec(rest)?.[1] ?? `stage-${count++}`);
        return `mkdir -p ${root} && cd ${root}`;
      case "WORKDIR":
        return `mkdir -p ${own} && cd ${own}`;
      case "COPY":
        return toCopy(rest, context, roots);
      case "RUN":
        return own.replace(/chown \w+/g, 'chown "$(id -un)"');
      case "CMD":
        return quote(parseWords(JSON.parse(own).join(" ")).map(String));
      default:
        return "";
    }
  });
  return commands.join("\n");
}

function toCopy(rest: string, context: string, roots: string): string {
  const [, stage, source = "", target = ""] = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? [];
  if (stage !== undefined) return `cp ${join(roots, stage, source)} ${target}`;
  if (source !== "." || target !== ".") throw new Error(`COPY ${rest}: is not known here`);
  return `rmdir "$PWD" && ln -s ${context} "$PWD" && cd "$PWD"`;
}
