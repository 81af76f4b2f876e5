import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

/** What of the sources has run, by blocks (V8's precise coverage, taken in the process itself). */
export interface Coverage {
  /** Whether anything has run since the last call that never had; from then on it has. */
  takeNew(): boolean;
  /** The same without noting it. */
  hasNew(): boolean;
  /** How much of the functions of these files has run, from 0 to 1. */
  shareOf(files: readonly string[]): number;
  /** Nothing has run. */
  forget(): void;
}

interface Block {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Block[] }[];
}

/** A file's characters: whether each stands in a function, and whether that has run. */
interface Script {
  readonly inFunction: Uint8Array;
  readonly hasRun: Uint8Array;
}

/**
 * Begins to count in the files below a folder. What was loaded before is counted by whole functions only: it has to be
 * called before the files are loaded. Within a process it is one for all.
 */
export function createCoverage(sources: URL): Coverage {
  const folder = fileURLToPath(sources);
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const scripts = new Map<string, Script>();

  /** Since the last time. Within one thread the answer is there when the call returns. */
  function take(): readonly ScriptCoverage[] {
    let taken: readonly ScriptCoverage[] = [];
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      taken = result;
    });
    return taken.filter(({ url }) => toName(url) !== undefined);
  }

  /** Looks at what has run since the last time; whether any of it never had. */
  function note(isNoted: boolean): boolean {
    let isNew = false;
    for (const { url, functions } of take()) {
      const blocks = functions.flatMap(({ ranges }) => ranges);
      const length = blocks.reduce((most, { endOffset }) => Math.max(most, endOffset), 0);
      const script = toScript(toName(url) as string, length);
      // The module itself, and what Vite puts around it, are no functions of ours.
      for (const { startOffset, endOffset } of blocks) {
        if (startOffset > MODULE_HEAD) script.inFunction.fill(1, startOffset, endOffset);
      }
      if (merge(script.hasRun, toRun(blocks, length), isNoted)) isNew = true;
    }
    return isNew;
  }

  /** The name of a source, as `http/range.ts`; `undefined` for other scripts. */
  function toName(url: string): string | undefined {
    const path = url.startsWith("file://") ? fileURLToPath(url) : url;
    return path.startsWith(folder) ? path.slice(folder.length).replaceAll("\\", "/") : undefined;
  }

  function toScript(name: string, length: number): Script {
    const known = scripts.get(name);
    if (known !== undefined && known.hasRun.length >= length) return known;
    const script = { inFunction: new Uint8Array(length), hasRun: new Uint8Array(length) };
    script.inFunction.set(known?.inFunction ?? []);
    script.hasRun.set(known?.hasRun ?? []);
    scripts.set(name, script);
    return script;
  }

  function shareOf(files: readonly string[]): number {
    let [all, ran] = [0, 0];
    for (const [name, { inFunction, hasRun }] of scripts) {
      if (!files.includes(name)) continue;
      for (let at = 0; at < inFunction.length; at++) {
        all += inFunction[at] as number;
        ran += (inFunction[at] as number) & (hasRun[at] as number);
      }
    }
    return all === 0 ? 0 : ran / all;
  }

  function forget(): void {
    note(true);
    for (const { hasRun } of scripts.values()) hasRun.fill(0);
  }

  return { takeNew: () => note(true), hasNew: () => note(false), shareOf, forget };
}

/** Vite wraps a module into a function that begins here. */
const MODULE_HEAD = 64;

/** Which characters have run: inner blocks come behind the outer ones. */
function toRun(blocks: readonly Block[], length: number): Uint8Array {
  const run = new Uint8Array(length);
  for (const { startOffset, endOffset, count } of blocks) run.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return run;
}

/** Whether anything of `run` is not in `known`, into which it is put where it is to be noted. */
function merge(known: Uint8Array, run: Uint8Array, isNoted: boolean): boolean {
  let isNew = false;
  for (const [at, hasRun] of run.entries()) {
    if (hasRun === 0 || known[at] === 1) continue;
    isNew = true;
    if (!isNoted) break;
    known[at] = 1;
  }
  return isNew;
}
