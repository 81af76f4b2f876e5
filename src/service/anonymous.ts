import type { Identification } from "../auth/identification.ts";
import { ANONYMOUS } from "../config/anonymous.ts";
import type { AccountSettings } from "../contracts/account.ts";
import { isBasicLogin } from "../endpoints/login/basic-login.ts";
import { unauthorizedReply } from "../endpoints/login/unauthorized.ts";
import { createError } from "../http/errors.ts";
import { isSafe } from "../http/methods.ts";
import { isSameOrigin } from "../http/origins/same-origin.ts";
import type { Reply } from "../http/reply.ts";
import type { PermitHolder, RequestPermits } from "../limits/permits.ts";
import type { AccountContext, AccountEndpoint, LimitedContext, RequestContext } from "../request/context.ts";
import { withEvents } from "../transfers/files-with-events.ts";
import { isTransfer, refuseTransfer } from "../transfers/too-many-transfers.ts";
import { withPermits } from "./request-permits.ts";
import type { ResolvedUrl } from "./resolve-url.ts";
import type { StorageAccounts } from "./storage-accounts.ts";

/** The account of requests without a login. */
export interface Anonymous {
  /**
   * Whether a request is for the account: it has no credentials, not even an old session cookie, and is for a file or a
   * folder.
   */
  serves(context: RequestContext, kind: ResolvedUrl["kind"]): boolean;
  /** Runs an endpoint for the account. What the account may not do needs a login. */
  run(context: RequestContext, unidentified: Unidentified, endpoint: AccountEndpoint): Promise<Reply>;
}

type Unidentified = Extract<Identification, { outcome: "anonymous" }>;

/** What the account needs. */
export interface AnonymousOptions {
  readonly settings: AccountSettings;
  readonly accounts: Pick<StorageAccounts, "resolve" | "prepare" | "openAnonymous" | "forDryRun">;
  readonly permitsOf: (holder: PermitHolder, address: string | undefined) => RequestPermits;
}

/** Creates the account of requests without a login. */
export function createAnonymous({ settings, accounts, permitsOf }: AnonymousOptions): Anonymous {
  // An object of its own: an account with this name, which logs in, has other files.
  const account = { ...accounts.resolve(ANONYMOUS, settings) };
  let isPrepared = false;

  async function prepare(): Promise<void> {
    if (isPrepared) return;
    await accounts.prepare(account);
    isPrepared = true;
  }

  function serves(context: RequestContext, kind: ResolvedUrl["kind"]): boolean {
    const { request, config } = context;
    // Also a cookie of a session that is over: its user believes to be logged in.
    if (config.session.cookie.has(request.headers)) return false;
    return (kind === "file" || kind === "folder") && !isBasicLogin(context);
  }

  async function run(context: RequestContext, unidentified: Unidentified, endpoint: AccountEndpoint): Promise<Reply> {
    const { connection, config, method } = context;
    if (!isSafe(method) && !isSameOrigin(context, config)) throw createError("cross-site");
    connection.onIdentified?.(ANONYMOUS);
    // The limits are those of each address: an account that all visitors share would let one of them lock others out.
    const permits = permitsOf("anyone", connection.peer?.address);
    const complete = toAccountContext(Object.assign(context, permits));
    if (isTransfer(complete) && !permits.transferPermit.acquire()) throw refuseTransfer(complete);
    try {
      return await withPermits(permits, async () => {
        await prepare();
        return endpoint(complete);
      });
    } catch (error) {
      if (context.failureOf(error).code !== "denied") throw error;
      return unauthorizedReply(context, unidentified);
    }
  }

  /** The account has no links, keys, unfinished uploads and kept answers: all visitors would share them. */
  function toAccountContext(context: LimitedContext): AccountContext {
    const complete: AccountContext = Object.assign(context, {
      account,
      settings,
      scheme: "anonymous" as const,
      files: accounts.openAnonymous(account),
      createDryFiles: () => accounts.forDryRun().openAnonymous(account),
      confirmLogin: async () => undefined,
      uploads: undefined,
      links: undefined,
      keys: undefined,
      answers: undefined,
    });
    return context.hasListeners() ? Object.assign(complete, { files: withEvents(complete) }) : complete;
  }

  return { serves, run };
}
