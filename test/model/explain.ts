import type { StorageStep } from "../../src/testing/faulty-storage/faults.ts";
import { type Asked, type Node, type Prediction, predict, type State } from "./model.ts";
import type { Fault } from "./operations.ts";
import { predictTarget } from "./targets.ts";

/** What a client saw of an operation, and what had gone wrong on its way. */
export interface Seen {
  readonly status: number;
  readonly text: string;
  readonly etag?: string | undefined;
  readonly length?: number | undefined;
  readonly session?: string | undefined;
  /** Whether each target was done, where there are several. */
  readonly outcomes?: readonly boolean[] | undefined;
  /** The answer ended too early, and the client knows. */
  readonly isBroken: boolean;
  /** The client has disconnected before it saw an answer. */
  readonly isGone: boolean;
  readonly fault?: { readonly what: Fault["what"]; readonly at: StorageStep } | undefined;
}

/** An operation that is over. */
export interface Ended {
  readonly asked: Asked;
  readonly seen: Seen;
}

/** How far an operation has come: its targets so far, and whether they came to what had gone wrong. */
interface Progress {
  readonly at: number;
  readonly hasFailed: boolean;
}

interface Step {
  readonly state: State;
  readonly progress: Progress;
}

const OVER = Number.POSITIVE_INFINITY;
/** The status that clients get for each fault that is a failure (CONTRACT 1). */
const STATUS_OF: Readonly<Partial<Record<Fault["what"], number>>> = {
  unavailable: 503,
  "no-space": 507,
  denied: 403,
  defect: 500,
};

/**
 * Finds an order of operations that overlapped: one after the other, in which each client saw what it has seen, and
 * which ends with what is stored. Returns the state after it; `undefined` if there is no such order. A failed operation
 * has changed nothing, unless its acknowledgement was lost. An operation that its client did not wait for may have
 * happened or not.
 */
export function explain(start: State, all: readonly Ended[], stored: ReadonlyMap<string, Node>): State | undefined {
  const isAlone = all.length === 1;
  const hopeless = new Set<string>();

  function search(state: State, progress: readonly Progress[]): State | undefined {
    if (progress.every(({ at }) => at === OVER)) return adopt(state, start, stored);
    const key = `${progress.map(({ at, hasFailed }) => `${at}${hasFailed}`)} ${toKey(state)}`;
    if (hopeless.has(key)) return undefined;
    for (const [index, ended] of all.entries()) {
      const own = progress[index];
      if (own === undefined || own.at === OVER) continue;
      for (const next of advance(state, ended, own, isAlone)) {
        const found = search(next.state, progress.with(index, next.progress));
        if (found !== undefined) return found;
      }
    }
    hopeless.add(key);
    return undefined;
  }

  return search(
    start,
    all.map(() => ({ at: 0, hasFailed: false })),
  );
}

/** The ways in which an operation may go on from a state, by what its client has seen. */
function advance(state: State, { asked, seen }: Ended, progress: Progress, isAlone: boolean): readonly Step[] {
  const { isGone, outcomes = [], fault } = seen;
  const over = (next: State): Step => ({ state: next, progress: { ...progress, at: OVER } });
  const leaves: readonly Step[] = isGone && fault?.what === "abort" ? [over(state)] : [];
  if (progress.at > 0) return [...advanceTarget(state, { asked, seen }, progress, isAlone), ...leaves];
  const expected = predict(state, asked, seen);
  const failed = isGone || seen.status === STATUS_OF[fault?.what ?? "short"];
  if (expected === "proceed") {
    const stops = failed && isFailure(fault) ? [over(state)] : [];
    const goesOn = isGone || outcomes.length > 0;
    return [...(goesOn ? [{ state, progress: { ...progress, at: 1 } }] : []), ...stops, ...leaves];
  }
  // Whatever else may come of it changes nothing.
  const reached = seen.status === expected.status ? expected.state : state;
  const steps: Step[] = isSeen(expected, asked, seen, isAlone) ? [over(reached)] : [];
  // What hung may have been something that it can do without.
  if (isGone) steps.push(over(expected.state));
  if (failed && isFailure(fault)) steps.push(over(isLostAnswer(fault) ? expected.state : state));
  return [...steps, ...leaves];
}

function advanceTarget(
  state: State,
  { asked, seen }: Ended,
  { at, hasFailed }: Progress,
  isAlone: boolean,
): readonly Step[] {
  const { isGone, outcomes = [], fault } = seen;
  const { act } = asked.operation;
  const count = act.kind === "commands" ? act.commands.length : act.kind === "upload" ? act.files.length : 0;
  const next = at === count ? OVER : at + 1;
  const expected = predictTarget(state, asked, at - 1);
  const isDone = outcomes[at - 1];
  const step = (to: State, failed: boolean): Step => ({ state: to, progress: { at: next, hasFailed: failed } });
  const steps: Step[] = [];
  if (isGone || expected.isDone === isDone) steps.push(step(expected.state, hasFailed));
  if (!isAlone && !isGone && expected.isDone !== isDone && expected.isUnsure === true)
    steps.push(step(state, hasFailed));
  const mayHaveFailed = isFailure(fault) && !hasFailed && isDone !== true;
  if (mayHaveFailed) steps.push(step(isLostAnswer(fault) ? expected.state : state, true));
  // It may have been the last thing that was done for a client that hung.
  if (mayHaveFailed && isGone)
    steps.push({
      ...step(isLostAnswer(fault) ? expected.state : state, true),
      progress: { at: OVER, hasFailed: true },
    });
  return steps;
}

function isFailure(fault: Seen["fault"]): boolean {
  return fault !== undefined && (fault.what === "hang" || STATUS_OF[fault.what] !== undefined);
}

/** Whether all was done when it failed. */
function isLostAnswer(fault: Seen["fault"]): boolean {
  if (fault === undefined) return false;
  const { step, verb } = fault.at;
  return step === "response" && (verb === "write" || verb === "createFolder" || verb === "remove");
}

/** Whether a client has seen what it had to. */
function isSeen(
  { status, orElse = [], content, part = "" }: Prediction,
  asked: Asked,
  seen: Seen,
  isAlone: boolean,
): boolean {
  if (seen.isGone) return false;
  if (seen.status !== status && (isAlone || !orElse.includes(seen.status))) return false;
  if (content === undefined) return !seen.isBroken || isBreaking(seen.fault);
  if (content.etag !== undefined && content.etag !== seen.etag) return false;
  if (asked.operation.act.kind === "head") return seen.length === content.text.length;
  if (seen.isBroken) return isBreaking(seen.fault) && part.startsWith(seen.text);
  return seen.text === part;
}

function isBreaking(fault: Seen["fault"]): boolean {
  return isFailure(fault) || fault?.what === "cut";
}

/**
 * Returns the state with the entity-tags of the storage, if the state is what is stored. A new version has another tag
 * than the one before, even if its text is the same.
 */
function adopt(state: State, start: State, stored: ReadonlyMap<string, Node>): State | undefined {
  if (state.tree.size !== stored.size) return undefined;
  for (const [path, node] of state.tree) {
    const found = stored.get(path);
    if (found?.kind !== node.kind) return undefined;
    if (found.kind !== "file" || node.kind !== "file") continue;
    const former = start.tree.get(path);
    const isFormer = former?.kind === "file" && former.etag === found.etag;
    if (isFormer && former.version !== node.version) return undefined;
    if (found.text !== node.text || (node.etag !== undefined && node.etag !== found.etag)) return undefined;
  }
  const known = [...state.tree].map(([path, node]) => {
    const found = stored.get(path);
    return [path, node.kind === "file" && found?.kind === "file" ? { ...node, etag: found.etag } : node] as const;
  });
  return { ...state, tree: new Map(known) };
}

const keys = new WeakMap<State, string>();

/** The same for states that are the same. */
function toKey(state: State): string {
  const known = keys.get(state);
  if (known !== undefined) return known;
  const nodes = [...state.tree].map(([path, node]) => `${path} ${node.kind === "file" ? node.version : ""}`);
  const key = [...nodes.sort(), ...state.sessions.keys()].join();
  keys.set(state, key);
  return key;
}
