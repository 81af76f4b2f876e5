import { html, type SafeHtml } from "../http/html.ts";
import type { Variant } from "../http/negotiate.ts";
import { type HeaderFields, jsonResponse, pageResponse } from "../http/responses.ts";
import type { ErrorsBody } from "../wire/errors.ts";
import { page } from "./page.ts";

/** A failure as the client's variant shows it: the `errors` body (7.1), or a page for browsers. */
export function errorResponse(variant: Variant, status: number, message: string, fields: HeaderFields): Response {
  if (variant === "html") return pageResponse(status, renderErrorPage(message), fields);
  return jsonResponse(status, toErrorsBody(status, message), fields);
}

function toErrorsBody(status: number, message: string): ErrorsBody {
  return { errors: [status === 401 ? { message, title: "Unauthorized" } : { message }] };
}

function renderErrorPage(message: string): SafeHtml {
  return page(message, html`<h1>${message}</h1>`);
}
