import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

/** The project's folder. */
export const projectFolder = fileURLToPath(new URL("../..", import.meta.url));

/** Where `npm run build` puts the package. Call {@link ensureBuilt} before looking. */
export const builtFolder = join(projectFolder, "dist");

/** The command, to be run by Node. */
export const builtCommand = join(builtFolder, "cli/main.js");

const cacheFolder = join(projectFolder, "node_modules/.cache/fileferry");
const lockFile = join(cacheFolder, "build.lock");

/**
 * Builds the package when `dist` is missing or older than its sources. A later caller, in this process or in another,
 * waits for the first one. The new build replaces the old one as a whole.
 */
export function ensureBuilt(): Promise<void> {
  // Looking at each source takes longer than the start of a command.
  ensured ??= buildIfStale().catch((error: unknown) => {
    ensured = undefined;
    throw error;
  });
  return ensured;
}

let ensured: Promise<void> | undefined;

async function buildIfStale(): Promise<void> {
  if (await isFresh()) return;
  await mkdir(cacheFolder, { recursive: true });
  await lock();
  try {
    if (!(await isFresh())) await build();
  } finally {
    await rm(lockFile, { force: true });
  }
}

async function build(): Promise<void> {
  const fresh = join(cacheFolder, "dist");
  const former = join(cacheFolder, "former");
  const tsup = join(projectFolder, "node_modules/tsup/dist/cli-default.js");
  try {
    const run = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: projectFolder });
    await run("build/clean.mjs", fresh);
    await run(tsup, "--out-dir", fresh, "--silent");
    await run("build/strip-marks.mjs", fresh);
    await run("build/escape-characters.mjs", fresh);
    await run("build/config-schema.mjs", fresh);
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`The build failed:\n${stdout}${stderr}`.slice(0, 4000));
  }
  await rm(former, { recursive: true, force: true });
  await rename(builtFolder, former).catch(ignoreMissing);
  await rename(fresh, builtFolder);
  await rm(former, { recursive: true, force: true });
}

async function isFresh(): Promise<boolean> {
  const built = await stat(builtCommand).catch(ignoreMissing);
  if (built === undefined || (await stat(join(builtFolder, "index.d.ts")).catch(ignoreMissing)) === undefined)
    return false;
  const sources = await readdir(join(projectFolder, "src"), { recursive: true });
  const scripts = await readdir(join(projectFolder, "build"));
  const inputs = [
    ...sources.map((name) => `src/${name}`),
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsup.config.ts",
    "docs/command.md",
    ...scripts.map((name) => `build/${name}`),
  ];
  const stats = await Promise.all(inputs.map((name) => stat(join(projectFolder, name)).catch(ignoreMissing)));
  return stats.every((input) => input === undefined || input.mtimeMs <= built.mtimeMs);
}

/** Takes the lock. A lock of a process that no longer exists counts as free. */
async function lock(): Promise<void> {
  for (;;) {
    try {
      const handle = await open(lockFile, "wx");
      await handle.writeFile(String(process.pid));
      await handle.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = Number(await readFile(lockFile, "utf8").catch(() => ""));
    if (owner > 0 && !isRunning(owner)) await rm(lockFile, { force: true });
    await delay(100);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function ignoreMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}

/** A run of the built `fileferry`, and what it has printed so far. */
export interface CommandRun {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** The exit status once it has ended; the signal's name when one killed it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

/**
 * Starts the command with these arguments. It ends with the test. Without `input` its stdin is empty. `by`: a program
 * that executes it, with arguments. `command`: the file of another command.
 */
export function startCommand(
  args: readonly string[],
  input = "",
  by: readonly string[] = [],
  command = builtCommand,
): CommandRun {
  const [program = "", ...rest] = [...by, process.execPath, command, ...args];
  const child = spawn(program, rest, { stdio: "pipe" });
  const printed = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed.stderr += text;
  });
  child.stdin.on("error", () => undefined).end(input);
  const ended = once(child, "close").then(([status, signal]) => status ?? signal);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, stdout: () => printed.stdout, stderr: () => printed.stderr, ended };
}

/** Runs the command to its end. */
export async function runCommand(
  args: readonly string[],
  input = "",
): Promise<{ status: number | NodeJS.Signals; stdout: string; stderr: string }> {
  const run = startCommand(args, input);
  return { status: await run.ended, stdout: run.stdout(), stderr: run.stderr() };
}

/** Starts the command and waits for its address; fails with what it printed when it ends before. */
export async function startServer(
  args: readonly string[],
  by: readonly string[] = [],
  command = builtCommand,
): Promise<CommandRun & { url: string }> {
  const run = startCommand(args, "", by, command);
  const url = await waitFor(() => /^Listening on (\S+)\n/m.exec(run.stdout())?.[1], run);
  return { ...run, url };
}

/** Waits until `find` gives something. */
export async function waitFor<T>(find: () => T | undefined, run: CommandRun): Promise<T> {
  let status: number | NodeJS.Signals | undefined;
  void run.ended.then((value) => {
    status = value;
  });
  for (const deadline = Date.now() + 40_000; ; ) {
    const found = find();
    if (found !== undefined) return found;
    if (status !== undefined || Date.now() > deadline) {
      throw new Error(`Waited in vain (status ${status}):\n${run.stdout()}${run.stderr()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A folder of its own, gone after the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
