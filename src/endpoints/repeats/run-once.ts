import { foldName, toAccountIdentity } from "../../contracts/account-name.ts";
import { createError, createRetryError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import type { AccountContext, Claim } from "../../request/context.ts";
import { waitUntil } from "../../request/wait-until.ts";

type FirstClaim = Extract<Claim, { readonly outcome: "first" }>;

/** An answer as it is stored: the status, the header fields and the body of a reply. */
type KeptReply = readonly [status: number, headers: Reply["headers"], body: string];

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Runs a request with an `Idempotency-Key` once: the same key, account, URL and body get the same answer again
 * (draft-ietf-httpapi-idempotency-key-header). `body` is the parsed body. The first request runs to its end even if its
 * client disconnects, so that the answer says what has happened. If `run` throws, it must have changed nothing; the
 * error is not kept as an answer. Without the header or the option, the request runs as it is.
 * @throws HttpError `malformed` for a malformed key, `conflict` while the first request runs, or if its answer was not
 * kept, `unprocessable` for another body, `unavailable` if the store fails; what `run` throws.
 */
export async function runOnce(
  context: AccountContext,
  body: unknown,
  run: (context: AccountContext) => Promise<Reply>,
): Promise<Reply> {
  const { answers, request } = context;
  const key = answers === undefined ? null : request.headers.get("idempotency-key");
  if (answers === undefined || key === null) return run(context);
  if (!KEY.test(key)) throw createError("idempotency-key-invalid");
  // An answer that was kept may have the URL of a link.
  await context.confirmLogin();
  const { path: url } = context.target;
  const claim = await answers.claim({
    holder: toHolder(context),
    payer: foldName(toPayer(context)),
    url,
    key,
    body: JSON.stringify(body),
  });
  switch (claim.outcome) {
    case "first": {
      const running = runFirst(claim, () => run(ignoringDisconnect(context)));
      waitUntil(
        context,
        running.then(
          () => undefined,
          () => undefined,
        ),
      );
      return running;
    }
    case "running":
      throw createRetryError("idempotency-running");
    case "other":
      throw createError("idempotency-key-reused");
    case "answered":
      if (claim.answer === undefined) throw createError("idempotency-answer-not-kept");
      return toReplay(claim.answer);
  }
}

async function runFirst(claim: FirstClaim, run: () => Promise<Reply>): Promise<Reply> {
  let reply: Reply;
  try {
    reply = await run();
  } catch (error) {
    await claim.release();
    throw error;
  }
  await claim.keep(toAnswer(reply));
  return reply;
}

/**
 * Returns the holder of an idempotency key. A link or an API key is a holder of its own, because it may see less than
 * its account.
 */
function toHolder(context: AccountContext): string {
  return context.key === undefined ? toPayer(context) : `key:${context.key.id}`;
}

/** The keys of an account have one limit together: it can make any number, one after the other. */
function toPayer({ account, link }: AccountContext): string {
  return link === undefined ? `account:${toAccountIdentity(account)}` : `link:${link.record.id}`;
}

/**
 * Makes a request run to its end even if the client disconnects. Changes the context itself, because its events use it.
 */
function ignoringDisconnect(context: AccountContext): AccountContext {
  const { signal } = new AbortController();
  const request = new Proxy(context.request, {
    get: (target, name) => (name === "signal" ? signal : Reflect.get(target, name, target)),
  });
  return Object.assign(context, { request });
}

/** Returns `undefined` for a reply that is not in memory. */
function toAnswer({ status, headers, body }: Reply): string | undefined {
  const bytes = body ?? "";
  if (typeof bytes !== "string" && !("byteLength" in bytes)) return undefined;
  const text = typeof bytes === "string" ? bytes : decodeUtf8(bytes);
  return text === undefined ? undefined : JSON.stringify([status, headers, text] satisfies KeptReply);
}

function toReplay(answer: string): Reply {
  const [status, headers, text] = JSON.parse(answer) as KeptReply;
  const body = text === "" ? undefined : new TextEncoder().encode(text);
  return { status, headers: [...headers, ["Idempotency-Replayed", "true"]], body };
}
