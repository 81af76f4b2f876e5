import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { createEsbuildAssets } from "../../build/assets.ts";
import type { NodeServerLimits } from "../../src/runtimes/node/server-limits.ts";
import { amount } from "../support/trust.ts";

/** What a process serves. */
export interface Settings {
  /** `bare` is `node:http` and nothing else, to compare with. */
  readonly kind: "fileferry" | "bare";
  readonly root: string;
  /** Names of accounts, each with the root as its home and `secret` as its password. */
  readonly accounts: readonly string[];
  readonly limits: NodeServerLimits;
}

/** Commands to the process. */
export type Order =
  | { readonly do: "usage"; readonly settleMilliseconds: number }
  | { readonly do: "end"; readonly deadlineSeconds: number };

/** Memory of a process after the collector was there, in bytes. */
export interface Usage {
  /** The JavaScript heap, and what its objects have outside of it. */
  readonly live: number;
  /** All pages that are resident, native memory of Node's connections among them, and what the allocators keep. */
  readonly rss: number;
}

/** What it answers. */
export type Answer = Usage | { readonly port: number };

/** A server in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  usage(): Promise<Usage>;
  /** How many descriptors it has open; of one path alone where it is given. */
  descriptors(path?: string): number;
  /** Ends it gracefully; gives its exit code. */
  end(deadlineSeconds: number): Promise<number | null>;
  kill(): void;
}

/** A large heap is given back some seconds after it was collected. */
const SETTLE_MILLISECONDS = amount({ short: 200, long: 4000 });

/** Bundles the program into a folder, from which {@link startServer} starts it. */
export async function prepareServers(folder: string): Promise<string> {
  const program = join(folder, "server.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("./server-program.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [createEsbuildAssets()],
    // Some packages are CommonJS.
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
  });
  return program;
}

/** Starts a server, and waits until it listens. */
export async function startServer(program: string, settings: Settings): Promise<ServerProcess> {
  const child = fork(program, [JSON.stringify(settings)], { execArgv: ["--expose-gc"] });
  const first = (await answerOf(child)) as { readonly port: number };

  async function usage(): Promise<Usage> {
    const answer = answerOf(child);
    child.send({ do: "usage", settleMilliseconds: SETTLE_MILLISECONDS } satisfies Order);
    return (await answer) as Usage;
  }

  async function end(deadlineSeconds: number): Promise<number | null> {
    const exit = once(child, "exit");
    child.send({ do: "end", deadlineSeconds } satisfies Order);
    const [code] = await exit;
    return code;
  }

  function descriptors(path?: string): number {
    const own = `/proc/${child.pid}/fd`;
    const all = readdirSync(own);
    return path === undefined ? all.length : all.filter((name) => targetOf(join(own, name)) === path).length;
  }

  return { port: first.port, usage, end, descriptors, kill: () => void child.kill("SIGKILL") };
}

/** The next message of a process; one that ends first has none. */
function answerOf(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`The server ended with ${code}.`));
    child.once("exit", onExit);
    child.once("message", (answer: Answer) => {
      child.off("exit", onExit);
      resolve(answer);
    });
  });
}

/** Where a descriptor leads, unless it was closed just now. */
function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
