import { HttpError } from "../../http/http-error.ts";
import { htmlResponse } from "../../http/responses.ts";
import type { Exchange } from "../../request/context.ts";
import { renderApiPage } from "../../views/api-page.ts";
import { toPageFields } from "../../views/page.ts";

/** `GET /__svc__/openapi.html`: the interactive page of the API, for anybody (1.3). Its form is sent by its script, and no other way. */
export async function getApiPage(exchange: Exchange): Promise<Response> {
  const { apiPage, pages } = exchange.config;
  if (apiPage === undefined) throw new HttpError("not-found", "Not found.");
  const page = renderApiPage(exchange, await apiPage.load());
  return htmlResponse(200, page, { ...toPageFields(exchange), ...pages.formlessFields });
}
