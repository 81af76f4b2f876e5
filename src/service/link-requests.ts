import type { Account } from "../account/account.ts";
import type { AccountFiles } from "../account/files.ts";
import { type LinkRights, toLinkRoot } from "../account/links/link-account.ts";
import { isDropFolder } from "../account/links/link-files.ts";
import { toEventLink } from "../auth/link-access.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { LinkRefusal } from "../contracts/events/links.ts";
import { isPasswordForm, toLockedReply, unlockLink } from "../endpoints/links/link-password.ts";
import { createError } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import { emptyReply, type Reply } from "../http/reply.ts";
import type {
  AccountContext,
  AccountEndpoint,
  LimitedContext,
  LinkService,
  RequestContext,
  RequestLink,
} from "../request/context.ts";
import { emitEvent } from "../request/emit-event.ts";
import type { LinkRecord } from "../sharing/record.ts";
import { withEvents } from "../transfers/files-with-events.ts";
import { endWithLogin } from "../transfers/login-watch.ts";
import { createRequestUses, isPrefetch, withUses } from "./link-uses.ts";
import type { ResolvedUrl } from "./resolve-url.ts";
import type { StorageAccounts } from "./storage-accounts.ts";

type OpenedContext = AccountContext & { readonly link: RequestLink };

/** A running transfer asks every ten seconds whether its link is still open. */
const IDLE_MS = 30_000;

/** A link that is open for a request. */
export interface OpenedRequest {
  readonly link: RequestLink;
  readonly account: Account;
  readonly settings: AccountSettings;
  readonly files: AccountFiles;
  readonly createDryFiles: () => AccountFiles;
  readonly confirmLogin: () => Promise<void>;
}

/**
 * Opens the link of a request, in the order of SHARING 4. A link that needs its password has a reply already.
 * @throws HttpError why the link is not open, after its event.
 */
export async function openLinkRequest(
  context: LimitedContext,
  { access, sealed }: LinkService,
  accounts: Pick<StorageAccounts, "resolve" | "openLink" | "forDryRun">,
  { kind, path, token = "" }: ResolvedUrl,
): Promise<OpenedRequest | { readonly reply: Reply }> {
  const home = context.root;
  // Set first, so that error pages stay below the link too, and never lead to the files of an account.
  context.root = `${context.config.basePath}/__svc__/share/${token}/`;
  const verdict = await access.open(context, token, kind === "upload" || kind === "uploads");
  if (verdict.outcome === "refused") {
    if (verdict.link !== undefined) context.eventLink = verdict.link;
    // A token that does not open is treated as any unknown URL.
    else context.root = home;
    if (verdict.reason !== undefined) emitLinkRefused(context, verdict.reason);
    throw verdict.error;
  }
  const { record } = verdict;
  context.eventLink = toEventLink(record);
  if (verdict.outcome === "locked") {
    const isForm = isPasswordForm(context) && path.segments.length === 0;
    const { reply, reason } = isForm ? await unlockLink(context, access, record) : toLockedReply(context, verdict);
    if (reason !== undefined) emitLinkRefused(context, reason);
    return { reply };
  }
  const { failureOf } = context;
  Object.assign(context, { failureOf: (error: unknown) => toLinkFailure(failureOf(error)) });
  // The user has already entered the password in another tab.
  if (record.passwordHash !== undefined && path.segments.length === 0 && isPasswordForm(context)) {
    return { reply: emptyReply(303, { Location: context.root }) };
  }
  const rights = toRights(record, sealed.isFree(record));
  const owner = accounts.resolve(record.username, verdict.settings);
  const { account, files, inside } = accounts.openLink(owner, rights);
  const link = { record, root: toLinkRoot(rights), isDropFolder: isDropFolder(rights), inside };
  const createDryFiles = (): AccountFiles => accounts.forDryRun().openLink(owner, rights).files;
  const confirmLogin = async (): Promise<void> => undefined;
  return { account, files, createDryFiles, confirmLogin, link, settings: verdict.settings };
}

/** Runs an endpoint for a link that is open: running transfers end with it, and uses are counted. */
export async function runWithLink(
  context: OpenedContext,
  { access, sealed }: LinkService,
  endpoint: AccountEndpoint,
  mayUpload: boolean,
): Promise<Reply> {
  const { link, config, request } = context;
  const { clock } = config;
  const uses = createRequestUses(context, link.record, sealed.uses);
  if (uses !== undefined && isPrefetch(request.headers)) return emptyReply(403, { "Error-Code": "link-prefetch" });
  const watched = endWithLogin(uses?.limit(context.files) ?? context.files, {
    since: clock(),
    clock,
    idle: IDLE_MS,
    mayUpload,
    toError: () => createError("link-invalid"),
    watch: () => async () => !(await access.isLive(link.record)),
  });
  Object.assign(context, watched);
  if (context.hasListeners()) Object.assign(context, { files: withEvents(context) });
  try {
    const reply = await endpoint(context);
    return uses === undefined ? reply : await withUses(context, uses, reply);
  } catch (error) {
    const { failure, code } = context.failureOf(error);
    if (failure === "denied") emitLinkRefused(context, "denied");
    if (code === "link-used-up") emitLinkRefused(context, "used-up");
    throw error;
  }
}

/** Refusals whose texts are about the account. */
const ACCOUNT_CODES: readonly string[] = [
  "denied",
  "path-too-long",
  "root-not-movable",
  "root-not-removable",
  "destination-outside",
  "lock-of-other",
];

/** Failures that would show how much the account has. */
const FIGURE_CODES: readonly string[] = [
  "too-many-uploads",
  "upload-bytes-exceeded",
  "too-many-locks",
  "locks-too-large",
];

/** Replaces failures that would reveal something about the account to a visitor. */
function toLinkFailure(failure: HttpError): HttpError {
  if (FIGURE_CODES.includes(failure.code)) return createError("storage-full");
  return ACCOUNT_CODES.includes(failure.code) ? createError("link-denied") : failure;
}

/** Emits event 49103. */
function emitLinkRefused(context: RequestContext, reason: LinkRefusal): void {
  if (context.hasListeners()) emitEvent(context, { id: 49103, data: { reason } });
}

const rightsOf = new WeakMap<LinkRecord, LinkRights>();

/** Returns the same object for the same record, so that the files of a link are created once. */
function toRights(record: LinkRecord, isFree: boolean): LinkRights {
  const known = rightsOf.get(record);
  if (known !== undefined) return known;
  const { id, path, isFolder, permissions, maxFileBytes, expires } = record;
  const limit = maxFileBytes !== undefined && { maxFileBytes };
  const rights = { id, path, isFolder, permissions, ...limit, expires, isFree };
  rightsOf.set(record, rights);
  return rights;
}
