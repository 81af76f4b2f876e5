import { scrypt } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import {
  type Argon2Parameters,
  createPasswordHasher,
  type PasswordHasher,
  type PasswordHasherOptions,
  type ScryptParameters,
} from "./hash.ts";

/** As text rather than as a file, which a bundler would lose. */
const argon2idProgram = `
const { parentPort, workerData } = require("node:worker_threads");
const { argon2id } = require(workerData.module);
parentPort.postMessage(argon2id(workerData.password, workerData.salt, workerData.options));
`;

const LAST_WORD_MILLISECONDS = 100;

/**
 * {@link createPasswordHasher} off the main thread: scrypt in Node's thread pool, argon2id in a worker thread of
 * its own per computation. By default two at once, one where there are no more than two processors: the pool and the processors have
 * room left for files. Methods of one service share one hasher, or the bound counts for each of them.
 */
export function createNodePasswordHasher(options: PasswordHasherOptions = {}): PasswordHasher {
  return createPasswordHasher({
    scrypt: scryptInThreadPool,
    argon2id: argon2idInWorker,
    maxConcurrent: availableParallelism() > 2 ? 2 : 1,
    ...options,
  });
}

function scryptInThreadPool(
  password: Uint8Array,
  salt: Uint8Array,
  length: number,
  { ln, r, p }: ScryptParameters,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    // The parsed parameters are bounded already; Node's own default bound is 32 MiB.
    scrypt(password, salt, length, { N: 2 ** ln, r, p, maxmem: 2 ** 29 }, (error, key) =>
      // Bun has `undefined` for no error.
      error ? reject(error) : resolve(key),
    );
  });
}

async function argon2idInWorker(
  password: Uint8Array,
  salt: Uint8Array,
  length: number,
  parameters: Argon2Parameters,
): Promise<Uint8Array> {
  const worker = new Worker(argon2idProgram, {
    eval: true,
    execArgv: [],
    workerData: {
      module: createRequire(import.meta.url).resolve("@noble/hashes/argon2.js"),
      password,
      salt,
      options: { ...parameters, dkLen: length },
    },
  });
  const ended = new AbortController();
  // Its last message may come behind its end on runtimes other than Node.
  worker.once("exit", () => setTimeout(() => ended.abort(), LAST_WORD_MILLISECONDS));
  try {
    // Rejects when the worker fails, or ends without a word.
    const [derived]: Uint8Array[] = await once(worker, "message", { signal: ended.signal });
    if (derived !== undefined) return derived;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  throw new Error("The worker gave no hash.");
}
