import type { AccountEntry } from "../../auth/accounts/accounts.ts";
import type { PasswordHasher } from "../../auth/passwords/hash.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createFailure } from "../failure.ts";
import type { LogFormat } from "../log/format.ts";
import type { WorkerChannel } from "../workers/worker.ts";

/** What reading a configuration needs, and the problems found so far. */
export interface ConfigContext {
  /** The name of the file as the user typed it; it begins every problem. */
  readonly file: string;
  readonly logFormat: LogFormat;
  readonly logger: Logger;
  /** One hasher for all accounts: it bounds the number of hashes that are computed at the same time. */
  readonly passwordHasher: PasswordHasher;
  /** The channel of a worker to the primary process; `undefined` if this process is not a worker. */
  readonly worker: WorkerChannel | undefined;
  /** Whether other processes may use the same sessions and accounts. */
  readonly isShared: boolean;
  readonly problems: string[];
  /**
   * By the index of their method: checks the accounts of a later version of the configuration, and returns a function
   * that replaces the used ones by them. Throws `TypeError` with the reason if they need a restart.
   */
  readonly accountReloads: Map<number, (accounts: readonly AccountEntry[]) => () => void>;
  /** Makes a path absolute; a relative one starts at the folder of the configuration file. */
  toPath(path: string): string;
}

/** Adds a problem of a key of the configuration. */
export function addProblem({ problems }: ConfigContext, key: string, reason: string): void {
  problems.push(`${key}: ${reason}`);
}

/** Creates a failure of status 2 with all problems, each on a line of its own. */
export function toConfigFailure({
  file,
  problems,
}: {
  readonly file: string;
  readonly problems: readonly string[];
}): Error {
  return createFailure(
    2,
    problems.map((problem) => `${file}: ${problem}`),
  );
}

export function toOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
