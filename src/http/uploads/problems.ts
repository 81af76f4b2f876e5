import type { HttpError } from "../http-error.ts";

/** The media type of the body of a problem (RFC 9457). */
export const PROBLEM_MEDIA_TYPE = "application/problem+json";

const TYPES = "https://iana.org/assignments/http-problem-types#";

/** The members of a problem (RFC 9457 3.1, and those of the draft). */
export interface UploadProblem {
  readonly type: string;
  readonly title: string;
  readonly "expected-offset"?: number;
  readonly "provided-offset"?: number;
}

/** The body of a response about a problem: for clients of the draft, and for those that read `errors` (7.1). */
export interface UploadProblemBody extends UploadProblem {
  readonly errors: readonly [{ readonly message: string }];
}

/**
 * The body of an error that the draft has a problem type for; `undefined` for another error. The values of
 * `upload-offset-mismatch` are `expected` and `provided`, if they are known.
 */
export function toUploadProblemBody(
  error: Pick<HttpError, "code" | "message" | "values">,
  message = error.message,
): UploadProblemBody | undefined {
  const problem = toProblem(error);
  return problem && { ...problem, errors: [{ message }] };
}

function toProblem({ code, values = {} }: Pick<HttpError, "code" | "values">): UploadProblem | undefined {
  switch (code) {
    case "upload-offset-mismatch": {
      const { expected, provided } = values;
      return {
        type: `${TYPES}mismatching-upload-offset`,
        title: "offset from request does not match offset of resource",
        ...(typeof expected === "number" && { "expected-offset": expected }),
        ...(typeof provided === "number" && { "provided-offset": provided }),
      };
    }
    case "upload-length-inconsistent":
      return { type: `${TYPES}inconsistent-upload-length`, title: "inconsistent length values for upload" };
    case "upload-completed":
      return { type: `${TYPES}completed-upload`, title: "upload is already completed" };
    default:
      return undefined;
  }
}
