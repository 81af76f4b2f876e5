import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Whether a clamd is installed, and a name for tests that need it: it says why a test was skipped. */
export const hasClamd = spawnSync("clamd", ["--version"]).status === 0;
if (!hasClamd && process.env.CI) throw new Error("clamd is not installed");
export const clamdNote = hasClamd ? "" : " (skipped: clamd is not installed)";

/** The text that scanners report as a test. No file of this project contains it in one piece. */
export const EICAR = ["X5O!P%@AP[4\\PZX54(P^)7CC)7}$", "EICAR-STANDARD-ANTIVIRUS-TEST-FILE!", "$H+H*"].join("");

/** A clamd for one test file, whose database has one virus: that text. */
export interface TestClamd {
  /** The path of its socket. */
  readonly path: string;
  stop(): Promise<void>;
}

/** Starts it. It takes files of 1 MiB at most. */
export async function startClamd(): Promise<TestClamd> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-clamd-"));
  // Its process may have another user.
  await chmod(folder, 0o755);
  const database = join(folder, "database");
  await mkdir(database);
  await writeFile(join(database, "own.ndb"), `Test.Eicar:0:*:${Buffer.from(EICAR).toString("hex")}\n`);
  const path = join(folder, "clamd.sock");
  const configuration = join(folder, "clamd.conf");
  const lines = [`LocalSocket ${path}`, `DatabaseDirectory ${database}`, "Foreground yes", "StreamMaxLength 1M"];
  await writeFile(configuration, `${lines.join("\n")}\n`);
  const child = spawn("clamd", ["--config-file", configuration], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
  const exited = once(child, "exit");
  for (let attempt = 0; !(await isListening(path)); attempt += 1) {
    if (attempt === 200 || child.exitCode !== null) throw new Error(`clamd does not listen: ${output}`);
    await delay(100);
  }
  return {
    path,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
