import type { Upload, UploadGuard } from "../contracts/upload.ts";
import { HttpError, isHttpError } from "../http/http-error.ts";

/** Content on its way past a guard. */
export interface GuardedContent {
  readonly content: AsyncIterable<Uint8Array>;
  /** To be called when the write has settled: a guard that has not decided is told that it need not. */
  settle(): void;
}

/** What is told of a guard's defects. */
export type ReportDefect = (error: unknown) => void;

/** How long a guard has for each of its answers, unless it says so itself. */
const PATIENCE_SECONDS = 300;

/**
 * The same content, which the guard sees chunk by chunk and decides on before it ends: as nothing is visible of a file whose content has not ended, its refusal
 * leaves what was there.
 */
export function guardContent(
  content: AsyncIterable<Uint8Array>,
  upload: Upload,
  guard: UploadGuard,
  report: ReportDefect,
): GuardedContent {
  const { timeoutSeconds = PATIENCE_SECONDS } = guard;
  let isDecided = false;

  async function* guarded(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      if (guard.receive !== undefined) await ask(() => guard.receive?.(upload, chunk), timeoutSeconds);
      yield chunk;
    }
    const reason = await ask(() => guard.decide(upload), timeoutSeconds).finally(() => {
      isDecided = true;
    });
    if (reason === "") throw new HttpError("unprocessable", "The upload was refused.");
    if (typeof reason === "string") throw new HttpError("unprocessable", reason);
    // What was meant by anything else nobody knows: it may have been a refusal.
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

/** Which status the integrator's error would have is not asked: 401, say, would be no answer to this request. */
async function ask(question: () => unknown, timeoutSeconds: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const answer = question();
    if (!isThenable(answer)) return answer;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no decision within ${timeoutSeconds} s`)), timeoutSeconds * 1000);
    });
    return await Promise.race([answer, tooLate]);
  } catch (cause) {
    if (isHttpError(cause)) throw new HttpError("unprocessable", cause.message, {}, { cause });
    throw new Error("The beforeCommit function failed.", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value;
}
