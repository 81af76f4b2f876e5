import { createApiKey } from "../../auth/keys/create-api-key.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { mediaType } from "../../http/negotiate.ts";
import { jsonReply, type Reply } from "../../http/reply.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { toStatus } from "../../request/errors.ts";
import { describeKeyProblem, type NewKeyBody, newKeySchema } from "../../schemas/api-keys.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { type EnteredKey, toNewKeyPage } from "../../views/keys-page.ts";
import { pageReply } from "../../views/page.ts";
import { withNavigation } from "../session-navigation.ts";
import { keysPage } from "./list-keys.ts";
import { emitKeyEvent, listOwnKeys, toKeyOwner, toKeysPath, toShownKey } from "./own-keys.ts";

/** A label and a path, percent-encoded. */
const MAX_BODY_BYTES = 65_536;

/**
 * `POST /home/__svc__/keys`: makes an API key, described as JSON or by the form of the page. The response is the only
 * one that has the key itself.
 */
export async function postKeys(context: AccountContext): Promise<Reply> {
  const { request, account } = context;
  const limits = { maxBytes: MAX_BODY_BYTES, ...countBody(context) };
  await listOwnKeys(context);
  if (!account.allowOwnKeys) throw createError("keys-denied");
  switch (mediaType(request.headers.get("content-type"))) {
    case "application/json":
      return createKey(context, await readJsonBody(request, limits));
    case "application/x-www-form-urlencoded":
      return postForm(context, await readFormBody(request, limits));
    default:
      throw createError("key-media-type");
  }
}

async function createKey(context: AccountContext, body: unknown): Promise<Reply> {
  const { keys, config, variant } = context;
  const { expires_in: expiresIn, ...wanted } = parseNewKey(body);
  const { key, text } = createApiKey({ ...wanted, ...(expiresIn !== undefined && { expiresIn }) }, config.clock());
  await context.confirmLogin();
  await keys?.add(toKeyOwner(context), key);
  const { permissions = null, path = "/", expires_at: expires = null } = key;
  emitKeyEvent(context, key, { id: 49121, data: { permissions, path, expires } });
  const shown = toShownKey(key);
  if (variant !== "html") return jsonReply(201, { results: [{ ...shown, key: text }] });
  const page = toNewKeyPage(context, { key: shown, text, list: toKeysPath(config.basePath) });
  return pageReply(await withNavigation(context), 201, page);
}

function parseNewKey(body: unknown): NewKeyBody {
  const parsed = newKeySchema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw createError("key-malformed", { values: { problem: describeKeyProblem(parsed.error) } });
}

async function postForm(context: AccountContext, form: URLSearchParams): Promise<Reply> {
  const entered = parseForm(form);
  try {
    return await createKey(context, toBody(entered));
  } catch (error) {
    if (context.variant !== "html" || !isHttpError(error)) throw error;
    if (error.failure === "internal" || error.failure === "unauthorized") throw error;
    return keysPage(context, toStatus(error.failure, "html"), { error, entered });
  }
}

/** The fields that are not empty. Only `permissions` may come more than once. */
function parseForm(form: URLSearchParams): EnteredKey {
  const fields: Record<string, string> = Object.create(null);
  const permissions: string[] = [];
  for (const [name, value] of form) {
    if (name === "permissions") permissions.push(value);
    else if (Object.hasOwn(fields, name)) throw malformed("it has a repeated field");
    else if (name !== "label" && name !== "path" && name !== "expires_in") throw malformed("it has an unknown field");
    else fields[name] = value;
  }
  const { label, path, expires_in } = fields;
  return { permissions, label: label || undefined, path: path || undefined, expires_in: expires_in || undefined };
}

function malformed(problem: string): Error {
  return createError("key-malformed", { values: { problem } });
}

/** Returns the members of the JSON body. They are not checked yet. People leave out the first `/` of a path. */
function toBody({ permissions, label, path, expires_in: seconds }: EnteredKey): unknown {
  return {
    ...(label !== undefined && { label }),
    ...(permissions.length > 0 && { permissions }),
    ...(path !== undefined && { path: path === "/" ? path : `/${path.replace(/^\/|\/$/g, "")}` }),
    ...(seconds !== undefined && { expires_in: /^\d{1,11}$/.test(seconds) ? Number(seconds) : seconds }),
  };
}
