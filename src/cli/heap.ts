import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { watchReceivedChunks } from "../runtimes/node/request-body.ts";

/*
 * Limits the memory of serving processes (docs/decisions/0031-heap.md).
 */

/** Both halves of V8's young generation: 4 MiB each, of 16 by default. */
const YOUNG_GENERATION_BYTES = 8_388_608;
/** Both halves while objects of running requests age too early: more of them are alive than a small half can hold. */
const LARGE_YOUNG_GENERATION_BYTES = 16_777_216;
/**
 * Objects age too early if the young generation was collected this often between two collections of the old one, twice
 * in a row. With still fewer collections the process has hardly done anything: it starts, or is idle.
 */
const FEW_COLLECTIONS = { least: 10, most: 40 };
/** The bytes of request bodies after which the young generation is collected. */
const COLLECT_BYTES = 4_194_304;

/**
 * Makes V8 collect the old generation when it has grown by half, and limits the young one. The operator's own
 * size of the young one counts. Call it before the program is loaded: V8 sets its first limits while that is loaded.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString("--heap-growing-percent=50");
  if (!isYoungGenerationSet()) limitYoungGeneration();
}

/**
 * Collects the young generation after every 4 MiB that clients upload: each chunk from a socket is memory outside of
 * the heap, which V8 by itself frees late.
 */
export function collectReceivedChunks(): void {
  // Found when it is used first, because that takes a context of V8: 0.3 MB.
  let collectYoung: (() => void) | undefined;
  let received = 0;
  watchReceivedChunks((byteLength) => {
    received += byteLength;
    if (received < COLLECT_BYTES) return;
    received = 0;
    collectYoung ??= findCollector();
    collectYoung();
  });
}

function isYoungGenerationSet(): boolean {
  return /--max[-_]semi[-_]space[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS].join(" "));
}

/**
 * Lets the young generation grow while it is smaller than its limit. V8 reads the flag of the limit itself only when a
 * process starts, and shrinks the generation when the process is idle; so its size is read after each collection.
 */
function limitYoungGeneration(): void {
  let growthFactor = 1;
  let most = YOUNG_GENERATION_BYTES;
  let collections = 0;
  let wereFew = false;

  function note(entry: PerformanceEntry & { readonly detail?: { readonly kind?: number } }): void {
    const kind = entry.detail?.kind;
    if (kind === constants.NODE_PERFORMANCE_GC_MINOR) collections += 1;
    if (kind !== constants.NODE_PERFORMANCE_GC_MAJOR) return;
    const areFew = collections >= FEW_COLLECTIONS.least && collections < FEW_COLLECTIONS.most;
    most = areFew && wereFew ? LARGE_YOUNG_GENERATION_BYTES : YOUNG_GENERATION_BYTES;
    wereFew = areFew;
    collections = 0;
  }

  setFlagsFromString(`--semi-space-growth-factor=${growthFactor}`);
  const observer = new PerformanceObserver((list) => {
    list.getEntries().forEach(note);
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    const factor = young !== undefined && young.space_size < most ? 2 : 1;
    if (factor === growthFactor) return;
    growthFactor = factor;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  });
  observer.observe({ entryTypes: ["gc"] });
}

/** Finds what collects the young generation, in about a millisecond. It does nothing if V8 does not provide it. */
function findCollector(): () => void {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
  return typeof collect === "function" ? () => collect({ type: "minor", execution: "sync" }) : () => undefined;
}
