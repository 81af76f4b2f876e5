import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import { emptyReply, jsonReply, type Reply } from "../../http/reply.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitErrorEvent } from "../../request/emit-event.ts";
import { toStatus } from "../../request/errors.ts";
import { describeLinkProblem, type NewLinkBody, newLinkSchema } from "../../schemas/links.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { redirectReply } from "../../views/page.ts";
import { runOnce } from "../repeats/run-once.ts";
import { type LinkForm, parseLinkForm, toNewLinkBody } from "./link-form.ts";
import { linkPageReply } from "./link-page-reply.ts";
import { withdrawAll } from "./list-links.ts";
import { parseLinkPath } from "./make-link.ts";
import { newLinkPage } from "./new-link-page.ts";
import { describeLink, makeOwnLink, requireLinks, toLinksPath } from "./own-links.ts";

/** A password, a label and a path, percent-encoded. */
const MAX_BODY_BYTES = 65_536;

/**
 * `POST /home/__svc__/links`: makes a link, described as JSON or by the form of the page (SHARING 3). A form with the
 * action `withdraw-all` is the button of the list.
 */
export async function postLinks(context: AccountContext): Promise<Reply> {
  const { request, account } = context;
  const limits = { maxBytes: MAX_BODY_BYTES, ...countBody(context) };
  switch (mediaType(request.headers.get("content-type"))) {
    case "application/json":
      if (!account.allowLinks) throw createError("links-denied");
      return createOnce(context, await readJsonBody(request, limits));
    case "application/x-www-form-urlencoded":
      return postForm(context, parseLinkForm(await readFormBody(request, limits)));
    default:
      throw createError("link-media-type");
  }
}

async function postForm(context: AccountContext, form: LinkForm): Promise<Reply> {
  const { account, variant, config, texts } = context;
  if (form.action === "withdraw-all") {
    await withdrawAll(context);
    const list = toLinksPath(config.basePath);
    if (variant === "html") return redirectReply(context, 303, list, texts.links.allWithdrawn);
    return emptyReply(303, { Location: list });
  }
  if (!account.allowLinks) throw createError("links-denied");
  if (variant !== "html") return createOnce(context, toNewLinkBody(form));
  try {
    return await createLink(context, toNewLinkBody(form));
  } catch (error) {
    return refuseForm(context, form, error);
  }
}

/** Makes a link. A request with an `Idempotency-Key` makes one, however often it is sent. */
function createOnce(context: AccountContext, body: unknown): Promise<Reply> {
  return runOnce(context, body, (own) => createLink(own, body));
}

async function createLink(context: AccountContext, body: unknown): Promise<Reply> {
  const { path, ...options } = parseBody(body);
  const segments = parseLinkPath(path);
  if (segments === undefined) throw createError("path-invalid");
  const made = await makeOwnLink(context, segments, options, (password) => requireLinks(context).hasher.hash(password));
  const link = await describeLink(context, made);
  const isStored = requireLinks(context).sealed.stored !== undefined;
  const fields = { Location: isStored ? `${toLinksPath(context.config.basePath)}/${link.id}` : undefined };
  if (context.variant !== "html") return jsonReply(201, { results: [link] }, fields);
  return linkPageReply(context, 201, made.record, link, fields);
}

function parseBody(body: unknown): NewLinkBody {
  const parsed = newLinkSchema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw createError("link-malformed", { values: { problem: describeLinkProblem(parsed.error) } });
}

/** Shows the page again with what the user has entered, if there is something that the form can be for. */
async function refuseForm(context: AccountContext, form: LinkForm, thrown: unknown): Promise<Reply> {
  const { failureOf, request } = context;
  const error = failureOf(thrown);
  if (request.signal.aborted || error.failure === "internal" || error.failure === "unauthorized") throw thrown;
  const segments = parseLinkPath(form.path ?? "");
  const status = toStatus(error.failure, "html");
  const page = segments && (await newLinkPage(context, segments, status, { error, entered: form }));
  if (page === undefined) throw thrown;
  emitErrorEvent(context, status, error.message);
  return page;
}
