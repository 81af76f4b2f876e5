import { createRandom } from "../cut-requests.ts";
import type { CrashEnvironment } from "./environment.ts";
import { perform } from "./lane.ts";
import {
  commands,
  form,
  makeFolder,
  makeTree,
  type Operation,
  removeFile,
  removeFolder,
  removeTree,
  type States,
  toPut,
  transfer,
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
const folder = (path: string) => (states: States) => makeFolder(path, states);
const clear = (path: string) => (states: States) =>
  states.get(path) === "folder" ? removeFolder(path, states) : removeFile(createRandom(1), states, path);
const tree = (states: States) => makeTree(createRandom(1), states);
const noTree = (states: States) => removeTree(createRandom(1), states);

const move = (states: States) => transfer("move", "left", "right", states, "command");
const moveByWebdav = (states: States) => transfer("move", "left", "right", states, "WebDAV");
const copyByWebdav = (states: States) => transfer("copy", "left", "right", states, "WebDAV");
const fileAt = (path: string) => [clear(path), put(path)];
const folderAt = (path: string) => [
  ...[clear(path), folder(path), folder(`${path}/deep`)],
  ...[put(`${path}/1.txt`), put(`${path}/deep/2.txt`)],
];

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
  onLane("a new folder", { mkdir: 1, fsync: 1, write: 1 }, [clear("tree")], tree),
  onLane(
    "a move of a file over a file",
    { rename: 1, fsync: 2, write: 3 },
    [...fileAt("left"), ...fileAt("right")],
    moveByWebdav,
  ),
  onLane(
    "a move of a file over a folder",
    { rename: 2, unlink: 2, rmdir: 2, fsync: 2, write: 16 },
    [...fileAt("left"), ...folderAt("right")],
    move,
  ),
  onLane(
    "a move of a folder over a file",
    { rename: 2, unlink: 1, fsync: 2, write: 5 },
    [...folderAt("left"), ...fileAt("right")],
    move,
  ),
  onLane(
    "a move of a folder over a folder",
    { rename: 2, unlink: 2, rmdir: 2, fsync: 2, write: 16 },
    [...folderAt("left"), ...folderAt("right")],
    moveByWebdav,
  ),
  onLane(
    "a copy of a folder over a folder",
    { mkdir: 2, pwrite64: 10, utimensat: 2, fsync: 5, rename: 2, unlink: 2, rmdir: 2, write: 20 },
    [...folderAt("left"), ...folderAt("right")],
    copyByWebdav,
  ),
  onLane(
    "a copy of a folder over a file",
    { mkdir: 2, pwrite64: 4, utimensat: 2, fsync: 5, rename: 2, unlink: 1, write: 10 },
    [...folderAt("left"), ...fileAt("right")],
    copyByWebdav,
  ),
  onLane(
    "a copy of a file over a folder",
    { openat: 10, pwrite64: 5, utimensat: 1, fsync: 2, rename: 2, unlink: 2, rmdir: 2, write: 16 },
    [...fileAt("left"), ...folderAt("right")],
    copyByWebdav,
  ),
  onLane(
    "a copy of a file over a file",
    { openat: 8, pwrite64: 5, utimensat: 1, fsync: 2, rename: 1, write: 3 },
    [...fileAt("left"), ...fileAt("right")],
    copyByWebdav,
  ),
  onLane("two commands", { mkdir: 1, unlink: 1, fsync: 2, write: 2 }, [clear("tree"), ...everyFile], (states) =>
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
