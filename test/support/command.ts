import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { builtCommand, ensureBuilt } from "./built.ts";

/** A running `fileferry serve`. */
export interface Command {
  readonly process: ChildProcess;
  /** What it listens on, without a trailing slash. */
  readonly origin: string;
  /** The most memory that it has had resident so far, in megabytes of 1,000,000 bytes; needs /proc. */
  peakMegabytes(): Promise<number>;
  /** Ends it with SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** Runs the built command, with these variables in its environment, and waits until it answers. */
export async function startCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Command> {
  await ensureBuilt();
  const child = spawn(process.execPath, [builtCommand, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  const exited = once(child, "exit");
  child.stderr.resume();
  for await (const line of createInterface({ input: child.stdout })) {
    const [, origin] = /^Listening on (\S+)\/$/.exec(line) ?? [];
    if (origin === undefined) continue;
    return {
      process: child,
      origin,
      async peakMegabytes() {
        const status = await readFile(`/proc/${child.pid}/status`, "utf8");
        return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1.024e-3;
      },
      async stop() {
        child.kill("SIGTERM");
        await exited;
      },
    };
  }
  throw new Error(`The command ended before it listened: ${args.join(" ")}`);
}
