import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const SOURCE = fileURLToPath(new URL("../../../src/storage/disk.ts", import.meta.url));

/** How another process that uses the disk storage is run. */
export interface DiskProcessOptions {
  /** User and group; only root may choose. */
  readonly uid?: number;
  readonly gid?: number;
  /** The most descriptors that it may have open. */
  readonly descriptors?: number;
  /** A command that runs it, with its options. */
  readonly under?: readonly string[];
  /** The longest file that it may write, in blocks of 512 bytes. */
  readonly fileBlocks?: number;
}

/** A folder with the disk storage in JavaScript, as `disk.mjs`, which other users can read too. */
export async function prepareDiskProcesses(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-process-"));
  await build({
    entryPoints: [SOURCE],
    outfile: join(folder, "disk.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
  });
  await chmod(folder, 0o755);
  return folder;
}

/** Runs a module text with `createDiskStorage` in scope, and `root` from the argument. */
export function startDiskProcess(
  folder: string,
  root: string,
  text: string,
  { descriptors, fileBlocks, under = [], ...user }: DiskProcessOptions = {},
): ChildProcess {
  const head = `import { createDiskStorage } from ${JSON.stringify(join(folder, "disk.mjs"))};`;
  const program = `${head}\nconst root = ${JSON.stringify(root)};\n${text}`;
  const limits = [descriptors && `ulimit -n ${descriptors};`, fileBlocks && `ulimit -f ${fileBlocks};`];
  const command = [...under, process.execPath, "--input-type=module", "-e", program];
  return spawn("sh", ["-c", `${limits.filter(Boolean).join(" ")} exec "$@"`, "sh", ...command], {
    stdio: ["ignore", "pipe", "pipe"],
    ...user,
  });
}

/** What a process writes until it ends. Rejects when it ends otherwise than well. */
export async function outputOf(child: ChildProcess): Promise<string> {
  let output = "";
  let errors = "";
  child.stdout?.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    errors += chunk;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`Ended with ${code}: ${errors}`);
  return output;
}
