// RECONSTRUCTED from its uses in memory.test.ts and quick-start.test.ts: the original was overwritten by mistake at
// 13:21:01 and is not recoverable here. Its author should put the original back.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { builtCommand, ensureBuilt } from "./built.ts";

/** A running `fileferry serve`. */
export interface Command {
  readonly process: ChildProcess;
  /** The address that it printed, without the trailing `/`. */
  readonly origin: string;
  /** Ends it and waits for its end. */
  stop(): Promise<void>;
}

/** Starts the built command and waits until it says where it listens. */
export async function startCommand(args: readonly string[]): Promise<Command> {
  await ensureBuilt();
  const child = spawn(process.execPath, [builtCommand, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const origin = /^Listening on (\S+)\/$/m.exec(printed)?.[1];
    if (origin !== undefined) return { process: child, origin, stop: () => stop(child, ended) };
  }
  throw new Error(`The command ended before it listened: ${printed}`);
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill("SIGTERM");
  await ended;
}
