import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";

/** What a process of the service uses. */
export interface ProcessUsage {
  /** When it started, in POSIX seconds. */
  readonly startedAt: number;
  /** Seconds of processor time, with that of the system for it. */
  readonly cpuSeconds: number;
  /** Bytes of memory. */
  readonly residentBytes: number;
  /** Bytes of objects in JavaScript. */
  readonly heapBytes: number;
  /** Open files and connections. Absent where the system does not list them. */
  readonly descriptors?: number;
  /** How late the event loop was since the last look, in seconds: the 99th percentile. */
  readonly loopDelay: number;
}

/** Watches this process until `stop`. */
export interface ProcessWatch {
  look(): Promise<ProcessUsage>;
  stop(): void;
}

/** How often the event loop is timed. The delays that Node returns contain it. */
const RESOLUTION_MS = 20;

export function watchProcess(): ProcessWatch {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();

  async function look(): Promise<ProcessUsage> {
    const descriptors = await countDescriptors();
    const { user, system } = process.cpuUsage();
    const { rss, heapUsed } = process.memoryUsage();
    const loopDelay = Math.max(0, delays.percentile(99) / 1e9 - RESOLUTION_MS / 1000);
    delays.reset();
    return {
      startedAt: Date.now() / 1000 - process.uptime(),
      cpuSeconds: (user + system) / 1e6,
      residentBytes: rss,
      heapBytes: heapUsed,
      ...(descriptors !== undefined && { descriptors }),
      loopDelay,
    };
  }

  return { look, stop: () => void delays.disable() };
}

/** Without the one that reads the list. */
async function countDescriptors(): Promise<number | undefined> {
  try {
    return (await readdir("/proc/self/fd")).length - 1;
  } catch {
    return undefined;
  }
}
