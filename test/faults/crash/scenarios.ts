import { createRandom } from "../cut-requests.ts";
import type { CrashEnvironment } from "./environment.ts";
import { perform } from "./lane.ts";
import {
  clearTree,
  commands,
  form,
  makeTree,
  moveFile,
  type Operation,
  removeFile,
  removeTree,
  type States,
  toPut,
} from "./operations.ts";
import { changePassword } from "./passwords.ts";

/** System calls by their names, and how many of each there are in an operation, at least about. */
type Calls = Readonly<Record<string, number>>;

/** An operation whose process is killed before each of its system calls. */
export interface Scenario {
  readonly name: string;
  readonly calls: Calls;
  /** Has done what must stand before it. */
  prepare(environment: CrashEnvironment, origin: string): Promise<void>;
  /** Whether it was answered. */
  run(environment: CrashEnvironment, origin: string): Promise<boolean>;
}

/** Writes of five buffers: to the file's end, not to its device. */
const CONTENT_BYTES = 300_000;

let contents = 0;

/** The bytes of another file each time. */
function nextContent(): Buffer {
  contents += 1;
  return Buffer.alloc(CONTENT_BYTES, createRandom(contents).bytes(64));
}

function onLane(
  name: string,
  calls: Calls,
  before: readonly ((states: States) => Operation)[],
  operation: (states: States) => Operation,
): Scenario {
  return {
    name,
    calls,
    async prepare({ lanes: [lane] }, origin) {
      if (lane === undefined) throw new Error("There is no lane.");
      for (const make of before) {
        const next = make(lane.states);
        // What is so already needs no doing.
        if (next.effects.length > 0 && !(await perform(lane, next, origin))) throw new Error(`No answer: ${next.name}`);
      }
    },
    async run({ lanes: [lane] }, origin) {
      if (lane === undefined) throw new Error("There is no lane.");
      return perform(lane, operation(lane.states), origin);
    },
  };
}

const put = (path: string) => (states: States) => toPut(path, nextContent(), states);
const remove = (path: string) => (states: States) => removeFile(createRandom(1), states, path);
const move = (from: string, to: string) => (states: States) => moveFile(states, from, to);
const clear = (states: States) => clearTree(createRandom(1), states);
const tree = (states: States) => makeTree(createRandom(1), states);
const noTree = (states: States) => removeTree(createRandom(1), states);

/** One of them the commands remove. */
const everyFile = ["a.txt", "b.bin", "new.txt", "newer.bin"].map(put);

/** The changes that a client can ask for, each from a state in which it succeeds. */
export const SCENARIOS: readonly Scenario[] = [
  onLane(
    "an upload that overwrites",
    { openat: 2, pwrite64: 5, utimensat: 1, fsync: 2, rename: 1, close: 2, write: 2 },
    [put("a.txt")],
    put("a.txt"),
  ),
  onLane(
    "an upload of what must be new",
    { openat: 2, pwrite64: 2, fsync: 2, link: 1, unlink: 1, write: 3 },
    [remove("new.txt")],
    (states) => toPut("new.txt", nextContent(), states, true),
  ),
  onLane(
    "a form of several files",
    { pwrite64: 3, rename: 3, fsync: 4, write: 3 },
    [put("a.txt"), put("b.bin")],
    (states) => form(createRandom(2), states, 4),
  ),
  onLane("the removal of a file", { unlink: 1, fsync: 1, write: 1 }, [put("a.txt")], remove("a.txt")),
  onLane(
    "the removal of a folder",
    { unlink: 2, rmdir: 2, fsync: 1, write: 3 },
    [tree, tree, put("tree/1.txt"), put("tree/2.bin"), put("tree/deep/3.txt")],
    noTree,
  ),
  onLane("a new folder", { mkdir: 1, fsync: 1, write: 1 }, [clear], tree),
  onLane(
    "a move of a file over a file",
    { rename: 1, fsync: 2, write: 1 },
    [put("a.txt"), put("b.bin")],
    move("a.txt", "b.bin"),
  ),
  onLane(
    "a move of a file over a folder",
    { rename: 2, unlink: 2, rmdir: 2, fsync: 2, write: 2 },
    [clear, tree, tree, put("a.txt"), put("tree/1.txt"), put("tree/deep/3.txt")],
    move("a.txt", "tree"),
  ),
  onLane("two commands", { mkdir: 1, unlink: 1, fsync: 2, write: 2 }, [clear, ...everyFile], (states) =>
    commands(createRandom(1), states),
  ),
  {
    name: "a change of a password",
    // A thread that has worked on a file writes to report it. Its counts say at which of its calls it is killed.
    calls: { fchmod: 1, fsync: 2, rename: 1, write: 14 },
    prepare: async () => {},
    run: ({ book }, origin) => changePassword(book, origin),
  },
];

/** Each call with each of its numbers. */
export function countCalls(calls: Calls): readonly (readonly [call: string, count: number])[] {
  return Object.entries(calls).flatMap(([call, most]) =>
    Array.from({ length: most }, (_, index) => [call, index + 1] as const),
  );
}
