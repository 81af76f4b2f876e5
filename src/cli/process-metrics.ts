import { VERSION } from "../config/version.ts";
import { type Family, renderFamilies } from "../metrics/prometheus-text.ts";
import type { ProcessUsage } from "./process-usage.ts";

/** What several processes use, by their names. A process that is the only one has an empty name. */
export type ProcessUsages = ReadonlyMap<string, ProcessUsage>;

/**
 * Renders what the processes use, by the names that other programs use for the same, and what they are built from: in
 * the text format of Prometheus, version 0.0.4.
 */
export function renderProcesses(usages: ProcessUsages): string {
  const toFamily = (
    name: string,
    help: string,
    read: (usage: ProcessUsage) => number | undefined,
    type: Family["type"] = "gauge",
  ): Family => ({
    name,
    help,
    type,
    samples: [...usages].flatMap(([process, usage]) => {
      const value = read(usage);
      return value === undefined ? [] : [{ labels: process === "" ? {} : { process }, value }];
    }),
  });
  return renderFamilies([
    {
      name: "fileferry_build_info",
      help: "The versions of fileferry and of Node.",
      type: "gauge",
      samples: [{ labels: { version: VERSION, node: process.version }, value: 1 }],
    },
    toFamily("process_start_time_seconds", "When the process started.", ({ startedAt }) => startedAt),
    toFamily("process_cpu_seconds_total", "Processor time.", ({ cpuSeconds }) => cpuSeconds, "counter"),
    toFamily("process_resident_memory_bytes", "Memory of the process.", ({ residentBytes }) => residentBytes),
    toFamily("process_open_fds", "Open files and connections.", ({ descriptors }) => descriptors),
    toFamily("nodejs_heap_size_used_bytes", "Memory of objects in JavaScript.", ({ heapBytes }) => heapBytes),
    toFamily(
      "nodejs_eventloop_lag_p99_seconds",
      "How late the event loop was since the last look.",
      ({ loopDelay }) => loopDelay,
    ),
  ]);
}
