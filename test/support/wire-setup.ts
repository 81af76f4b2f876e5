import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterEach } from "vitest";
import { failForProblems, noteProblems } from "./openapi/noted-problems.ts";
import { askForDescription, forgetServices, settleWire } from "./openapi/wire.ts";
import { watchOnce } from "./watch-once.ts";

/*
 * For every file of tests: each exchange that goes over a socket of its clients, whatever they are, or that others such
 * as a browser have with its servers, and is answered by a service, wherever that runs, is compared with the
 * description which that service gives of itself (9). Stand-ins for services do not name themselves: nothing is asked
 * of them. What is not seen, `wire-check.ts` says.
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
