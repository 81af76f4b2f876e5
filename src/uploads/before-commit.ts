import type { Upload, UploadGuard } from "../contracts/upload.ts";
import { createError, toHostRefusal } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";

/** Content that a guard sees. */
export interface GuardedContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** Must be called when the write has settled. A guard that has not decided by then gets `abandon`. */
  settle(): void;
}

/** Gets the errors of a guard's `abandon`. */
export type ReportDefect = (error: unknown) => void;

/** The default time limit for each call of a guard. */
const DEFAULT_TIMEOUT_SECONDS = 300;

/**
 * Passes content to a guard chunk by chunk, and asks for its decision before the content ends. A storage shows nothing
 * of a file before its content ends, so a refusal leaves the existing file as it is.
 */
export function guardContent(
  content: AsyncIterable<Uint8Array>,
  upload: Upload,
  guard: UploadGuard,
  report: ReportDefect,
): GuardedContent {
  const { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = guard;
  let isDecided = false;

  async function* guarded(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      if (guard.receive !== undefined) await ask(() => guard.receive?.(upload, chunk), timeoutSeconds);
      yield chunk;
    }
    const reason = await ask(() => guard.decide(upload), timeoutSeconds).finally(() => {
      isDecided = true;
    });
    if (reason === "") throw createError("upload-refused");
    if (typeof reason === "string") throw toHostRefusal("upload-refused", reason);
    // Any other value is a defect of the guard, and may have been meant as a refusal.
    if (reason !== undefined && reason !== null)
      throw new Error("The beforeCommit function returned something other than text.");
  }

  function settle(): void {
    if (isDecided || guard.abandon === undefined) return;
    isDecided = true;
    Promise.resolve(upload)
      .then((one) => guard.abandon?.(one))
      .catch(report);
  }

  return { content: guarded(), settle };
}

/**
 * Calls a guard with a time limit. An HttpError of the guard becomes `unprocessable`, and its status is ignored: a 401,
 * for example, would be wrong for this request.
 */
async function ask(call: () => unknown, timeoutSeconds: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const result = call();
    if (!isThenable(result)) return result;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no decision within ${timeoutSeconds} s`)), timeoutSeconds * 1000);
    });
    return await Promise.race([result, tooLate]);
  } catch (cause) {
    if (isHttpError(cause)) throw toHostRefusal("upload-refused", cause.message, cause);
    throw new Error("The beforeCommit function failed.", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
