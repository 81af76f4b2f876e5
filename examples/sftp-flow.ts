import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { SFTPWrapper } from "ssh2";

/** Limits what one connection holds in memory: waiting requests, and responses that the client has not read. */
export interface Flow {
  /** Counts a request and its bytes, until {@link leave}. */
  enter(bytes: number): void;
  /** The request has got its response. */
  leave(bytes: number): void;
  /** The memory for bytes that arrived before earlier bytes of their file. */
  readonly ahead: Allowance;
  /** The files and folders that all sessions of the connection may have open: each is a descriptor. */
  readonly handles: Allowance;
  /** Waits until the client has read enough of its responses, or has disconnected. */
  room(sftp: SFTPWrapper, isOver: () => boolean): Promise<void>;
}

/** A limit that several users share. */
export interface Allowance {
  /** Takes `count` units. Returns false if fewer are left. */
  take(count: number): boolean;
  give(count: number): void;
}

interface Load {
  readonly requests: number;
  readonly bytes: number;
}

/** Above this load the socket is not read. OpenSSH has at most 64 requests in progress, with 2 MiB in them. */
const BUSY: Load = { requests: 256, bytes: 4 * 1024 * 1024 };
/** At this load the socket is read again. */
const CALM: Load = { requests: 128, bytes: 2 * 1024 * 1024 };
/** Above this load the connection is closed: the client sends requests and reads no responses. */
const MAX: Load = { requests: 4096, bytes: 32 * 1024 * 1024 };
/** The bytes that a client may send before earlier bytes of their file. */
const MAX_AHEAD_BYTES = 2 * 1024 * 1024;
const MAX_HANDLES = 128;
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;
const POLL_MILLISECONDS = 5;

/**
 * Creates the limits of a connection. ssh2 has none: it grants the client a new window for everything that it has
 * passed on, and keeps every response until it is sent.
 */
export function createFlow(socket: Socket): Flow {
  let requests = 0;
  let bytes = 0;
  let waiters = 0;

  function exceeds(load: Load): boolean {
    return requests > load.requests || bytes > load.bytes;
  }

  function steer(): void {
    // A paused socket would not report that the client has read responses, which `room` waits for.
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

/** Whether responses wait for a window of the client. ssh2 has no public member for this. */
function isWindowShut(sftp: SFTPWrapper): boolean {
  const { _buffer: waiting } = sftp as { readonly _buffer?: readonly unknown[] };
  return waiting !== undefined && waiting.length > 0;
}
