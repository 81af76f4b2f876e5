import { Readable } from "node:stream";
import { run } from "../../src/cli/program.ts";
import { watchText } from "./secrets/secrets.ts";

/** What a command has printed, and its exit status. */
export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command in the process of the tests, which takes a tenth of the time of another process. For commands that
 * end by themselves. They read their input from a pipe. One at a time: what the process prints meanwhile counts as the
 * command's.
 */
export async function runInProcess(args: readonly string[], input = ""): Promise<CommandResult> {
  const printed = { stdout: "", stderr: "" };
  const restores = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const { write } = stream;
    stream.write = ((chunk: Uint8Array | string): boolean => {
      printed[name] += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      return true;
    }) as typeof write;
    return () => {
      stream.write = write;
    };
  });
  const { stdin } = process;
  Object.defineProperty(process, "stdin", { value: Readable.from([Buffer.from(input)]) });
  restores.push(() => Object.defineProperty(process, "stdin", { value: stdin }));
  // `fileferry link` prints links, `fileferry key` keys, and completions have words of help: "Basic credentials".
  const isShown = ["link", "key", "completion"].includes(args[0] ?? "");
  watchText(() => (isShown ? printed.stderr : `${printed.stdout}${printed.stderr}`));
  try {
    return { status: await run(args), ...printed };
  } finally {
    for (const restore of restores) restore();
  }
}
