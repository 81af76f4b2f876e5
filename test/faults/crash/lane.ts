import { expect } from "vitest";
import { AUTHORIZATION } from "../../support/served.ts";
import { type Operation, PATHS, type State, type States } from "./operations.ts";

/** A folder that one client works in, one operation after the other, and what the client knows of it. */
export interface Lane {
  readonly name: string;
  states: States;
  /** The operation whose answer has not come. */
  pending: Operation | undefined;
  /** What was done since the last look, for messages. */
  done: string[];
}

/** A lane that has nothing yet. */
export function createLane(name: string): Lane {
  return { name, states: new Map(), pending: undefined, done: [] };
}

/**
 * Runs one operation on a lane; whether it was answered. An answer must be what the lane's states make of the request.
 */
export async function perform(lane: Lane, operation: Operation, origin: string): Promise<boolean> {
  const { name, effects, succeeds } = operation;
  lane.pending = operation;
  const status = await operation.send(`${origin}home/${lane.name}/`).catch(() => undefined);
  if (status === undefined) return false;
  lane.done.push(`${name}: ${status}`);
  const isSuccess = status < 300;
  if (isSuccess !== succeeds || status >= 500) throw new Error(`${lane.name}: ${lane.done.join("; ")} is not expected`);
  // Of commands one may be done where the other is not possible.
  lane.states = new Map([...lane.states, ...effects]);
  lane.pending = undefined;
  return true;
}

/**
 * Looks at a lane after a restart: all that was acknowledged is there, and what was not is wholly done or not at all.
 */
export async function checkLane(lane: Lane, origin: string, what: string): Promise<void> {
  const found = await readLane(lane, origin);
  const message = `${what}: ${[...lane.done, lane.pending && `${lane.pending.name}: no answer`].join("; ")}`;
  expect(
    [...found.keys()].filter((path) => !PATHS.includes(path)),
    `members that nobody made, ${message}`,
  ).toEqual([]);
  const { effects = [], outcomes } = lane.pending ?? {};
  for (const path of PATHS) {
    const possible = [lane.states.get(path)];
    for (const [changed, state] of effects) if (changed === path) possible.push(state);
    const isKnown = possible.some((state) => isSame(state, found.get(path)));
    const sizes = `${describeState(found.get(path))} instead of ${possible.map(describeState).join(" or ")}`;
    expect(isKnown, `${lane.name}/${path} is wholly old or new, ${sizes}, ${message}`).toBe(true);
  }
  const isWhole = outcomes?.some((outcome) => PATHS.every((path) => isSame(outcome.get(path), found.get(path))));
  const seen = [...found].map(([path, state]) => `${path}: ${describeState(state)}`).join(", ");
  expect(isWhole ?? true, `each place has one thing as a whole, not ${seen}, ${message}`).toBe(true);
  lane.states = found;
  lane.pending = undefined;
  lane.done = [];
}

/** All that a client sees in a lane, at any depth. */
async function readLane(lane: Lane, origin: string): Promise<Map<string, State>> {
  const found = new Map<string, State>();
  const base = `${origin}home/${lane.name}/`;
  for (const folders = [""]; folders.length > 0; ) {
    const folder = folders.pop() ?? "";
    const listing = JSON.parse((await read(`${base}${folder}`)).toString()) as {
      content: { name: string; is_directory: boolean; size: number }[];
    };
    for (const { name, is_directory: isFolder, size } of listing.content) {
      const path = `${folder}${name}`;
      const content = isFolder ? "folder" : await read(`${base}${path}`);
      if (content instanceof Buffer) expect(content.byteLength, `the size of ${path} in its listing`).toBe(size);
      found.set(path, content);
      if (isFolder) folders.push(`${path}/`);
    }
  }
  return found;
}

async function read(url: string): Promise<Buffer> {
  const response = await fetch(url, { headers: { Accept: "application/json", Authorization: AUTHORIZATION } });
  const content = Buffer.from(await response.arrayBuffer());
  expect(response.status, `${url}: ${content.toString("latin1", 0, 200)}`).toBe(200);
  return content;
}

function isSame(one: State, other: State): boolean {
  return one instanceof Buffer && other instanceof Buffer ? one.equals(other) : one === other;
}

function describeState(state: State): string {
  if (state instanceof Buffer) return `a file of ${state.byteLength}`;
  return state === undefined ? "nothing" : "a folder";
}
