import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { watchOnce } from "../watch-once.ts";
import { failForLeaks, noteSecretsOnWire, watchText } from "./secrets.ts";

/*
 * Runs for every test file. It notes the secrets that clients send over their sockets. It searches the output of all
 * child processes for them: their logs and, for the examples, their events (CONTRACT 8).
 */

/** The head of a request and the body of a login are in the first bytes of a write. */
const HEAD_BYTES = 8192;
/** How much output of a process is searched. */
const MOST_PRINTED = 4_000_000;

failForLeaks();
watchOnce("secrets", watchProcess);

function watchProcess(): void {
  const write = Socket.prototype.write as (this: Socket, chunk: unknown, ...rest: unknown[]) => boolean;
  Socket.prototype.write = function writeNoted(this: Socket, chunk: unknown, ...rest: unknown[]): boolean {
    if (typeof chunk === "string") noteSecretsOnWire(chunk.slice(0, HEAD_BYTES));
    else if (chunk instanceof Uint8Array) noteSecretsOnWire(toText(chunk));
    return write.call(this, chunk, ...rest);
  } as typeof Socket.prototype.write;

  const { spawn } = childProcess;
  childProcess.spawn = ((...args: Parameters<typeof spawn>): ChildProcess => {
    const child = spawn(...args);
    // It uses its output to talk with its caller, about sources.
    if (child.spawnargs.some((arg) => arg.startsWith("--service="))) return child;
    // `fileferry link` prints links, and `fileferry key` prints keys.
    const printsSecrets = child.spawnargs.includes("link") || child.spawnargs.includes("key");
    const streams = printsSecrets ? [child.stderr] : [child.stdout, child.stderr];
    for (const stream of streams) if (stream !== null) watchStream(stream);
    return child;
  }) as typeof spawn;
  syncBuiltinESMExports();
}

function toText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, Math.min(byteLength, HEAD_BYTES)).toString("latin1");
}

/** Listens without starting to read: the stream stays paused for its other readers. */
function watchStream(stream: Readable): void {
  let printed = "";
  const push = stream.push;
  stream.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
    if (chunk !== null && chunk !== undefined && printed.length < MOST_PRINTED) printed += String(chunk);
    return push.call(stream, chunk, encoding);
  };
  watchText(() => printed, { onlyGrows: true });
}
