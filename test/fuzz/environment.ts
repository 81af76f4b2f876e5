import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileService } from "../../src/contracts/file-service.ts";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { fillStorage } from "../support/storage.ts";

/** The content of another account, which no other client may see. */
export const SECRET = "the-secret-of-bob";

/** What alice has below her home, at the beginning of each input. */
const FILES = {
  "/alice/f/a.txt": "alpha",
  "/alice/f/sub/b.txt": "beta",
  "/alice/f/b c/": "",
  "/alice/big.bin": "0123456789".repeat(100),
  "/bob/secret.txt": SECRET,
};

/** A service that is the same at the beginning of each input, but for what it remembers of logins. */
export interface FuzzEnvironment {
  readonly service: FileService;
  /** What is stored now. */
  storage(): StorageAdapter;
  /** Puts everything back, and lets failed logins be forgotten. */
  reset(): Promise<void>;
  /** What has been reported as a failure since: none of a client's doing is one. */
  failures(): readonly unknown[];
}

export function createFuzzEnvironment(): FuzzEnvironment {
  let storage = createMemoryStorage();
  let passed = 0;
  let failures: unknown[] = [];
  const ignore = (): void => undefined;
  const logger = { info: ignore, warn: ignore, error: (details: object) => void failures.push(details) };
  const service = createFileService({
    storage: {
      stat: (path) => storage.stat(path),
      list: (path) => storage.list(path),
      read: (path, range) => storage.read(path, range),
      write: (path, content, options) => storage.write(path, content, options),
      createFolder: (path, options) => storage.createFolder(path, options),
      remove: (path, options) => storage.remove(path, options),
      copy: (from, to, options) => storage.copy(from, to, options),
      move: (from, to, options) => storage.move(from, to, options),
    },
    authentication: createAccountsAuthenticator({
      accounts: [
        { username: "alice", password: "secret", home_folder_path: "/alice" },
        { username: "bob", password: "hunter2" },
      ],
      logger,
    }),
    triggers: { approve: {}, refuse: { run: refuse } },
    metadataFields: "X-Labels",
    limits: { loginAttempts: 1000, loginWindowSeconds: 1 },
    logger,
    clock: () => Date.now() + passed,
  });

  async function reset(): Promise<void> {
    storage = createMemoryStorage();
    await fillStorage(storage, FILES);
    failures = [];
    passed += 2000;
  }

  return { service, storage: () => storage, reset, failures: () => failures };
}

/** Fails as an integrator's own trigger does: with a word for the client. */
function refuse(): never {
  throw Object.assign(new Error("Refused."), { name: "HttpError", failure: "unprocessable", headers: {} });
}
