import type { Socket } from "node:net";
import { get, openClient, put } from "./clients.ts";

/** Between two steps of a slow client, in milliseconds. */
const STEP_MILLISECONDS = 250;
const STEP_BYTES = 1024;

/** A client that sends a file, or takes one, as slowly as it may. */
export interface SlowClient {
  readonly socket: Socket;
  /**
   * Sends, or takes, the rest at once. The status of the answer and the bytes of it; rejects when the connection is cut
   * first.
   */
  finish(): Promise<{ readonly status: number; readonly size: number }>;
  /** Does nothing any more, and keeps the connection. */
  stop(): void;
}

/** Sends 1 KiB of a file every 250 ms, all but the last KiB of it. */
export async function sendSlowly(
  port: number,
  { path, session, content }: { readonly path: string; readonly session: string; readonly content: Uint8Array },
): Promise<SlowClient> {
  const { socket, exchange } = await openClient(port);
  let sent = 0;
  function step(): void {
    if (sent + STEP_BYTES >= content.byteLength || socket.destroyed) return;
    socket.write(content.subarray(sent, sent + STEP_BYTES));
    sent += STEP_BYTES;
  }
  socket.write(put(path, session, content.byteLength));
  step();
  const timer = setInterval(step, STEP_MILLISECONDS);
  socket.on("close", () => clearInterval(timer));
  async function finish(): Promise<{ readonly status: number; readonly size: number }> {
    clearInterval(timer);
    return exchange(content.subarray(sent));
  }
  return { socket, finish, stop: () => clearInterval(timer) };
}

/** Takes 1 KiB of a file every 250 ms, and what the systems of both sides take beforehand. */
export async function takeSlowly(port: number, path: string, session: string): Promise<SlowClient> {
  const { socket, exchange } = await openClient(port);
  socket.write(get(path, session));
  socket.pause();
  const taken: Buffer[] = [];
  const timer = setInterval(() => {
    const part: Buffer | null = socket.read(STEP_BYTES);
    if (part !== null) taken.push(part);
  }, STEP_MILLISECONDS);
  socket.on("close", () => clearInterval(timer));
  async function finish(): Promise<{ readonly status: number; readonly size: number }> {
    clearInterval(timer);
    // What was taken stands before the rest, as it came.
    if (taken.length > 0) socket.unshift(Buffer.concat(taken));
    const answer = exchange();
    socket.resume();
    return answer;
  }
  return { socket, finish, stop: () => clearInterval(timer) };
}
