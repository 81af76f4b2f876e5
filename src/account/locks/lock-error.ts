import { createError, type ErrorCode } from "../../http/errors.ts";
import { HttpError } from "../../http/http-error.ts";
import type { ResourcePath } from "../path.ts";

/** Why locks refuse a request, in the words of RFC 4918 16. */
export type LockCondition = "lock-token-submitted" | "no-conflicting-lock" | "lock-token-matches-request-uri";

const CODES: Readonly<Record<LockCondition, ErrorCode>> = {
  "lock-token-submitted": "locked",
  "no-conflicting-lock": "lock-conflict",
  "lock-token-matches-request-uri": "lock-missing",
};

/** A request that locks refuse: HttpError `locked`, or `conflict` if the lock to be removed does not exist. */
export class LockError extends HttpError {
  readonly condition: LockCondition;
  /** The locked files and folders, as paths of the account. */
  readonly roots: readonly ResourcePath[];

  constructor(condition: LockCondition, roots: readonly ResourcePath[] = []) {
    const { failure, message, headers, code } = createError(CODES[condition]);
    super(failure, message, headers, { code });
    this.condition = condition;
    this.roots = roots;
  }
}
