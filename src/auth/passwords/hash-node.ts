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

/** The worker's program. It is text because a bundler would not find it as a file of its own. */
const argon2idProgram = `
const { parentPort, workerData } = require("node:worker_threads");
const { argon2id } = require(workerData.module);
parentPort.postMessage(argon2id(workerData.password, workerData.salt, workerData.options));
`;

const MESSAGE_GRACE_MILLISECONDS = 100;

/**
 * Creates a {@link PasswordHasher} that computes off the main thread: scrypt in Node's thread pool, argon2id in a new
 * worker thread for each computation. By default it runs two computations at a time, or one if there are at most two
 * processors, so that threads and processors are left for files. Let the methods of one service share one hasher: each
 * hasher applies its limits separately.
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
    // Parsing has limited the parameters already. Node's default limit of 32 MiB would refuse allowed ones.
    scrypt(password, salt, length, { N: 2 ** ln, r, p, maxmem: 2 ** 29 }, (error, key) =>
      // Bun passes `undefined` instead of `null` when there is no error.
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
  const exited = new AbortController();
  // On runtimes other than Node the worker's message may arrive after its `exit` event.
  worker.once("exit", () => setTimeout(() => exited.abort(), MESSAGE_GRACE_MILLISECONDS));
  try {
    // Rejects when the worker fails, or exits without a message.
    const [derived]: Uint8Array[] = await once(worker, "message", { signal: exited.signal });
    if (derived !== undefined) return derived;
  } catch (error) {
    if (!exited.signal.aborted) throw error;
  }
  throw new Error("The worker returned no hash.");
}
