import { syncBuiltinESMExports } from "node:module";
import threads from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { createNodePasswordHasher } from "../../../../src/auth/passwords/hash-node.ts";

const PHC = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

/** Has every worker run another program, until the function is called that it gives. */
function replaceProgram(program: string): () => void {
  const Own = threads.Worker;
  function restore(): void {
    threads.Worker = Own;
    syncBuiltinESMExports();
  }
  function Replaced(): threads.Worker {
    return new Own(program, { eval: true, execArgv: [] });
  }
  threads.Worker = Replaced as unknown as typeof threads.Worker;
  syncBuiltinESMExports();
  onTestFinished(restore);
  return restore;
}

describe("the worker of a hash", () => {
  it.each([
    ["ends without a word", "process.exit(0)", "The worker returned no hash."],
    [
      "says nothing",
      "require('node:worker_threads').parentPort.postMessage(undefined)",
      "The worker returned no hash.",
    ],
    ["fails", "throw new Error('out of memory')", "out of memory"],
  ])("that %s fails that hash, and keeps no place from the next ones", async (_what, program, message) => {
    const hasher = createNodePasswordHasher({ maxConcurrent: 1 });
    expect(await hasher.verify("password", PHC)).toBe(true);
    const restore = replaceProgram(program);
    await expect(hasher.verify("password", PHC)).rejects.toThrow(message);
    await expect(hasher.verify("password", PHC)).rejects.toThrow(message);
    restore();
    expect(await hasher.verify("password", PHC)).toBe(true);
  });
});
