import { readFileSync } from "node:fs";
import { join } from "node:path";
import { outputOf, startDiskProcess } from "../disk/process.ts";
import type { Errno } from "./failing-calls.ts";

/** A call of a process to the system, as `strace` writes it down. */
export interface TracedCall {
  readonly thread: string;
  readonly name: string;
  readonly text: string;
  /** How many such calls the thread had made with it. */
  readonly number: number;
}

/** Which call of an operation the system refuses. */
export interface Refusal {
  readonly call: string;
  /** What stands in its line, and in a line of the same operation before it; else it is the first. */
  readonly with?: RegExp;
  readonly after?: RegExp;
  readonly errno: Errno;
  /** It, and all after it. */
  readonly lasts?: true;
}

/** What is read between the beginning of the process and the operation: the name of no file. */
const MARK = "/fileferry-begins";
const CALLS =
  "access,faccessat2,openat,close,pread64,pwrite64,statx,lstat,fsync,utimensat,fchmod,fchown,rename,link,unlink,mkdir,rmdir,getdents64";

/**
 * Does something with a storage in a process of its own, of which a call may be refused; what came of it, in a word.
 */
export async function runTraced(
  program: string,
  root: string,
  action: string,
  refused?: { readonly call: TracedCall; readonly refusal: Refusal },
): Promise<{ readonly outcome: string; readonly calls: readonly TracedCall[]; readonly injected: readonly string[] }> {
  const log = join(root, "..", "strace.log");
  const inject = refused && toInjection(refused.call, refused.refusal);
  const options = ["-f", "--seccomp-bpf", "-qq", "-s", "200", "-o", log, "-e", `trace=${CALLS}`];
  const text = `
    import { accessSync } from "node:fs";
    const storage = createDiskStorage({ root });
    async function* content() { yield new TextEncoder().encode("new content"); }
    async function read(path) { return new Response((await storage.read(path)).body).text(); }
    async function list(path) { const names = []; for await (const { name } of storage.list(path)) names.push(name); return names.sort().join(); }
    // After the clean-up of leftovers, which lists folders too.
    setTimeout(async () => {
      try { accessSync(${JSON.stringify(MARK)}); } catch {}
      const outcome = await (async () => { ${action} })().then((result) => result ?? "done", (error) => error.code);
      try { accessSync(${JSON.stringify(MARK)}); } catch {}
      process.stdout.write(String(outcome), () => process.exit(0));
    }, 250);`;
  const under = ["env", "UV_THREADPOOL_SIZE=1", "strace", ...options, ...(inject ? ["-e", inject] : [])];
  const outcome = await outputOf(startDiskProcess(program, root, text, { under }));
  const lines = readFileSync(log, "utf8").split("\n");
  const calls = toCalls(lines);
  const marks = calls.flatMap(({ text: line }, index) => (line.includes(MARK) ? [index] : []));
  return {
    outcome,
    calls: calls.slice((marks[0] ?? 0) + 1, marks[1]),
    injected: lines.filter((line) => line.includes("(INJECTED)")),
  };
}

/** The call that is to be refused. */
export function findCall(calls: readonly TracedCall[], refusal: Refusal): TracedCall | undefined {
  const { after } = refusal;
  const begin = after === undefined ? 0 : calls.findIndex(({ text }) => after.test(text)) + 1;
  return calls.slice(begin).find(({ name, text }) => name === refusal.call && (refusal.with?.test(text) ?? true));
}

function toInjection({ name, number }: TracedCall, { errno, lasts }: Refusal): string {
  return `inject=${name}:error=${errno}:when=${number}${lasts ? "+" : ""}`;
}

function toCalls(lines: readonly string[]): readonly TracedCall[] {
  const counts = new Map<string, number>();
  return lines.flatMap((line): readonly TracedCall[] => {
    const [, thread = "", name = "", text] = /^(\d+) +(\w+)\((.*)$/.exec(line) ?? [];
    if (text === undefined) return [];
    const key = `${thread} ${name}`;
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return [{ thread, name, text: `${name}(${text}`, number }];
  });
}
