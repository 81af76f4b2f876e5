// One measurement: a fresh server, warmed up, under the load client of another process.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { checkStored, clearFolder } from "./fixtures.mjs";
import { cpuSeconds, memory, pinned, startServer, withTimeout } from "./processes.mjs";

const CLIENT = fileURLToPath(new URL("../load.mjs", import.meta.url));
const LIMIT_MS = 600_000;

/**
 * Runs a workload on a server. The process is new each time, so that its peak of memory is this workload's, start and warm-up included.
 * @returns undefined where the server has no such requests.
 */
export async function measure(server, workload, folder) {
  const asked = workload.toJob(server.requests);
  if (asked === undefined) return undefined;
  const running = await startServer(server, folder);
  try {
    const headers = await server.login?.(running);
    const { connections, seconds, exchanges, warmSeconds, warmExchanges } = workload;
    const shape = { connections, seconds, exchanges, warmSeconds, warmExchanges };
    const job = { host: running.host, port: running.port, headers, ...shape, ...asked };
    const result = await withTimeout(runClient(job, running), LIMIT_MS, "not done");
    const peakRss = memory(running.pid, "VmHWM");
    return { ...result, peakRss, figure: toFigure(workload, result) };
  } catch (error) {
    const said = running.errors();
    throw said === "" ? error : new Error(`${error.message} (${said.slice(-300)})`, { cause: error });
  } finally {
    await running.stop();
    if (workload.stored !== undefined) settleStored(folder, workload.stored);
  }
}

async function runClient(job, { pid }) {
  const client = spawn(...pinned("client", process.execPath, [CLIENT, JSON.stringify(job)]), {
    stdio: ["pipe", "pipe", "pipe"],
  });
  let problem = "";
  client.stderr.setEncoding("utf8").on("data", (text) => {
    problem += text;
  });
  const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  try {
    await lines.next();
    const before = cpuSeconds(pid);
    client.stdin.on("error", () => {}).write("go\n");
    const { value } = await lines.next();
    const cpu = cpuSeconds(pid) - before;
    if (value === undefined) {
      await once(client, "close");
      throw new Error(problem.trim() || "The load client ended.");
    }
    return { ...JSON.parse(value), cpu };
  } finally {
    client.kill("SIGKILL");
  }
}

/** Also what a failed round left; the next one begins without its dirty pages. */
function settleStored(folder, stored) {
  try {
    checkStored(folder, stored);
  } finally {
    clearFolder(folder, stored.folder);
    spawnSync("sync");
  }
}

/** What the table has: of time a share is better than a sum. A tick of the clock is 10 ms, so nothing is taken for less. */
function toFigure({ unit }, { exchanges, bytes, seconds, cpu }) {
  const spent = Math.max(cpu, 0.01);
  if (unit === "requests") return exchanges / spent;
  if (unit === "bytes") return bytes / spent / 1e6;
  if (unit === "speed") return bytes / seconds / 1e6;
  return (seconds / exchanges) * 1000;
}
