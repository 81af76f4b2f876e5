import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { SFTPWrapper } from "ssh2";

/** What one connection may have in memory: requests that wait, answers that the client has not taken. */
export interface Flow {
  /** Notes a request with its bytes that is not answered yet. */
  enter(bytes: number): void;
  /** Notes that it is. */
  leave(bytes: number): void;
  /** What bytes that came too early may take in memory. */
  readonly ahead: Allowance;
  /** How many files and folders may be open, of all the connection's sessions together: each is a descriptor. */
  readonly handles: Allowance;
  /** Waits until the client has taken enough of what it asked for, or is gone. */
  room(sftp: SFTPWrapper, isOver: () => boolean): Promise<void>;
}

/** A bound that several share. */
export interface Allowance {
  /** Takes so many, if they are left. */
  take(count: number): boolean;
  give(count: number): void;
}

interface Load {
  readonly requests: number;
  readonly bytes: number;
}

/** OpenSSH has at most 64 requests under way, and 2 MiB in them. From here on the socket is not read. */
const BUSY: Load = { requests: 256, bytes: 4 * 1024 * 1024 };
/** Down to here, and it is read again. */
const CALM: Load = { requests: 128, bytes: 2 * 1024 * 1024 };
/** Whoever comes that far sends requests and takes no answers. */
const MAX: Load = { requests: 4096, bytes: 32 * 1024 * 1024 };
/** A client that runs ahead has no more than this under way. */
const MAX_AHEAD_BYTES = 2 * 1024 * 1024;
const MAX_HANDLES = 128;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const POLL_MILLISECONDS = 5;

/**
 * Bounds what a connection has in memory, which ssh2 leaves to its user: it grants the client a new window for whatever
 * it has handed over, and keeps every answer until it is sent. Beyond all measure the connection is cut.
 */
export function createFlow(socket: Socket): Flow {
  let requests = 0;
  let bytes = 0;
  let waiters = 0;

  function exceeds(load: Load): boolean {
    return requests > load.requests || bytes > load.bytes;
  }

  function steer(): void {
    // Who waits for the client to take answers has to hear when it does.
    if (waiters === 0 && exceeds(BUSY)) socket.pause();
    else if (socket.isPaused() && (waiters > 0 || !exceeds(CALM))) socket.resume();
  }

  function enter(size: number): void {
    requests += 1;
    bytes += size;
    if (exceeds(MAX)) socket.destroy();
    steer();
  }

  function leave(size: number): void {
    requests -= 1;
    bytes -= size;
    steer();
  }

  async function room(sftp: SFTPWrapper, isOver: () => boolean): Promise<void> {
    waiters += 1;
    while (!isOver() && (socket.writableLength > MAX_UNSENT_BYTES || isWindowShut(sftp))) {
      steer();
      await delay(POLL_MILLISECONDS);
    }
    waiters -= 1;
  }

  return { enter, leave, ahead: createAllowance(MAX_AHEAD_BYTES), handles: createAllowance(MAX_HANDLES), room };
}

function createAllowance(left: number): Allowance {
  return {
    take(count) {
      if (count > left) return false;
      left -= count;
      return true;
    },
    give(count) {
      left += count;
    },
  };
}

/** Whether answers wait for a window of the client. ssh2 tells it in no other way. */
function isWindowShut(sftp: SFTPWrapper): boolean {
  const { _buffer: waiting } = sftp as { readonly _buffer?: readonly unknown[] };
  return waiting !== undefined && waiting.length > 0;
}
