import type { StorageFault, StorageStep } from "../../src/testing/faulty-storage/faults.ts";
import type { Seen } from "./explain.ts";
import type { Fault } from "./operations.ts";

const DEFECT = new Error("A defect that a test requested.");
const GONE = new Error("The client of the test has gone.");
const CHANGES: readonly string[] = ["write", "createFolder", "remove"];

/** One operation under way, as the storage meets it. */
export interface Running {
  readonly controller: AbortController;
  meet(step: StorageStep): StorageFault | undefined;
  happened(): Seen["fault"];
}

/** An operation that begins. */
export function createRunning(fault: Fault | null, jitter: () => number): Running {
  const controller = new AbortController();
  let skip = fault?.skip ?? 0;
  let happened: Seen["fault"];

  function toFault(what: Fault["what"]): StorageFault | undefined {
    if (what === "delay") return { fault: "delay", milliseconds: 2 };
    if (what === "short") return { fault: "short", bytes: 1000 };
    if (what === "cut") return { fault: "cut" };
    if (what === "defect") return { fault: "error", error: DEFECT };
    if (what !== "hang" && what !== "abort") return { fault: "error", error: what };
    if (what === "abort") controller.abort(GONE);
    else setTimeout(() => controller.abort(GONE), 2);
    return what === "hang" ? { fault: "hang", until: controller.signal } : undefined;
  }

  function meet(step: StorageStep): StorageFault | undefined {
    const isPlanned = fault !== null && happened === undefined && isAt(step, fault.step);
    // What a storage is given cannot be cut unnoticed: it would be another upload.
    const isIt = isPlanned && (fault.what !== "cut" || step.verb === "read");
    if (isIt && skip > 0) skip -= 1;
    else if (isIt) {
      happened = { what: fault.what, at: step };
      return toFault(fault.what);
    }
    const milliseconds = jitter();
    return milliseconds < 0 ? undefined : { fault: "delay", milliseconds };
  }

  return { controller, meet, happened: () => happened };
}

function isAt({ step, verb }: StorageStep, wanted: Fault["step"]): boolean {
  if (wanted === "lost") return step === "response" && CHANGES.includes(verb);
  return wanted === "any" || wanted === step;
}

/** How long a step is held up, where several clients get in each other's way; less than 0 for not at all. */
export function createJitter(seed: number | undefined): () => number {
  if (seed === undefined) return () => -1;
  let last = seed;
  return () => {
    last = (Math.imul(last, 1_664_525) + 1_013_904_223) >>> 0;
    return (last >>> 16) % 6 < 3 ? -1 : (last >>> 24) % 3;
  };
}
