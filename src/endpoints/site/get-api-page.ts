import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { htmlReply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { renderApiPage } from "../../views/api-page.ts";
import { toPageFields } from "../../views/page.ts";

/**
 * `GET /__svc__/openapi.html`: the interactive page of the API, for any client (1.3). Only its script may send its
 * form.
 */
export async function getApiPage(context: RequestContext): Promise<Reply> {
  const { apiPage, pages } = context.config;
  if (apiPage === undefined) throw createError("not-found");
  const page = renderApiPage(context, await apiPage.load());
  return htmlReply(200, page, { ...toPageFields(context), ...pages.formlessFields });
}
