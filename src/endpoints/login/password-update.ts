import { HttpError } from "../../http/http-error.ts";
import { mediaType } from "../../http/negotiate.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import { isSecure } from "../../http/request-target.ts";
import { jsonResponse } from "../../http/responses.ts";
import { readTrace } from "../../http/trace-context.ts";
import type { AccountExchange } from "../../request/context.ts";
import {
  type PasswordUpdateRequest,
  type PasswordUpdateResponse,
  passwordUpdateRequestSchema,
} from "../../schemas/password-update.ts";
import { pageResponse, redirectResponse } from "../../views/page.ts";
import { toPasswordPage } from "../../views/password-page.ts";

/** `GET /home/__svc__/password-update`: the form, for accounts that may use it (4.1, rule 4). */
export async function getPasswordPage(exchange: AccountExchange): Promise<Response> {
  await requireUpdatable(exchange);
  return passwordPage(exchange, 200, []);
}

/**
 * `POST /home/__svc__/password-update`: changes the account's own password and ends its other sessions (4.1, CONTRACT 7.6).
 * Whether it may is settled before the body is read.
 */
export async function postPasswordUpdate(exchange: AccountExchange): Promise<Response> {
  const { request, account, connection, config, variant, passwords, session, texts } = exchange;
  await requireUpdatable(exchange);
  const { current_password: currentPassword, new_password: newPassword } = await readUpdate(exchange);
  if (session === undefined) throw new HttpError("unauthorized", "A session is needed: log in first.");
  const { name: username, email } = account;
  const from = connection.peer === undefined ? {} : { peer: connection.peer };
  const creator = { uuid: config.component.uuid, type: isSecure(request, connection) ? "https" : "http" };
  const trace = readTrace(request.headers);
  const traced = trace === undefined ? {} : { trace };
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
  if (result.outcome === "refused") return refuse(exchange, result.problems);
  if (result.outcome === "not-updatable") throw notUpdatable();

  if (variant === "html") {
    return redirectResponse(exchange, 303, `${config.basePath}/home/`, texts.passwordChanged);
  }
  const body: PasswordUpdateResponse = { results: [{ message: "The password was changed." }] };
  return jsonResponse(200, body);
}

/** The path of the page to change a password. */
export function passwordUpdatePath(basePath: string): string {
  return `${basePath}/home/__svc__/password-update`;
}

async function requireUpdatable({ account, passwords }: AccountExchange): Promise<void> {
  if (!account.allowPasswordChange) throw new HttpError("denied", "The account may not change its password.");
  if (!(await passwords.isPossible(account.name))) throw notUpdatable();
}

function notUpdatable(): HttpError {
  return new HttpError("denied", "The account's password cannot be changed here.");
}

/** One error for every broken rule (CONTRACT 7.6). */
function refuse(exchange: AccountExchange, problems: readonly string[]): Response {
  if (exchange.variant === "html") return passwordPage(exchange, 422, problems);
  return jsonResponse(422, { errors: problems.map((message) => ({ message })) });
}

function passwordPage(exchange: AccountExchange, status: number, messages: readonly string[]): Response {
  const { account, config } = exchange;
  const [action, home] = [passwordUpdatePath(config.basePath), `${config.basePath}/home/`];
  return pageResponse(exchange, status, toPasswordPage(exchange, { action, home, username: account.name, messages }));
}

async function readUpdate({ request, config }: AccountExchange): Promise<PasswordUpdateRequest> {
  const body = passwordUpdateRequestSchema.safeParse(await readFields(request, config.limits.maxLoginBytes));
  if (body.success) return body.data;
  throw new HttpError("malformed", "The body must hold current_password and new_password, and nothing else.");
}

async function readFields(request: Request, maxBytes: number): Promise<unknown> {
  switch (mediaType(request.headers.get("content-type"))) {
    case "application/json":
      return readJsonBody(request, { maxBytes });
    case "application/x-www-form-urlencoded": {
      const fields = [...(await readFormBody(request, maxBytes))];
      // A field sent twice is not one of them.
      const isRepeated = new Set(fields.map(([name]) => name)).size < fields.length;
      return isRepeated ? undefined : Object.fromEntries(fields);
    }
    default:
      throw new HttpError("unsupported-media-type", "A change of password is sent as a form or as JSON.");
  }
}
