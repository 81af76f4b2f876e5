import { spawn } from "node:child_process";
import { once } from "node:events";
import { projectFolder } from "../support/built.ts";

/**
 * Starts a command of the examples' own words in the project's folder, on a free port, and answers with its `Listening
 * on` URL and what ends it.
 */
export async function startExample(
  command: string,
  env: NodeJS.ProcessEnv,
): Promise<{ url: string; stop(): Promise<void> }> {
  // In a group of its own: the shell between does not hand signals on.
  const child = spawn("sh", ["-c", command], { cwd: projectFolder, env: { ...process.env, ...env }, detached: true });
  const exited = once(child, "exit");
  let printed = "";
  const url = new Promise<string>((resolve, reject) => {
    const take = (text: string): void => {
      printed += text;
      const [, found] = /^Listening on (\S+)$/m.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    exited.then(([status]) => reject(new Error(`${command} ended with ${status}: ${printed}`)), reject);
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    await exited;
  };
  return { url: await url, stop };
}
