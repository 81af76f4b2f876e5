// Servers as processes of their own: started on a core apart from the client's, measured by what the system counts for
// them.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const START_MS = 30_000;
/** utime, stime, cutime, cstime in /proc/<pid>/stat are counted in these. */
const TICKS_PER_SECOND = Number(spawnSync("getconf", ["CLK_TCK"]).stdout?.toString().trim() || 100);
const canPin = spawnSync("taskset", ["-V"]).status === 0 && availableParallelism() > 1;

/** Servers that run, with their folders: none outlives the bench, however that ends. */
const left = new Map();
process.once("exit", () => {
  for (const [child, own] of left) {
    child.kill("SIGTERM");
    rmSync(own, { recursive: true, force: true });
  }
});

/** A command that keeps to one core: servers to one, clients to another. */
export function pinned(role, command, args) {
  if (!canPin) return [command, args];
  return ["taskset", ["-c", role === "server" ? "1" : "0", command, ...args]];
}

export function hasCommand(name) {
  return spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;
}

/**
 * Starts a server of the catalog on a folder. It listens when it has printed its address, or, where it prints none,
 * when it takes connections.
 * @returns the running server: origin, pid, `stop()`.
 */
export async function startServer(server, folder) {
  const own = mkdtempSync(join(tmpdir(), "fileferry-bench-server-"));
  const begun = performance.now();
  const { command, args, env, port } = await server.start({ folder, own });
  // Node reads all of an operator's certificates at each start.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const child = spawn(...pinned("server", command, args), {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...inherited, NODE_ENV: "production", ...env },
  });
  left.set(child, own);
  const exited = new Promise((resolve) => child.once("exit", resolve));
  const errors = keepLast(child.stderr);
  async function stop() {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), 5000);
    await exited;
    clearTimeout(timer);
    left.delete(child);
    rmSync(own, { recursive: true, force: true });
  }
  try {
    const failed = exited.then(() =>
      Promise.reject(new Error(`${server.id} ended at its start: ${errors().join(" ")}`)),
    );
    failed.catch(() => {});
    const address = port === undefined ? printedAddress(child) : takesConnections(port);
    const origin = await withTimeout(Promise.race([address, failed]), START_MS, `${server.id} did not start`);
    return { ...origin, begun, pid: child.pid, errors, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function printedAddress(child) {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const match = /http:\/\/([\d.]+):(\d+)/.exec(line);
      if (match) resolve({ host: match[1], port: Number(match[2]) });
    });
  });
}

async function takesConnections(port) {
  const host = "127.0.0.1";
  for (;;) {
    const isOpen = await new Promise((resolve) => {
      const socket = createConnection({ host, port }, () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (isOpen) return { host, port };
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Returns a port that was free a moment ago, for servers that cannot say which one they have chosen. */
export async function freePort() {
  const { createServer } = await import("node:net");
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

export function withTimeout(promise, milliseconds, message) {
  let timer;
  const late = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${message} within ${milliseconds / 1000} s`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The last lines that a process has said, but for warnings; they are read in any case, so that it does not wait. */
function keepLast(stream) {
  let text = "";
  stream.setEncoding("utf8").on("data", (chunk) => {
    text = (text + chunk).slice(-2000);
  });
  return () => {
    const lines = text.split("\n").filter((line) => line.trim() !== "" && !/warning/i.test(line));
    return lines.slice(-2);
  };
}

/** A process and all below it, such as the workers of nginx. */
function processTree(pid) {
  const children = tryRead(`/proc/${pid}/task`, (path) =>
    readdirSync(path).flatMap((task) => readFileSync(`${path}/${task}/children`, "utf8").split(" ").filter(Boolean)),
  );
  return [Number(pid), ...(children ?? []).flatMap((child) => processTree(Number(child)))];
}

/**
 * Seconds of processor time that a process, its children and those it has outlived have had; only of those with a
 * script, if one is given.
 */
export function cpuSeconds(pid, script) {
  const members = processTree(pid).filter((member) => script === undefined || runsScript(member, script));
  if (members.length === 0) throw new Error(`No process of the server runs ${script}.`);
  const ticks = members.map((member) => {
    const stat = tryRead(`/proc/${member}/stat`, (path) => readFileSync(path, "utf8"));
    if (stat === undefined) return 0;
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, value) => sum + value, 0) / TICKS_PER_SECOND;
}

function runsScript(pid, script) {
  return (
    tryRead(`/proc/${pid}/cmdline`, (path) => readFileSync(path, "utf8"))
      ?.split("\0")
      .includes(script) ?? false
  );
}

/**
 * Memory in MB, `VmRSS` now or `VmHWM` at most; of several processes the sum, in which what they share counts for each.
 */
export function memory(pid, field) {
  const kilobytes = processTree(pid).map((member) => {
    const status = tryRead(`/proc/${member}/status`, (path) => readFileSync(path, "utf8"));
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status ?? "")?.[1] ?? 0);
  });
  return kilobytes.reduce((sum, value) => sum + value, 0) * 1.024e-3;
}

function tryRead(path, read) {
  try {
    return read(path);
  } catch {
    return undefined;
  }
}
