import { listPolicyRules } from "../../auth/passwords/policy.ts";
import type { DoneCode } from "../../contracts/pages/texts.ts";
import { createError, toCommonCode } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { mediaType } from "../../http/negotiate.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import { jsonReply } from "../../http/reply.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import { isSecure } from "../../http/request-target.ts";
import { readTrace } from "../../http/trace-context.ts";
import type { AccountContext } from "../../request/context.ts";
import {
  type PasswordUpdateRequest,
  type PasswordUpdateResponse,
  passwordUpdateFormSchema,
  passwordUpdateRequestSchema,
} from "../../schemas/password-update.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { pageReply, redirectReply } from "../../views/page.ts";
import { toPasswordPage } from "../../views/password-page.ts";

/** `GET /home/__svc__/password-update`: the form, for accounts that may change their password (4.1, rule 4). */
export async function getPasswordPage(context: AccountContext): Promise<Reply> {
  await requireUpdatable(context);
  return passwordPage(context, 200, []);
}

/**
 * `POST /home/__svc__/password-update`: changes the account's own password and ends its other sessions (4.1, CONTRACT
 * 7.6). Checks that the account may do this before it reads the body.
 */
export async function postPasswordUpdate(context: AccountContext): Promise<Reply> {
  const { request, account, connection, config, variant, passwords, session, texts } = context;
  await requireUpdatable(context);
  const update = await readUpdate(context);
  if (session === undefined) throw createError("session-required");
  const { current_password: currentPassword, new_password: newPassword } = update;
  const { repeated_password: repeated = newPassword } = update;
  if (repeated !== newPassword) return refuse(context, [createError("password-mismatch")]);
  const { name: username, email } = account;
  const from = connection.peer === undefined ? {} : { peer: connection.peer };
  const creator = { uuid: config.component.uuid, type: isSecure(request, connection) ? "https" : "http" };
  const trace = readTrace(request.headers);
  const traced = trace === undefined ? {} : { trace };
  await context.confirmLogin();
  const result = await passwords.update({
    username,
    email,
    currentPassword,
    newPassword,
    session,
    creator,
    ...from,
    ...traced,
  });
  if (result.outcome === "refused") return refuse(context, result.problems);
  if (result.outcome === "not-updatable") throw notUpdatable();

  if (variant === "html") {
    const done: DoneCode = "password-changed";
    return redirectReply(context, 303, `${config.basePath}/home/?done=${done}`, texts.done[done]);
  }
  const body: PasswordUpdateResponse = { results: [{ message: "The password was changed." }] };
  return jsonReply(200, body);
}

/** The path of the page that changes a password. */
export function passwordUpdatePath(basePath: string): string {
  return `${basePath}/home/__svc__/password-update`;
}

async function requireUpdatable({ account, passwords }: AccountContext): Promise<void> {
  if (!account.allowPasswordChange) throw createError("password-change-denied");
  if (!(await passwords.isPossible(account.name))) throw notUpdatable();
}

function notUpdatable(): HttpError {
  return createError("password-change-unsupported");
}

/** Responds with one error for each violated rule (CONTRACT 7.6). */
function refuse(context: AccountContext, problems: readonly HttpError[]): Reply {
  const fields = { "Error-Code": toCommonCode(problems) };
  if (context.variant === "html") return passwordPage(context, 422, problems, fields);
  return jsonReply(422, { errors: problems.map(({ message }) => ({ message })) }, fields);
}

function passwordPage(
  context: AccountContext,
  status: number,
  errors: readonly HttpError[],
  fields: HeaderFields = {},
): Reply {
  const { account, config } = context;
  const [action, home] = [passwordUpdatePath(config.basePath), `${config.basePath}/home/`];
  const rules = listPolicyRules(config.passwordPolicy);
  const page = toPasswordPage(context, { action, home, username: account.name, rules, errors });
  return pageReply(context, status, page, fields);
}

async function readUpdate(
  context: AccountContext,
): Promise<PasswordUpdateRequest & { repeated_password?: string | undefined }> {
  const isJson = mediaType(context.request.headers.get("content-type")) === "application/json";
  const schema = isJson ? passwordUpdateRequestSchema : passwordUpdateFormSchema;
  const body = schema.safeParse(await readFields(context));
  if (body.success) return body.data;
  throw createError("password-change-malformed");
}

async function readFields(context: AccountContext): Promise<unknown> {
  const { request, config } = context;
  const limits = { maxBytes: config.limits.maxLoginBytes, ...countBody(context) };
  switch (mediaType(request.headers.get("content-type"))) {
    case "application/json":
      return readJsonBody(request, limits);
    case "application/x-www-form-urlencoded": {
      const fields = [...(await readFormBody(request, limits))];
      // A field that is sent twice makes the form invalid.
      const isRepeated = new Set(fields.map(([name]) => name)).size < fields.length;
      return isRepeated ? undefined : Object.fromEntries(fields);
    }
    default:
      throw createError("password-change-media-type");
  }
}
