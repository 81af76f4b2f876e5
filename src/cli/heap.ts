import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { watchReceivedChunks } from "../runtimes/node/request-body.ts";

/*
 * Limits the memory of serving processes (docs/decisions/0031-heap.md).
 */

/** Limits each half of V8's young generation to 4 MiB, of 16 by default. V8 reads it only when a process starts. */
const YOUNG_GENERATION_FLAG = "--max-semi-space-size=4";
/** Both halves of a young generation of that size. */
const YOUNG_GENERATION_BYTES = 8_388_608;
/** The bytes of request bodies after which the young generation is collected. */
const COLLECT_BYTES = 4_194_304;

/** The start flags of Node for another process that serves. The operator's own size of the young generation counts. */
export function toServingFlags(): string[] {
  return isYoungGenerationSet() ? process.execArgv : [YOUNG_GENERATION_FLAG, ...process.execArgv];
}

/**
 * Makes V8 collect the old generation when it has grown by half, and limits the young one. Call it before the program
 * is loaded: V8 sets its first limits while that is loaded.
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
  const collectYoung = findCollector();
  if (collectYoung === undefined) return;
  let received = 0;
  watchReceivedChunks((byteLength) => {
    received += byteLength;
    if (received < COLLECT_BYTES) return;
    received = 0;
    collectYoung();
  });
}

function isYoungGenerationSet(): boolean {
  return /--max[-_]semi[-_]space[-_]size/.test([...process.execArgv, process.env.NODE_OPTIONS].join(" "));
}

/**
 * Stands in for the start flag: the young generation grows while it is smaller than with that flag. V8 shrinks it when
 * the process is idle, so its size is read after each collection.
 */
function limitYoungGeneration(): void {
  let growthFactor = 1;
  setFlagsFromString(`--semi-space-growth-factor=${growthFactor}`);
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    const factor = young !== undefined && young.space_size < YOUNG_GENERATION_BYTES ? 2 : 1;
    if (factor === growthFactor) return;
    growthFactor = factor;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
  });
  observer.observe({ entryTypes: ["gc"] });
}

/** Collects the young generation, in about a millisecond; `undefined` if V8 does not provide it. */
function findCollector(): (() => void) | undefined {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("typeof gc === 'function' ? gc : undefined");
  return typeof collect === "function" ? () => collect({ type: "minor", execution: "sync" }) : undefined;
}
