import { html, type SafeHtml } from "../http/html.ts";
import type { Variant } from "../http/negotiate.ts";
import { type HeaderFields, jsonResponse, pageResponse } from "../http/responses.ts";
import type { ErrorsBody } from "../wire/errors.ts";
import { page } from "./page.ts";

/**
 * A failure as the client's variant shows it: the `errors` body (7.1), or a page for browsers. `response` is what a JSON body shows
 * beside the message of a failed login (7.2).
 */
export function errorResponse(
  variant: Variant,
  status: number,
  message: string,
  fields: HeaderFields,
  response?: ErrorsBody["errors"][number]["response"],
): Response {
  if (variant === "html") return pageResponse(status, renderErrorPage(message), fields);
  const error = { message, ...(response && { response }), ...(status === 401 && { title: "Unauthorized" as const }) };
  const body: ErrorsBody = { errors: [error] };
  return jsonResponse(status, body, fields);
}

function renderErrorPage(message: string): SafeHtml {
  return page(message, html`<h1>${message}</h1>`);
}
