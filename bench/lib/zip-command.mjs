// Commands that write an archive: what comes out of their pipe is counted and thrown away.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { ARCHIVE_END, checkArchive } from "../client/archive.mjs";
import { memory, pinned } from "./processes.mjs";

/** The shell tells the processor time of what it has run. */
const TIMED = 'TIMEFORMAT="%U %S"; time "$@"';
const LOOK_MS = 20;

export async function measureZip({ writesZip }, { least, entries }, served) {
  const [command, args] = writesZip("zip");
  const begun = performance.now();
  const child = spawn(...pinned("server", "bash", ["-c", TIMED, "bash", command, ...args]), {
    cwd: served,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let peakRss = 0;
  const look = setInterval(() => {
    peakRss = Math.max(peakRss, memory(child.pid, "VmHWM"));
  }, LOOK_MS);
  let bytes = 0;
  let tail = Buffer.alloc(0);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  child.stdout.on("data", (piece) => {
    bytes += piece.length;
    tail = Buffer.concat([tail, piece.subarray(-ARCHIVE_END)]).subarray(-ARCHIVE_END);
  });
  const [status] = await once(child, "close").finally(() => clearInterval(look));
  const seconds = (performance.now() - begun) / 1000;
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${said}`);
  if (bytes < least) throw new Error(`${command} wrote only ${bytes} bytes.`);
  checkArchive(tail, entries);
  const [user, system] = said.trim().split("\n").at(-1).split(" ");
  return { exchanges: 1, bytes, seconds, cpu: Number(user) + Number(system), peakRss };
}
