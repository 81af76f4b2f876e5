import { createReadStream, fstatSync } from "node:fs";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";

/** A socket from which the system takes nothing more. */
interface Stillness {
  /** What the system has taken in all. */
  readonly passed: number;
  looks: number;
  /** What of it stood in the system's queue when that was looked at. */
  queued: number | undefined;
  /** What counts: all that it has taken, or more where it has not made up yet for what was seen to leave the queue. */
  sent: number;
}

/** The looks at all downloads within the time that a client may stand still. */
const LOOKS = 12;
/** Whose queue is looked at: most downloads move within so many looks. */
const STILL_LOOKS = 3;
/** The tables of Linux, which know the queue of each socket; a line for each has 150 characters. */
const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
const MAX_TABLE_BYTES = 32 * 1024 * 1024;

const stillnesses = new WeakMap<Socket, Stillness>();
const takenAt = new WeakMap<Socket, number>();

/**
 * Sees clients take what the system has taken already: it holds megabytes for a client that reads slowly, and until much of them is gone Node sees nothing move. On
 * Linux the system tells, where the runtime says which socket of its own it is. Who seems to stand still among the sockets that have something to send is looked at, all of them by one reading of its tables. The returned function ends it.
 */
export function watchSent(sending: () => Iterable<Socket>, stillMilliseconds: number): () => void {
  if (process.platform !== "linux") return () => undefined;
  let isReading = false;

  function look(): void {
    const still = [...sending()].filter(isStill);
    if (still.length === 0 || isReading) return;
    isReading = true;
    void noteQueues(still).finally(() => {
      isReading = false;
    });
  }

  const timer = setInterval(look, stillMilliseconds / LOOKS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * How many bytes of a socket the client's system has taken, as far as anybody can tell, and never fewer than before. Each counts once: when it is seen to leave the system's
 * queue, or else when the system takes it. What the system then takes in its place does not count until it is more than that.
 */
export function countSent(socket: Socket): number {
  return Math.max(countPassed(socket), stillnesses.get(socket)?.sent ?? 0);
}

/** Whether a client was seen to take something of the system's queue within the last so many milliseconds. */
export function hasTakenWithin(socket: Socket, milliseconds: number): boolean {
  return performance.now() - (takenAt.get(socket) ?? Number.NEGATIVE_INFINITY) < milliseconds;
}

function isStill(socket: Socket): boolean {
  const passed = countPassed(socket);
  const stillness = stillnesses.get(socket);
  if (stillness?.passed === passed) return ++stillness.looks >= STILL_LOOKS;
  stillnesses.set(socket, { passed, looks: 0, queued: undefined, sent: countSent(socket) });
  return false;
}

async function noteQueues(sockets: readonly Socket[]): Promise<void> {
  for (const [socket, queued] of await readQueues(sockets)) {
    const stillness = stillnesses.get(socket);
    if (stillness === undefined || stillness.passed !== countPassed(socket)) continue;
    const left = (stillness.queued ?? queued) - queued;
    stillness.queued = queued;
    if (left <= 0) continue;
    stillness.sent += left;
    takenAt.set(socket, performance.now());
  }
}

/** The bytes that clients have not acknowledged yet. Of sockets that are not in the tables, as in another namespace of the network, or on runtimes that hide their descriptors, nothing is known. */
async function readQueues(sockets: readonly Socket[]): Promise<ReadonlyMap<Socket, number>> {
  const wanted = new Map<string, Socket>();
  for (const socket of sockets) {
    const inode = inodeOf(socket);
    if (inode !== undefined) wanted.set(inode, socket);
  }
  const found = new Map<Socket, number>();
  if (wanted.size === 0) return found;
  for (const table of TABLES) {
    try {
      for await (const line of createInterface({ input: createReadStream(table, { end: MAX_TABLE_BYTES }) })) {
        // sl, local and remote address, state, tx_queue:rx_queue, ..., inode
        const fields = line.trim().split(/\s+/, 10);
        const socket = fields[9] === undefined ? undefined : wanted.get(fields[9]);
        if (socket !== undefined) found.set(socket, Number.parseInt(fields[4] ?? "", 16));
      }
    } catch {
      // A system without IPv6, or without /proc.
    }
  }
  return found;
}

/** What node:net has of the system's stream beside its own buffers; it looks at the same for its time-out. */
interface StreamHandle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  readonly fd?: number;
  /** Of TLS: the stream below. */
  readonly _parent?: StreamHandle;
}

function handleOf(socket: Socket): StreamHandle | undefined {
  const { _handle: own } = socket as Socket & { readonly _handle?: StreamHandle | null };
  return own?._parent ?? own ?? undefined;
}

/** The number of a socket in the system's tables. */
function inodeOf(socket: Socket): string | undefined {
  const { fd = -1 } = handleOf(socket) ?? {};
  try {
    return fd < 0 ? undefined : `${fstatSync(fd).ino}`;
  } catch {
    return undefined;
  }
}

/**
 * How many bytes of a socket the system has taken. A write ends with its last byte only, and one of 64 KiB may take an honest client minutes: what is left of it tells
 * more. Where a runtime does not show that, whole writes count.
 */
function countPassed(socket: Socket): number {
  const { bytesWritten, writeQueueSize } = handleOf(socket) ?? {};
  if (typeof bytesWritten === "number" && typeof writeQueueSize === "number") return bytesWritten - writeQueueSize;
  return socket.bytesWritten - socket.writableLength;
}
