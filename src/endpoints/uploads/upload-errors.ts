import type { HttpError } from "../../http/http-error.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import { textReply } from "../../http/reply.ts";
import { PROBLEM_MEDIA_TYPE, toUploadProblemBody } from "../../http/uploads/problems.ts";
import type { RequestContext } from "../../request/context.ts";
import { toJsonMessage } from "../../views/texts.ts";

/**
 * The response of the draft to an error that it has a problem type for (RESUMABLE 4.9); `undefined` for other errors,
 * and for clients of tus.
 */
export function toUploadErrorReply(
  context: RequestContext,
  error: HttpError,
  status: number,
  fields: HeaderFields,
): Reply | undefined {
  const isByTus = context.request.headers.has("tus-resumable");
  const body = isByTus ? undefined : toUploadProblemBody(error, toJsonMessage(context, error));
  if (body === undefined) return undefined;
  const headers = { ...fields, "Error-Code": error.code, "Content-Type": PROBLEM_MEDIA_TYPE };
  return textReply(status, JSON.stringify(body), headers);
}
