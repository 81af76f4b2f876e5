import { sourceOfBytes } from "../../contracts/byte-source.ts";
import { createError, toCommonCode } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { Reply } from "../../http/reply.ts";
import { jsonReply } from "../../http/reply.ts";
import type { AccountContext, RequestContext } from "../../request/context.ts";
import { emitErrorEvent } from "../../request/emit-event.ts";
import { toStatus } from "../../request/errors.ts";
import type { CommandOutcome } from "../../schemas/commands.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { holdUntilRead } from "../../transfers/tracked-source.ts";
import { toJsonMessage } from "../../views/texts.ts";

/** The result of an action on one member of a folder. */
export interface MemberOutcome {
  readonly target: string;
  /** Why it failed. Absent on success. */
  readonly error?: HttpError;
  /** The link that was made. */
  readonly link?: LinkBody;
  /** The ID of the entry in the trash that the member has become. */
  readonly trash?: string;
}

/**
 * Runs an action on one member of a folder. An invalid name or a failure becomes the member's error (4.3, CONTRACT
 * 4.5).
 */
export async function attempt(
  { failureOf }: RequestContext,
  target: string,
  act: (target: string) => Promise<void>,
): Promise<MemberOutcome> {
  try {
    if (!isMemberName(target)) throw createError("name-invalid");
    await act(target);
    return { target };
  } catch (error) {
    return { target, error: failureOf(error) };
  }
}

/** Runs {@link attempt} for one member after the other. A failure does not stop the following ones. */
export async function attemptAll(
  context: RequestContext,
  targets: readonly string[],
  act: (target: string) => Promise<void>,
): Promise<readonly MemberOutcome[]> {
  const outcomes: MemberOutcome[] = [];
  for (const target of targets) outcomes.push(await attempt(context, target, act));
  return outcomes;
}

/** A larger response keeps the permits of its request until it is read. */
const LARGE_BYTES = 64 * 1024;

/** The JSON response: 200 if all succeeded, otherwise 422, with an entry for each member (4.3, CONTRACT 4.5). */
export function outcomesReply(context: AccountContext, outcomes: readonly MemberOutcome[]): Reply {
  const reply = toReply(context, outcomes);
  const { body } = reply;
  const isLarge = body instanceof Uint8Array && body.byteLength > LARGE_BYTES;
  return isLarge ? { ...reply, body: holdUntilRead(context, sourceOfBytes(body)) } : reply;
}

function toReply(context: AccountContext, outcomes: readonly MemberOutcome[]): Reply {
  const entries: readonly CommandOutcome[] = outcomes.map(({ target, error, link, trash }) => ({
    target,
    message: error === undefined ? null : toJsonMessage(context, error),
    ...(link && { link }),
    ...(trash !== undefined && { trash }),
  }));
  const failed = outcomes.flatMap(({ error }) => error ?? []);
  if (failed.length === 0) return jsonReply(200, { results: entries });
  return jsonReply(422, { errors: entries }, { "Error-Code": toCommonCode(failed) });
}

/**
 * The status of a page about failed members: that of their common failure, or 400 if the failures differ (CONTRACT
 * 4.6).
 */
export function toCommonStatus(errors: readonly HttpError[]): number {
  const [failure, ...others] = new Set(errors.map((error) => error.failure));
  return toStatus(failure === undefined || others.length > 0 ? "malformed" : failure, "html");
}

/**
 * The page after a form that has failed: adds the code of the errors to the page that shows them, and emits the error
 * event.
 */
export async function problemsReply(
  context: AccountContext,
  status: number,
  errors: readonly Pick<HttpError, "code" | "message">[],
  openPage: () => Promise<Reply>,
): Promise<Reply> {
  emitErrorEvent(context, status, [...new Set(errors.map(({ message }) => message))].join(" "));
  const page = await openPage();
  return { ...page, headers: [...page.headers, ["Error-Code", toCommonCode(errors)]] };
}
