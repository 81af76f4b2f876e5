import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";

/** A process that dies as it is about to make a system call. */
export interface Killing {
  /** Detaches from the process, if it has not died. */
  stop(): Promise<void>;
}

/** Whether a process that runs already can be watched here. */
export function mayTrace(): boolean {
  try {
    execFileSync("sh", ["-c", "sleep 0.2 & strace -o /dev/null -e trace=none -p $!"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Has a running process killed at a system call, before it is made: the `count`-th of that name that one of its threads
 * makes from now on.
 */
export async function killAt(pid: number, call: string, count: number): Promise<Killing> {
  const inject = `inject=${call}:signal=KILL:when=${count}`;
  const options = ["-f", "-o", "/dev/null", "-e", `trace=${call}`, "-e", inject, "-p", String(pid)];
  const child = spawn("strace", options, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const stderr: AsyncIterable<Buffer> = child.stderr;
  let printed = "";
  for await (const chunk of stderr) {
    printed += chunk;
    if (printed.includes("attached")) break;
  }
  if (!printed.includes("attached")) throw new Error(`strace: ${printed}`);
  return {
    async stop() {
      // Asked to end it may wait for ever for threads that died with their process.
      child.kill("SIGKILL");
      await exited;
    },
  };
}
