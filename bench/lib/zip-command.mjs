// Commands that write an archive: what comes out of their pipe is counted by another process and thrown away.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { checkArchive } from "../client/archive.mjs";
import { memory, pinned } from "./processes.mjs";

const DRAIN = fileURLToPath(new URL("../client/drain.mjs", import.meta.url));
/** The shell reports the time of the commands that it has run. */
const TIMED = 'TIMEFORMAT="%R %U %S"; pipe="$1"; shift; time "$@" > "$pipe"';
const LOOK_MS = 20;

export async function measureZip({ writesZip }, { least, entries }, served) {
  const own = mkdtempSync(join(tmpdir(), "fileferry-bench-pipe-"));
  const pipe = join(own, "pipe");
  spawnSync("mkfifo", [pipe]);
  const drain = spawn(...pinned("client", process.execPath, [DRAIN, pipe]), { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: drain.stdout })[Symbol.asyncIterator]();
  try {
    await lines.next();
    const times = await runTimed(writesZip("zip"), pipe, served);
    const { bytes, tail } = JSON.parse((await lines.next()).value);
    if (bytes < least) throw new Error(`Only ${bytes} bytes were written.`);
    checkArchive(Buffer.from(tail, "base64"), entries);
    return { exchanges: 1, bytes, ...times };
  } finally {
    drain.kill("SIGKILL");
    rmSync(own, { recursive: true, force: true });
  }
}

async function runTimed([command, args], pipe, cwd) {
  const child = spawn(...pinned("server", "bash", ["-c", TIMED, "bash", pipe, command, ...args]), {
    cwd,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let peakRss = 0;
  const look = setInterval(() => {
    peakRss = Math.max(peakRss, memory(child.pid, "VmHWM"));
  }, LOOK_MS);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const [status] = await once(child, "close").finally(() => clearInterval(look));
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${said}`);
  const [seconds, user, system] = said.trim().split("\n").at(-1).split(" ").map(Number);
  return { seconds, cpu: user + system, peakRss };
}
