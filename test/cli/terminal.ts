import { spawn } from "node:child_process";
import { once } from "node:events";
import { builtCommand } from "../support/built.ts";

/** util-linux's `script`, which gives a command a terminal, is on each Linux. */
export const HAS_TERMINAL = process.platform === "linux";

/** Runs a command on a terminal, and types the password whenever it asks. Returns its status and all that is shown. */
export async function runOnTerminal(
  args: readonly string[],
  password: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly status: number | null; readonly shown: string }> {
  const command = [process.execPath, builtCommand, ...args].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", command, "/dev/null"], { env });
  let shown = "";
  let answered = 0;
  child.stdout.on("data", (chunk) => {
    shown += chunk;
    const asked = shown.match(/(?:Password|Repeat the password): /g)?.length ?? 0;
    for (; answered < asked; answered += 1) child.stdin.write(`${password}\r`);
  });
  const [status] = await once(child, "close");
  return { status, shown };
}
