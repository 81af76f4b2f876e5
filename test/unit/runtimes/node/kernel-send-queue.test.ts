import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { countSent, watchSent } from "../../../../src/runtimes/node/kernel-send-queue.ts";

/** The system's table: the queue of each socket by its inode, which is its descriptor here. */
const system = vi.hoisted(() => ({ queues: new Map<number, () => number>(), readings: 0 }));
vi.mock("node:fs", async (original) => ({
  ...(await original<object>()),
  fstatSync: (fd: number) => ({ ino: fd }),
  createReadStream: () => {
    system.readings += 1;
    const lines = [...system.queues].map(([inode, queued]) => {
      const size = queued().toString(16).toUpperCase().padStart(8, "0");
      return `  0: 0100007F:1F90 0100007F:C350 01 ${size}:00000000 00:00000000 00000000  1000        0 ${inode} 1\n`;
    });
    return Readable.from(["  sl  local_address rem_address   st tx_queue rx_queue\n", ...lines]);
  },
}));

const STILL = 12_000;
const LOOK = STILL / 12;
/** What the system takes at once: with a byte more, nearly what its client takes within 24 looks. */
const LUMP = 2398;

beforeEach(() => {
  system.queues.clear();
  system.readings = 0;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
});

/** A download as the system sees it, of which the client has taken nothing yet. */
function createDownload(fd: number | undefined, queued: number) {
  const handle = { bytesWritten: queued, writeQueueSize: 0, ...(fd !== undefined && { fd }) };
  const state = { taken: 0 };
  if (fd !== undefined) system.queues.set(fd, () => handle.bytesWritten - state.taken);
  const socket = { _handle: handle, bytesWritten: queued, writableLength: 0 } as unknown as Socket;

  /** What the client takes of the queue until the next look, and what the system then takes in its place. */
  async function pass(taken: number, added: number): Promise<void> {
    state.taken += taken;
    handle.bytesWritten += added;
    await vi.advanceTimersByTimeAsync(LOOK);
    // The table is read meanwhile.
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  }

  return { socket, state, pass };
}

function watch(...sockets: readonly Socket[]): void {
  onTestFinished(watchSent(() => sockets, STILL));
}

describe.skipIf(process.platform !== "linux")(
  "what a client has taken of a download (Linux tells of its queue)",
  () => {
    it.each<[what: string, added: (look: number) => number]>([
      ["nothing", () => 0],
      ["a byte now and then", (look) => (look % 12 === 0 ? 1 : 0)],
      ["a byte and a lump in turns", (look) => (look % 12 === 0 ? 1 : look % 24 === 6 ? LUMP : 0)],
      ["all that has left", (look) => (look % 12 === 0 ? 1200 : 0)],
    ])("counts once, and never falls, while the system takes %s", async (_what, added) => {
      const queue = 1_000_000;
      const { socket, state, pass } = createDownload(7, queue);
      watch(socket);
      const counts = [countSent(socket)];
      for (let look = 1; look <= 600; look++) {
        await pass(100, added(look));
        counts.push(countSent(socket));
      }
      const [first = 0] = counts;
      const counted = (counts.at(-1) ?? 0) - first;
      expect(counts).toEqual(counts.toSorted((one, other) => one - other));
      // What the system took last counts, too, and its client has not taken that yet: once, not in each turn.
      expect(counted).toBeLessThanOrEqual(state.taken + LUMP);
      // The looks at which the client does not seem to stand still yet are not among what is seen: less than half.
      expect(counted).toBeGreaterThan(state.taken / 2);
    });

    it("is not more by what the system takes in place of what was seen to leave", async () => {
      const { socket, pass } = createDownload(7, 10_000);
      watch(socket);
      for (let look = 0; look < 10; look++) await pass(500, 0);
      const seen = countSent(socket);
      expect(seen).toBeGreaterThan(10_000);
      await pass(0, seen - 10_000);
      expect(countSent(socket)).toBe(seen);
      await pass(0, 1);
      expect(countSent(socket)).toBe(seen + 1);
    });

    it("is asked of the system where a socket is known there, not otherwise", async () => {
      const unknown = createDownload(undefined, 10_000);
      watch(unknown.socket);
      for (let look = 0; look < 10; look++) await unknown.pass(500, 0);
      expect(system.readings).toBe(0);
      expect(countSent(unknown.socket)).toBe(10_000);

      const known = createDownload(7, 10_000);
      watch(unknown.socket, known.socket);
      for (let look = 0; look < 10; look++) await known.pass(500, 0);
      expect(system.readings).toBeGreaterThan(0);
      expect(countSent(unknown.socket)).toBe(10_000);
      expect(countSent(known.socket)).toBeGreaterThan(10_000);
    });
  },
);
