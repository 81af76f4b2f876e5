import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { mediaType } from "../../http/negotiate.ts";
import { prefersDryRun } from "../../http/preferences.ts";
import type { Reply } from "../../http/reply.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { runDry } from "./dry-run.ts";
import { type MemberOutcome, outcomesReply } from "./member-outcomes.ts";

/*
 * Commands on entries of the trash and on versions, by their IDs.
 */

type ParsedCommands<Command> =
  | { readonly success: true; readonly data: { readonly commands: readonly Command[] } }
  | { readonly success: false };

/** What runs the commands of a request, and the form of a page. */
export interface KeptCommands<Command> {
  /** Makes the schema of the JSON body. `maxTargets`: of all commands together. */
  readonly toSchema: (maxTargets: number) => { safeParse(body: unknown): ParsedCommands<Command> };
  /** Runs commands in order. A failure does not stop the following ones. */
  readonly run: (context: AccountContext, commands: readonly Command[]) => Promise<readonly MemberOutcome[]>;
  readonly runForm: (context: AccountContext) => Promise<Reply>;
  /** Creates the error for any other media type. */
  readonly toRefusal: () => HttpError;
}

/** Responds to a POST with JSON commands or a form. With `Prefer: dry-run` commands are checked, and change nothing. */
export async function postKept<Command>(context: AccountContext, kept: KeptCommands<Command>): Promise<Reply> {
  switch (mediaType(context.request.headers.get("content-type"))) {
    case "application/json":
      return runJson(context, kept);
    case "application/x-www-form-urlencoded":
      return kept.runForm(context);
    default:
      throw kept.toRefusal();
  }
}

async function runJson<Command>(context: AccountContext, { toSchema, run }: KeptCommands<Command>): Promise<Reply> {
  const { maxJsonBytes, maxCommands } = context.config.limits;
  const toTooLarge = (): HttpError => createError("commands-malformed", { values: { max: maxCommands } });
  const limits = { maxBytes: maxJsonBytes, maxMembers: maxCommands, toTooLarge, ...countBody(context) };
  const parsed = toSchema(maxCommands).safeParse(await readJsonBody(context.request, limits));
  if (!parsed.success) throw toTooLarge();
  const { commands } = parsed.data;
  const act = async (own: AccountContext): Promise<Reply> => outcomesReply(own, await run(own, commands));
  return prefersDryRun(context.request) ? runDry(context, act) : act(context);
}

/** The values of a form. */
export interface KeptForm<Action extends string> {
  readonly action: Action;
  /** Each of them once. */
  readonly selected: readonly string[];
}

/** Reads the form of a page, which has one of some actions. */
export async function readKeptForm<Action extends string>(
  context: AccountContext,
  actions: readonly Action[],
): Promise<KeptForm<Action>> {
  const { maxJsonBytes: maxBytes, maxCommands } = context.config.limits;
  const form = await readFormBody(context.request, { maxBytes, maxFields: maxCommands + 1, ...countBody(context) });
  const action = toAction(valuesOf(form, "action"), actions);
  return { action, selected: [...new Set(valuesOf(form, "selected-members"))] };
}

function valuesOf(form: URLSearchParams, field: string): readonly string[] {
  return [...form].flatMap(([name, value]) => (name === field ? [value] : []));
}

function toAction<Action extends string>([action, ...others]: readonly string[], actions: readonly Action[]): Action {
  if (action === undefined) throw createError("form-action-missing");
  if (others.length > 0) throw createError("form-action-repeated");
  const known = actions.find((one) => one === action);
  if (known === undefined) throw createError("form-action-unknown");
  return known;
}
