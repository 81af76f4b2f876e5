import childProcess, { type ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { afterEach } from "vitest";
import { noteProblems } from "./openapi/noted-problems.ts";
import { askForDescription, settleWire } from "./openapi/wire.ts";

/*
 * For every file of tests: each exchange that goes over a socket of its clients, whatever they are, or that others such
 * as a browser have with its servers, and is answered by a service, wherever that runs, is held against the description
 * which that service gives of itself (9). Stand-ins for services do not name themselves: nothing is asked of them. What
 * is not seen, `wire-check.ts` says.
 */

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

// Hooks run in reverse order: that which looks at the problems is behind it.
afterEach(async () => {
  noteProblems(await settleWire());
});
