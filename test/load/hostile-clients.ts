import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** What the process of the hostile clients is given. */
export interface HostileSettings {
  readonly port: number;
  /** A session of each account. */
  readonly sessions: readonly string[];
}

/** How often each kind of request was sent; a login is counted when it is refused. */
export interface Started {
  readonly listings: number;
  readonly pages: number;
  readonly heads: number;
  readonly stalled: number;
  readonly abandoned: number;
  readonly slow: number;
  readonly refused: number;
}

/** Accounts that do their worst, in a process of their own. */
export interface HostileClients {
  countStarted(): Promise<Started>;
  end(): void;
}

/** Bundles the program of the clients into a folder, and starts it. */
export async function startHostileClients(folder: string, settings: HostileSettings): Promise<HostileClients> {
  const program = join(folder, "hostile.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("./hostile-program.ts", import.meta.url))],
    outfile: program,
    bundle: true,
    platform: "node",
    format: "esm",
  });
  const child: ChildProcess = fork(program, [JSON.stringify(settings)]);

  async function countStarted(): Promise<Started> {
    child.send("count");
    const [started] = await once(child, "message");
    return started as Started;
  }

  return { countStarted, end: () => void child.kill("SIGKILL") };
}
