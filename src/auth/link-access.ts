import type { AccountSettings } from "../contracts/account.ts";
import type { Connection } from "../contracts/connection.ts";
import type { EventLink } from "../contracts/events/envelope.ts";
import type { LinkRefusal } from "../contracts/events/links.ts";
import { parseAuthorization } from "../http/authorization.ts";
import { createSessionCookie, type SessionCookie } from "../http/cookie.ts";
import { createError, type ErrorCode } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { createHmac } from "../platform/hmac.ts";
import type { SealedLinks } from "../sharing/links.ts";
import type { LinkRecord } from "../sharing/record.ts";
import type { AuthenticationChain } from "./chain.ts";
import type { PasswordHasher } from "./passwords/hash.ts";
import type { AttemptResult, LoginThrottle, Shortcut } from "./throttle.ts";

/** What a request by a link may do. */
export type LinkVerdict =
  /** The link is open, with the settings that its account has now. */
  | { readonly outcome: "open"; readonly record: LinkRecord; readonly settings: AccountSettings }
  /** `reason` is absent if the token is not valid, which has no event. */
  | {
      readonly outcome: "refused";
      readonly error: HttpError;
      readonly reason?: LinkRefusal;
      readonly link?: EventLink;
    }
  /** The request needs the password of the link. */
  | {
      readonly outcome: "locked";
      readonly record: LinkRecord;
      /** Absent: the request has no password. */
      readonly reason?: "password" | "throttled";
      readonly retryAfterSeconds?: number;
    };

/** A request as far as links read it. */
export interface LinkRequest {
  readonly request: Request;
  readonly connection: Connection;
  readonly variant: Variant;
}

/** Decides whether a link is open for a request, in the order of SHARING 4. */
export interface LinkAccess {
  /**
   * `mayBeUsedUp`: the request continues an upload, whose creation was counted as a use already.
   * @throws HttpError `unavailable` if the store, or the method of the account, cannot be asked.
   */
  open(request: LinkRequest, token: string, mayBeUsedUp?: boolean): Promise<LinkVerdict>;
  /** Whether the store has a link that is valid and not used up. Only then do its locks count. */
  hasLocks(id: string): Promise<boolean>;
  /** Whether a link was not withdrawn, and its account may still have it. For transfers that run already. */
  isLive(record: LinkRecord): Promise<boolean>;
  /**
   * Verifies the password that a form has sent for a locked link. Returns the value of the cookie that opens the link,
   * and `undefined` with the verdict otherwise.
   */
  unlock(
    request: LinkRequest,
    record: LinkRecord,
    password: string,
  ): Promise<{ readonly cookie: string } | Extract<LinkVerdict, { readonly outcome: "locked" }>>;
}

/** Options of {@link createLinkAccess}. */
export interface LinkAccessOptions {
  readonly links: SealedLinks;
  readonly chain: Pick<AuthenticationChain, "lookup">;
  readonly throttle: LoginThrottle;
  readonly hasher: PasswordHasher;
  /** Whether an account with these settings can be used, may have links, and is the one that has made the link. */
  readonly mayHave: (record: LinkRecord, settings: AccountSettings) => boolean;
  /** POSIX milliseconds. */
  readonly clock: () => number;
}

/** How long a browser has to give the password only once, in seconds. */
const UNLOCKED_SECONDS = 43_200;

/** The name of the cookie that keeps a link open in a browser. */
const COOKIE_NAME = "SVC_LINK";

/** Creates the access of a service. */
export function createLinkAccess(options: LinkAccessOptions): LinkAccess {
  const { links, chain, throttle, hasher, mayHave, clock } = options;
  const verified = createVerifiedPasswords(clock);

  async function open(linkRequest: LinkRequest, token: string, mayBeUsedUp = false): Promise<LinkVerdict> {
    const opened = await links.open(token);
    if (opened === undefined) return { outcome: "refused", error: createError("not-found") };
    if (opened.outcome !== "live") {
      const code = opened.outcome === "expired" ? "link-expired" : "link-withdrawn";
      return refuse(code, opened.outcome, { id: opened.id, label: "" });
    }
    const { record } = opened;
    const settings = await findSettings(record);
    if (settings === undefined) return refuse("link-invalid", "account", toEventLink(record));
    if (!mayBeUsedUp && (await isUsedUp(record))) return refuse("link-used-up", "used-up", toEventLink(record));
    const locked = await findLock(linkRequest, record);
    return locked ?? { outcome: "open", record, settings };
  }

  /** The settings that the account has now; `undefined` if it no longer exists, or may not have links. */
  async function findSettings(record: LinkRecord): Promise<AccountSettings | undefined> {
    const { username, settings: fixed } = record;
    const found = fixed === undefined ? await chain.lookup(username) : undefined;
    const settings = fixed ?? (found?.outcome === "found" ? found.account : undefined);
    return settings !== undefined && mayHave(record, settings) ? settings : undefined;
  }

  async function isUsedUp(record: LinkRecord): Promise<boolean> {
    const { maxUses } = record;
    return maxUses !== undefined && ((await links.uses?.count(record)) ?? maxUses) >= maxUses;
  }

  /** Returns `undefined` if the link has no password, or the request has it. */
  async function findLock(
    linkRequest: LinkRequest,
    record: LinkRecord,
  ): Promise<Extract<LinkVerdict, { outcome: "locked" }> | undefined> {
    if (record.passwordHash === undefined) return undefined;
    const { headers } = linkRequest.request;
    if (await isUnlocked(cookie.read(headers), record)) return undefined;
    const authorization = parseAuthorization(headers.get("authorization"));
    if (linkRequest.variant === "html" || authorization?.scheme !== "basic") return { outcome: "locked", record };
    return verify(linkRequest, record, authorization.password);
  }

  async function verify(
    { request, connection }: LinkRequest,
    record: LinkRecord,
    password: string,
  ): Promise<Extract<LinkVerdict, { outcome: "locked" }> | undefined> {
    const { id, passwordHash = "" } = record;
    const address = connection.peer?.address;
    const known = verified.find(`${id} ${address ?? ""} ${password}`);
    const isRight = await throttle.run(
      { username: `link:${id}`, address, request },
      () => hasher.verify(password, passwordHash, address),
      (matches): AttemptResult => (matches ? "succeeded" : "failed"),
      known,
    );
    if (isRight === true) {
      known.remember();
      return undefined;
    }
    if (isRight === false) return { outcome: "locked", record, reason: "password" };
    const { retryAfterSeconds } = isRight;
    const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    return { outcome: "locked", record, reason: "throttled", ...retry };
  }

  /** Whether the cookie of a link is one that this service has made, for this link and its password. */
  async function isUnlocked(value: string | undefined, record: LinkRecord): Promise<boolean> {
    const text = value === undefined ? undefined : await links.unlock.open(value);
    if (text === undefined) return false;
    const [id, until] = text.split(" ");
    return id === record.id && Number(until) * 1000 > clock();
  }

  const unlock: LinkAccess["unlock"] = async (linkRequest, record, password) => {
    const locked = await verify(linkRequest, record, password);
    if (locked !== undefined) return locked;
    const until = Math.min(Math.floor(clock() / 1000) + UNLOCKED_SECONDS, record.expires);
    return { cookie: await links.unlock.seal(`${record.id} ${until}`) };
  };

  async function isLive(record: LinkRecord): Promise<boolean> {
    if (clock() >= record.expires * 1000) return false;
    if (links.stored !== undefined && !links.isFree(record) && (await links.stored.find(record.id)) === undefined)
      return false;
    return (await findSettings(record)) !== undefined;
  }

  async function hasLocks(id: string): Promise<boolean> {
    const record = await links.stored?.find(id);
    return record !== undefined && (await findSettings(record)) !== undefined && !(await isUsedUp(record));
  }

  return { open, hasLocks, isLive, unlock };
}

/** How long a right password is not verified again, for the same link and address. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

/**
 * Remembers right passwords for a short time: clients send them with every request, and verifying one takes 0.3 s. It
 * keeps no password, only an HMAC with a key that only this process has.
 */
function createVerifiedPasswords(clock: () => number) {
  const untils = createBoundedMap<string, number>(MAX_REMEMBERED);
  const toMac = createHmac();

  /** Only the throttle may use the result, because it shows whether a password is right. */
  function find(text: string): Shortcut<boolean> & { readonly remember: () => void } {
    const mac = toMac(text);
    const isKnown = (): boolean => (untils.get(mac) ?? 0) > clock();

    function remember(): void {
      if (!isKnown()) untils.set(mac, clock() + REMEMBERED_MS);
    }

    return { isKnown: isKnown(), take: async () => isKnown() || undefined, remember };
  }

  return { find };
}

/** Reads and sets the cookie of links. */
const cookie: Pick<SessionCookie, "read"> = createSessionCookie(COOKIE_NAME, "/");

/** Returns the `Set-Cookie` value that keeps a link open. `root` is the path of the link's URL, which ends in `/`. */
export function toUnlockCookie(value: string, root: string, isSecure: boolean): string {
  return `${COOKIE_NAME}=${value}; Path=${root}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
}

/** A link in events. */
export function toEventLink({ id, label = "" }: LinkRecord): EventLink {
  return { id, label };
}

function refuse(code: ErrorCode, reason: LinkRefusal, link: EventLink): LinkVerdict {
  return { outcome: "refused", error: createError(code), reason, link };
}
