import { html } from "../http/html.ts";
import type { Variant } from "../http/negotiate.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { jsonReply } from "../http/reply.ts";
import type { ErrorsBody } from "../schemas/errors.ts";
import { card, type PageContext, pageReply } from "./page.ts";
import { toFailureText } from "./texts.ts";

/** This message only repeats the page's title, so pages show a hint instead. */
const NOT_FOUND = "Not found.";

/** What an error response depends on. */
export interface FailureContext extends PageContext {
  readonly variant: Variant;
}

/**
 * Creates an error response in the client's variant: the `errors` body (7.1), or a page in the client's language.
 * `response` is added to the JSON body of a failed login (7.2).
 */
export function errorReply(
  context: FailureContext,
  status: number,
  message: string,
  fields: HeaderFields,
  response?: ErrorsBody["errors"][number]["response"],
): Reply {
  if (context.variant === "html") return errorPage(context, status, message, fields);
  const error = { message, ...(response && { response }), ...(status === 401 && { title: "Unauthorized" as const }) };
  const body: ErrorsBody = { errors: [error] };
  return jsonReply(status, body, fields);
}

function errorPage(context: FailureContext, status: number, message: string, fields: HeaderFields): Reply {
  const { texts, config } = context;
  const title = toTitle(context, status);
  const content = card(html`<h1>${title}</h1>
<p>${message === NOT_FOUND ? texts.notFoundHint : toFailureText(texts, message)}</p>
<p><a href="${config.basePath}/home/">${texts.toHome}</a></p>`);
  return pageReply(context, status, { title, content }, fields);
}

function toTitle({ texts }: FailureContext, status: number): string {
  if (status === 404) return texts.notFound;
  return status === 403 ? texts.notPermitted : texts.failed;
}
