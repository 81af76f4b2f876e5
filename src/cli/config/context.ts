import type { PasswordHasher } from "../../auth/passwords/hash.ts";
import type { Logger } from "../../contracts/logger.ts";
import { createFailure } from "../failure.ts";
import type { LogFormat } from "../log/access-log.ts";
import type { WorkerChannel } from "../workers/worker.ts";

/** Where a configuration comes from, and where its problems go. */
export interface ConfigContext {
  /** As the user named it: the beginning of every problem. */
  readonly file: string;
  readonly logFormat: LogFormat;
  readonly logger: Logger;
  /** One for all accounts: it bounds how many hashes are computed at once. */
  readonly passwordHasher: PasswordHasher;
  /** What a worker is tied to the others by. */
  readonly worker: WorkerChannel | undefined;
  /** Whether other processes may serve the same accounts, as they do the sessions. */
  readonly isShared: boolean;
  /** Everything found wrong so far. */
  readonly problems: string[];
  /** An absolute path; relative ones start at the configuration's own folder. */
  toPath(path: string): string;
}

/** Notes what is wrong with a key of the configuration. */
export function addProblem({ problems }: ConfigContext, place: string, reason: string): void {
  problems.push(`${place}: ${reason}`);
}

/** A failure of status 2 with all that was found wrong, a problem a line. */
export function toFailure({ file, problems }: { readonly file: string; readonly problems: readonly string[] }): Error {
  return createFailure(
    2,
    problems.map((problem) => `${file}: ${problem}`),
  );
}

export function toOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, " ");
}
