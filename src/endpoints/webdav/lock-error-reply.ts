import { LockError } from "../../account/locks/lock-error.ts";
import type { HttpError } from "../../http/http-error.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { writeError, xmlReply } from "../../webdav/multistatus.ts";
import { toHref } from "./resource.ts";

/** The response of WebDAV to what a lock has refused (RFC 4918 16); `undefined` for other errors and variants. */
export function toLockErrorReply(
  context: RequestContext,
  error: HttpError,
  status: number,
  fields: HeaderFields,
): Reply | undefined {
  if (context.variant !== "webdav" || !(error instanceof LockError)) return undefined;
  const hrefs = error.roots.map((root) => toHref(context, root));
  return xmlReply(status, writeError(error.condition, hrefs), { ...fields, "Error-Code": error.code });
}
