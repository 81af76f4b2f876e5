import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { onChunkGarbage } from "../platform/gc-pressure.ts";

/** Both halves of a young generation that is large enough. */
const ENOUGH_BYTES = 8_388_608;

/** Keeps the process that serves small (docs/decisions/0007-memory.md). What can be said of V8 before the program is loaded, `main.ts` has said. */
export function keepMemorySmall(): void {
  limitYoungGeneration();
  const collectYoung = findCollector();
  if (collectYoung !== undefined) onChunkGarbage(collectYoung);
}

/**
 * Lets V8's young generation grow to halves of about 4 MiB: by itself it goes up to 16, and back where it is quiet. Looked at after
 * collections, of which a busy process has some dozens in a second.
 */
function limitYoungGeneration(): void {
  let growthFactor = 1;
  setFlagsFromString(`--semi-space-growth-factor=${growthFactor}`);
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    const factor = young !== undefined && young.space_size < ENOUGH_BYTES ? 2 : 1;
    if (factor === growthFactor) return;
    growthFactor = factor;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  });
  observer.observe({ entryTypes: ["gc"] });
}

/** What collects the young generation at once, in about a millisecond; `undefined` where V8 does not hand it out. */
function findCollector(): (() => void) | undefined {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
  return typeof collect === "function" ? () => collect({ type: "minor", execution: "sync" }) : undefined;
}
