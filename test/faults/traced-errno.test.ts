import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { reportFigure } from "../support/trust.ts";
import { prepareDiskProcesses } from "./disk/process.ts";
import { findCall, type Refusal, runTraced, type TracedCall } from "./errno/traced.ts";

/** Needs the right to trace, which some containers lack. */
const isTraced =
  process.platform === "linux" &&
  process.arch === "x64" &&
  spawnSync("strace", ["-f", "--seccomp-bpf", "-qq", "-e", "trace=none", "true"]).status === 0;
const NOBODY = 65_534;
/** Where threads came in another order than when the call was looked for. */
const ATTEMPTS = 10;

const ACTIONS = {
  overwrite: 'await storage.write("/file", content());',
  "create alone": 'await storage.write("/new", content(), { ifNoneMatch: "*" });',
  read: 'return read("/file");',
  list: 'return list("/");',
  "create folder": 'await storage.createFolder("/made");',
  "remove file": 'await storage.remove("/file");',
  "remove tree": 'await storage.remove("/tree");',
} as const;

/** Not the statistics of the thread, of which 64 bytes are read (`thread-times.ts`). */
const READ_CONTENT = /, (?!64,)\d+, \d+\)/;

/** What is to be in the root; in a tree of one file that is the same as wholly gone. */
const OLD = { file: "former", tree: "/", "tree/a": "a" };
const NEW: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  overwrite: { ...OLD, file: "new content" },
  "create alone": { ...OLD, new: "new content" },
  "create folder": { ...OLD, made: "/" },
  "remove file": { tree: "/", "tree/a": "a" },
  "remove tree": { file: "former" },
  emptied: { file: "former", tree: "/" },
};

type Action = keyof typeof ACTIONS;
type Row = readonly [Action, Refusal, outcome: string, state: keyof typeof NEW | "former"];
const TEMPORARY = /\.fileferry-[^/]*\.tmp", O_WRONLY/;

const ALL: readonly Row[] = [
  ["overwrite", { call: "openat", with: TEMPORARY, errno: "EMFILE" }, "unavailable", "former"],
  ["overwrite", { call: "openat", with: TEMPORARY, errno: "ENOSPC" }, "no-space", "former"],
  ["overwrite", { call: "openat", with: /O_DIRECTORY/, errno: "ENFILE" }, "unavailable", "former"],
  ["overwrite", { call: "statx", with: /\/file"/, errno: "ESTALE" }, "unavailable", "former"],
  ["overwrite", { call: "pwrite64", errno: "ENOSPC" }, "no-space", "former"],
  ["overwrite", { call: "pwrite64", errno: "EDQUOT" }, "no-space", "former"],
  ["overwrite", { call: "pwrite64", errno: "EIO" }, "unavailable", "former"],
  ["overwrite", { call: "fchmod", errno: "EPERM" }, "denied", "former"],
  ["overwrite", { call: "fchown", errno: "EIO" }, "unavailable", "former"],
  ["overwrite", { call: "utimensat", errno: "EROFS" }, "denied", "former"],
  ["overwrite", { call: "fsync", errno: "EIO" }, "unavailable", "former"],
  ["overwrite", { call: "fsync", errno: "EDQUOT" }, "no-space", "former"],
  ["overwrite", { call: "statx", after: /^fsync/, errno: "EIO" }, "unavailable", "former"],
  ["overwrite", { call: "close", after: /^fsync/, errno: "EDQUOT" }, "no-space", "former"],
  ["overwrite", { call: "rename", errno: "ENOSPC" }, "no-space", "former"],
  ["overwrite", { call: "rename", errno: "EBUSY" }, "unavailable", "former"],
  // The last step: the change was made, but it is not acknowledged.
  ["overwrite", { call: "fsync", after: /^rename/, errno: "EIO" }, "unavailable", "overwrite"],
  ["create alone", { call: "link", errno: "EIO" }, "unavailable", "former"],
  ["create alone", { call: "link", errno: "EACCES" }, "done", "create alone"],
  ["create alone", { call: "link", errno: "EPERM" }, "done", "create alone"],
  ["create alone", { call: "unlink", errno: "EIO" }, "done", "create alone"],
  ["read", { call: "pread64", with: READ_CONTENT, errno: "EIO", lasts: true }, "unavailable", "former"],
  ["list", { call: "getdents64", errno: "ESTALE" }, "unavailable", "former"],
  ["create folder", { call: "mkdir", errno: "EDQUOT" }, "no-space", "former"],
  ["create folder", { call: "mkdir", errno: "EROFS" }, "denied", "former"],
  ["remove file", { call: "unlink", errno: "EACCES" }, "denied", "former"],
  ["remove tree", { call: "getdents64", errno: "EIO" }, "unavailable", "former"],
  ["remove tree", { call: "rmdir", errno: "EBUSY" }, "unavailable", "emptied"],
];

/** Without the right to give files away, that is not tried. */
const ROWS = ALL.filter(([, { call }]) => call !== "fchown" || process.getuid?.() === 0).map(
  ([action, refusal, outcome, state]) => ({ action, refusal, ...refusal, outcome, state }),
);

const folder = mkdtempSync(join(tmpdir(), "fileferry-traced-"));
const root = join(folder, "root");
let program = "";
/** The calls of each action, where none is refused. */
const courses = new Map<Action, readonly TracedCall[]>();
let tried = 0;

beforeAll(async () => {
  if (isTraced) program = await prepareDiskProcesses();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  if (program !== "") rmSync(program, { recursive: true });
  reportFigure({ row: "Failing file calls", what: "points below Node, by strace", value: tried });
});

describe("a process that the system refuses a call (skipped without strace)", () => {
  const title = "$action: $call is refused with $errno, which is told as $outcome, and the state is $state";
  it.skipIf(!isTraced).each(ROWS)(title, async ({ action, refusal, outcome, state }) => {
    expect(await refuse(action, refusal)).toBe(outcome);
    const names = () => readdirSync(root, { recursive: true, encoding: "utf8" });
    // The next start.
    createDiskStorage({ root });
    await expect.poll(() => names().filter((name) => name.includes(".fileferry-"))).toEqual([]);
    const found = names().map((name) => [name, contentOf(join(root, name))]);
    expect(Object.fromEntries(found)).toEqual(NEW[state] ?? OLD);
    tried += 1;
  });
});

/** Does something and has a call refused; what came of it. */
async function refuse(action: Action, refusal: Refusal): Promise<string> {
  const wanted = new RegExp(`^\\d+ +(?:<\\.\\.\\. )?${refusal.call}\\b`);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    reset();
    const course = courses.get(action) ?? (await runTraced(program, root, ACTIONS[action])).calls;
    courses.set(action, course);
    const call = findCall(course, refusal);
    if (call === undefined) throw new Error(`${refusal.call} is not made`);
    reset();
    // The number of a call holds for one thread. On a busy machine another thread makes the call, and the process may
    // not even start.
    const traced = await runTraced(program, root, ACTIONS[action], { call, refusal }).catch(() => undefined);
    courses.delete(action);
    if (traced === undefined) continue;
    const { outcome, calls, injected } = traced;
    const met = findCall(calls, refusal);
    const isSame = met !== undefined && met.number === call.number && injected.length > 0;
    const isMet = isSame && isLasting(calls.slice(calls.indexOf(met)), refusal);
    if (!isMet || !injected.every((line) => wanted.test(line))) continue;
    courses.set(action, course);
    return outcome;
  }
  throw new Error(`${refusal.call} was not met`);
}

/** Whether all calls were refused that should be: each thread counts its own, and another one may try again. */
function isLasting(calls: readonly TracedCall[], refusal: Refusal): boolean {
  if (refusal.lasts !== true) return true;
  const same = calls.filter(({ name }) => name === refusal.call);
  return same.every(({ text }) => text.includes("(INJECTED)"));
}

function reset(): void {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(join(root, "tree"), { recursive: true });
  writeFileSync(join(root, "file"), OLD.file);
  writeFileSync(join(root, "tree/a"), OLD["tree/a"]);
  // What an overwrite keeps.
  chmodSync(join(root, "file"), 0o604);
  if (process.getuid?.() === 0) chownSync(join(root, "file"), NOBODY, NOBODY);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "/";
  }
}
