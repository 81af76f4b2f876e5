import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

/**
 * Builds the program of a folder of this one's parent. Returns its path, in a folder that is the caller's to remove.
 */
export async function buildProgram(
  of: "uploads" | "quota" | "trash" | "versions",
): Promise<{ readonly folder: string; readonly program: string }> {
  const folder = await mkdtemp(join(tmpdir(), `fileferry-${of}-program-`));
  const program = join(folder, "program.mjs");
  await build({
    entryPoints: [new URL(`../${of}/program.ts`, import.meta.url).pathname],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    // Packages for Node may load modules of Node by `require`.
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return { folder, program };
}

/** What a process said before it ended. */
export interface ProgramRun {
  readonly lines: readonly string[];
  readonly isKilled: boolean;
}

/** Runs the program, and kills it after a time, or after a number of lines. */
export async function runProgram(
  program: string,
  args: readonly string[],
  kill: { readonly milliseconds: number; readonly lines: number },
): Promise<ProgramRun> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const timer = setTimeout(() => child.kill("SIGKILL"), kill.milliseconds);
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => {
    lines.push(line);
    if (lines.length >= kill.lines) child.kill("SIGKILL");
  });
  const closed = once(reader, "close");
  const [code] = await once(child, "exit");
  await closed;
  clearTimeout(timer);
  if (code !== null && code !== 0) throw new Error(`The program ended with ${code}`);
  return { lines, isKilled: code === null };
}
