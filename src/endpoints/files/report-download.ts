import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import type { LimitedContext } from "../../request/context.ts";

/**
 * `POST /__svc__/offload/<id>`: the server that sends a download reports its end (WRAPPERS 5.6). `X-Completed` is `OK`
 * if the client has got all of the file that was opened, which no error page is. `X-Bytes` is the number of bytes that
 * were sent.
 */
export async function reportDownload({ request, target, offload }: LimitedContext): Promise<Reply> {
  const { headers } = request;
  const bytes = headers.get("x-bytes") ?? "";
  if (!/^\d{1,15}$/.test(bytes)) throw createError("offload-report-malformed");
  const id = target.path.slice(target.path.lastIndexOf("/") + 1);
  const outcome = headers.get("x-completed") === "OK" ? "done" : "cut";
  if (offload?.reports?.end(id, outcome, Number(bytes)) !== true) throw createError("not-found");
  return emptyReply(204);
}
