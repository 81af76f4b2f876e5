import type { Upload, UploadGuard } from "../contracts/upload.ts";
import { createError, toHostRefusal } from "../http/errors.ts";
import { type Failure, isHttpError } from "../http/http-error.ts";

/** Content that guards see. */
export interface GuardedContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** Must be called when the write has settled. Each guard that has not decided by then gets `abandon`. */
  settle(): void;
}

/** Gets the errors of a guard's `abandon`. */
export type ReportDefect = (error: unknown) => void;

/** The default time limit for each call of a guard. */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** Failures of a guard that are no refusal of the file itself: the client may send it again, or a smaller one. */
const KEPT_FAILURES: readonly Failure[] = ["unavailable", "too-large"];

/**
 * Passes content to guards chunk by chunk, and asks for their decisions before the content ends, in their order, up to
 * the first refusal. A storage shows nothing of a file before its content ends, so a refusal leaves the existing file
 * as it is.
 */
export function guardContent(
  content: AsyncIterable<Uint8Array>,
  upload: Upload,
  guards: readonly UploadGuard[],
  report: ReportDefect,
): GuardedContent {
  const undecided = new Set(guards);
  let isSettled = false;

  async function* guarded(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      for (const guard of guards) {
        // No guard learns after this that the upload has ended.
        if (isSettled) throw new Error("The upload ended before the decision of beforeCommit.");
        if (guard.receive !== undefined) await ask(guard, () => guard.receive?.(upload, chunk));
      }
      yield chunk;
    }
    for (const guard of guards) {
      if (isSettled) throw new Error("The upload ended before the decision of beforeCommit.");
      requireAccepted(await ask(guard, () => guard.decide(upload)).finally(() => undecided.delete(guard)));
    }
  }

  function settle(): void {
    isSettled = true;
    for (const guard of undecided) {
      if (guard.abandon === undefined) continue;
      Promise.resolve(upload)
        .then((one) => guard.abandon?.(one))
        .catch(report);
    }
    undecided.clear();
  }

  return { content: guarded(), settle };
}

/** @throws HttpError `unprocessable` if the result of a guard is a refusal. */
function requireAccepted(reason: unknown): void {
  if (reason === "") throw createError("upload-refused");
  if (typeof reason === "string") throw toHostRefusal("upload-refused", reason);
  // Any other value is a defect of the guard, and may have been meant as a refusal.
  if (reason !== undefined && reason !== null)
    throw new Error("The beforeCommit function returned something other than text.");
}

/** Calls a guard with its time limit. An HttpError of the guard becomes a refusal; see `toHostRefusal`. */
async function ask({ timeoutSeconds = DEFAULT_TIMEOUT_SECONDS }: UploadGuard, call: () => unknown): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const result = call();
    if (!isThenable(result)) return result;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no decision within ${timeoutSeconds} s`)), timeoutSeconds * 1000);
    });
    return await Promise.race([result, tooLate]);
  } catch (cause) {
    if (isHttpError(cause)) throw toHostRefusal("upload-refused", cause.message, cause, KEPT_FAILURES);
    throw new Error("The beforeCommit function failed.", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
