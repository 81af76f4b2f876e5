import { html } from "../http/html.ts";
import type { Variant } from "../http/negotiate.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { jsonReply } from "../http/reply.ts";
import type { ErrorsBody } from "../schemas/errors.ts";
import { card, type PageContext, pageReply } from "./page.ts";
import { type MessageContext, type ShownError, toErrorText, toJsonMessage } from "./texts.ts";

/** What an error response depends on. */
export interface FailureContext extends PageContext, MessageContext {
  readonly variant: Variant;
}

/** What some error responses have in addition. */
export interface ErrorExtras {
  /** Added to the JSON body of a failed login (7.2). */
  readonly response?: ErrorsBody["errors"][number]["response"] | undefined;
  /** Where the page leads. Default: to the account's root. */
  readonly links?: ErrorPageLinks | undefined;
}

/** The URLs that the page of an error leads to. */
export interface ErrorPageLinks {
  readonly home?: string;
  /** The root of a link. */
  readonly link?: string;
  readonly logout?: string;
}

/** Creates an error response in the client's variant: the `errors` body (7.1), or a page in the client's language. */
export function errorReply(
  context: FailureContext,
  status: number,
  error: ShownError,
  fields: HeaderFields,
  { response, links = { home: context.root } }: ErrorExtras = {},
): Reply {
  const withCode = { ...fields, "Error-Code": error.code };
  if (context.variant === "html") return errorPage(context, status, error, links, withCode);
  const title = status === 401 ? { title: "Unauthorized" as const } : {};
  const message = toJsonMessage(context, error);
  const body: ErrorsBody = { errors: [{ message, ...(response && { response }), ...title }] };
  return jsonReply(status, body, withCode);
}

function errorPage(
  context: FailureContext,
  status: number,
  error: ShownError,
  { home, link, logout }: ErrorPageLinks,
  fields: HeaderFields,
): Reply {
  const { texts } = context;
  const title = toTitle(context, status);
  const content = card(html`<h1>${title}</h1>
<p>${error.code === "not-found" ? texts.notFoundHint : toErrorText(texts, error)}</p>
${home === undefined ? undefined : html`<p><a href="${home}">${texts.toHome}</a></p>`}
${link === undefined ? undefined : html`<p><a href="${link}">${texts.toLink}</a></p>`}
${logout === undefined ? undefined : html`<form method="post" action="${logout}"><button>${texts.logOut}</button></form>`}`);
  return pageReply(context, status, { title, content }, fields);
}

function toTitle({ texts }: FailureContext, status: number): string {
  if (status === 404) return texts.notFound;
  return status === 403 ? texts.notPermitted : texts.failed;
}
