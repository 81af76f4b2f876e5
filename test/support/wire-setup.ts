import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterEach } from "vitest";
import { failForProblems, noteProblems } from "./openapi/noted-problems.ts";
import { askForDescription, forgetServices, settleWire } from "./openapi/wire.ts";
import { watchOnce } from "./watch-once.ts";

/*
 * Runs for every test file. It compares the exchanges of all clients in this process, and those of others such as
 * browsers with its servers, with the description of the service that has answered (9). Stand-ins for services do not
 * name themselves, so they are not asked. `wire-check.ts` lists what is not seen.
 */

forgetServices();
failForProblems();
// Hooks run in reverse order: this one notes problems before the hook above looks at them.
afterEach(async () => {
  noteProblems(await settleWire());
});

watchOnce("wire", watchCommands);

function watchCommands(): void {
  const { spawn } = childProcess;
  childProcess.spawn = ((...args: Parameters<typeof spawn>): ChildProcess => {
    const child = spawn(...args);
    const { stdout } = child;
    if (stdout === null) return child;
    const push = stdout.push;
    stdout.push = (chunk: unknown, encoding?: BufferEncoding): boolean => {
      const [, url] = /^Listening on (https?:\/\/\S+)$/m.exec(String(chunk)) ?? [];
      if (url !== undefined) askForDescription(url);
      return push.call(stdout, chunk, encoding);
    };
    return child;
  }) as typeof spawn;
  syncBuiltinESMExports();
}
