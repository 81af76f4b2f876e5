// One measurement: a fresh server, warmed up, under the load client of another process.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { toServedFolder } from "../workloads.mjs";
import { checkStored, clearFolder } from "./fixtures.mjs";
import { cpuSeconds, memory, pinned, startServer, withTimeout } from "./processes.mjs";
import { measureZip } from "./zip-command.mjs";

const CLIENT = fileURLToPath(new URL("../load.mjs", import.meta.url));
const LIMIT_MS = 900_000;
/** A server that uses no processor time for so long is settled. */
const SETTLE_MS = 200;
const MAX_SETTLE_ROUNDS = 50;

/**
 * Runs a workload on a server. The process is new each time, so that its peak of memory is this workload's, start and
 * warm-up included.
 * @returns undefined where the server has no such requests.
 */
export async function measure(server, workload, root) {
  const served = toServedFolder(root, workload);
  if (server.writesZip !== undefined)
    return workload.commands && withFigure(workload, await measureZip(server, workload.commands, served));
  if (workload.toJob(server.requests) === undefined) return undefined;
  const running = await startServer(server, served);
  try {
    if (!workload.isStart) await settle(running);
    const headers = await server.login?.(running);
    // A login may decide on the URLs.
    const asked = workload.toJob(server.requests);
    const job = { ...toShape(workload, server), host: running.host, port: running.port, headers, ...asked };
    const run = workload.isStart ? measureStart(running, job, workload) : runClient(job, running, server);
    const result = await withTimeout(run, LIMIT_MS, "not done");
    if (workload.stored !== undefined) checkStored(served, workload.stored);
    return withFigure(workload, { ...result, peakRss: memory(running.pid, "VmHWM") });
  } catch (error) {
    throw new Error([error.message, ...running.errors()].join(" | "), { cause: error });
  } finally {
    await running.stop();
    if (workload.stored !== undefined) clearFolder(served, workload.stored.folder);
    // The next one begins without dirty pages of this one.
    if (workload.stored !== undefined) spawnSync("sync");
  }
}

/** Waits until a server has done what it does after its start, such as looking for files of ended uploads. */
async function settle({ pid }) {
  for (let before = -1, round = 0; before !== cpuSeconds(pid) && round < MAX_SETTLE_ROUNDS; round += 1) {
    before = cpuSeconds(pid);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  }
}

function toShape(workload, server) {
  const { connections, seconds, exchanges, warmSeconds, warmExchanges } = workload;
  return { connections, seconds, exchanges, warmSeconds, warmExchanges, ...workload.adjust?.(server) };
}

/** Until one request is answered; then the memory of the idle process. */
async function measureStart(running, { host, port, headers, requests, expect }, { settleSeconds }) {
  const [{ method, path }] = requests;
  const response = await fetch(`http://${host}:${port}${path}`, {
    method,
    headers: { ...headers, Connection: "close" },
  });
  const { byteLength } = await response.arrayBuffer();
  const seconds = (performance.now() - running.begun) / 1000;
  if (response.status !== 200 || byteLength !== expect.bytes)
    throw new Error(`The first answer is ${response.status}.`);
  await new Promise((resolve) => setTimeout(resolve, settleSeconds * 1000));
  const idleRss = memory(running.pid, "VmRSS");
  return { exchanges: 1, bytes: byteLength, seconds, cpu: cpuSeconds(running.pid), idleRss };
}

/**
 * Runs the load client on a running server; what it counted, with the server's processor time. `ownProgram`: a part of
 * the server whose time is also counted alone.
 */
export async function runClient(job, { pid }, { ownProgram } = {}) {
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
    const [before, ownBefore] = [cpuSeconds(pid), cpuSeconds(pid, ownProgram)];
    client.stdin.on("error", () => {}).write("go\n");
    const { value } = await lines.next();
    const [cpu, ownCpu] = [cpuSeconds(pid) - before, cpuSeconds(pid, ownProgram) - ownBefore];
    if (value === undefined) {
      await once(client, "close");
      throw new Error(problem.trim() || "The load client ended.");
    }
    return { ...JSON.parse(value), cpu, ...(ownProgram !== undefined && { ownCpu }) };
  } finally {
    client.kill("SIGKILL");
  }
}

/** A tick of the clock of processor time is 10 ms: nothing is taken for less. */
function withFigure({ unit }, result) {
  const { exchanges, bytes, seconds, cpu, ownCpu } = result;
  const toEach = (time) => (time / exchanges) * 1000;
  const spent = Math.max(cpu, 0.01);
  const rates = {
    requests: exchanges / spent,
    bytes: bytes / spent / 1e6,
    speed: bytes / seconds / 1e6,
    milliseconds: (seconds / exchanges) * 1000,
  };
  const own = ownCpu === undefined ? {} : { ownCpuMs: toEach(ownCpu) };
  return { ...result, figure: rates[unit], speed: rates.speed, cpuMs: toEach(cpu), ...own };
}
