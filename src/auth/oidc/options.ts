import type { AccountSettings } from "../../contracts/account.ts";
import type { Identity } from "../../contracts/identity.ts";
import { checkNames, checkOption } from "../../contracts/option-error.ts";
import { describeAccountIssues, parseAccountSettings } from "../../schemas/account.ts";

/** What a provider says of a user: the claims of the ID token, and those of its userinfo endpoint. */
export interface OidcClaims {
  /** The provider. */
  readonly iss: string;
  /** The user, as the provider never gives it to another one. */
  readonly sub: string;
  readonly [claim: string]: unknown;
}

/** Options of `createOidcAuthenticator`. */
export interface OidcOptions {
  /** The URL of the provider, as its configuration has it: `https:`, or `http:` of this host alone. */
  readonly issuer: string;
  /** What the provider calls this service. */
  readonly clientId: string;
  /** The secret that the provider has given to this service. Default: none, a public client. */
  readonly clientSecret?: string;
  /**
   * At least 32 characters, the same in all processes: it encrypts the cookie that a browser keeps during a login.
   * Default: `clientSecret`, which then must be as long.
   */
  readonly cookieSecret?: string;
  /** Names the login in its URLs: letters, digits and `-`. Each provider needs another one. Default: `oidc`. */
  readonly id?: string;
  /** The name of the provider on the login page. Default: its host. */
  readonly label?: string;
  /** What the service asks for, `openid` among it. Default: `openid`, `profile` and `email`. */
  readonly scopes?: readonly string[];
  /** Whether claims of the userinfo endpoint count, if the ID token does not have them. Default: true. */
  readonly userInfo?: boolean;
  /** How long a request to the provider may take, from 1 to 60 seconds. Default: 10. */
  readonly timeoutSeconds?: number;
  /**
   * Returns the account of a user; `undefined` if there is none. An `HttpError` that it throws becomes the response.
   * Default: the account that the options below describe.
   */
  readonly toAccount?: (claims: OidcClaims) => Identity | undefined | Promise<Identity | undefined>;
  /**
   * The claim with the account's name. `email` counts only if the provider has verified it. Default: `sub`, the only
   * one that never belongs to another user later.
   */
  readonly nameClaim?: string;
  /** What account names begin with, so that those of two providers differ. Default: nothing. */
  readonly namePrefix?: string;
  /** The claim with the user's groups at the provider: a text or a list. Default: `groups`. */
  readonly groupsClaim?: string;
  /**
   * The account's group by the user's group at the provider, `*` for any user. The first one that fits counts; without
   * one the user has no account. An object, or a list of pairs such as `["1000", "staff"]`, which names of digits need.
   * Default: all users have an account, and it has no group.
   */
  readonly groups?: Readonly<Record<string, string>> | readonly (readonly [ofUser: string, group: string])[];
  /** The settings of each account. Default: none; its group decides. */
  readonly account?: AccountSettings;
  /** See `SingleSignOn.mayShareNames`. Default: false. */
  readonly mayShareNames?: boolean;
}

const NAMES: Readonly<Record<keyof OidcOptions, true>> = {
  issuer: true,
  clientId: true,
  clientSecret: true,
  cookieSecret: true,
  id: true,
  label: true,
  scopes: true,
  userInfo: true,
  timeoutSeconds: true,
  toAccount: true,
  nameClaim: true,
  namePrefix: true,
  groupsClaim: true,
  groups: true,
  account: true,
  mayShareNames: true,
};
/** What describes accounts in place of `toAccount`. */
const OF_ACCOUNTS = ["nameClaim", "namePrefix", "groupsClaim", "groups", "account"] as const;
const MIN_SECRET_CHARACTERS = 32;
const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Checks the options. @throws TypeError naming the wrong one. */
export function checkOidcOptions(options: OidcOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("createOidcAuthenticator needs options.");
  checkNames(options, Object.keys(NAMES), "");
  const { issuer, clientId, clientSecret, cookieSecret, id = "oidc", label = "-", scopes = ["openid"] } = options;
  checkOption(isIssuer(issuer), "issuer", "the https: URL of a provider, without a query and /.well-known/");
  checkOption(isText(clientId), "clientId", "a text");
  checkOption(clientSecret === undefined || isText(clientSecret), "clientSecret", "a text");
  const isOwnSecret = cookieSecret === undefined ? isSecret(clientSecret) : isSecret(cookieSecret);
  checkOption(isOwnSecret, "cookieSecret", "at least 32 characters, if clientSecret has fewer");
  checkOption(typeof id === "string" && /^[a-z0-9-]{1,32}$/.test(id), "id", "lower-case letters, digits and -");
  checkOption(isText(label) && label.trim() !== "", "label", "a text");
  const areScopes = Array.isArray(scopes) && scopes.every((scope) => /^[!#-[\]-~]+$/.test(scope));
  checkOption(areScopes && scopes.includes("openid"), "scopes", "a list of scopes with openid");
  const { userInfo = true, timeoutSeconds = 10, mayShareNames = false } = options;
  checkOption(typeof userInfo === "boolean", "userInfo", "a boolean");
  checkOption(typeof mayShareNames === "boolean", "mayShareNames", "a boolean");
  const isTime = typeof timeoutSeconds === "number" && timeoutSeconds >= 1 && timeoutSeconds <= 60;
  checkOption(isTime, "timeoutSeconds", "a number from 1 to 60");
  checkAccountOptions(options);
}

function checkAccountOptions(options: OidcOptions): void {
  const { toAccount, nameClaim = "sub", namePrefix = "", groupsClaim = "groups", groups = {}, account = {} } = options;
  checkOption(toAccount === undefined || typeof toAccount === "function", "toAccount", "a function");
  const unused = toAccount && OF_ACCOUNTS.find((name) => options[name] !== undefined);
  checkOption(unused === undefined, unused ?? "", "left out, as toAccount is given");
  checkOption(isText(nameClaim), "nameClaim", "the name of a claim");
  checkOption(typeof namePrefix === "string", "namePrefix", "a text");
  checkOption(isText(groupsClaim), "groupsClaim", "the name of a claim");
  checkGroups(groups);
  const settings = parseAccountSettings(account);
  const problem = settings.success ? "" : describeAccountIssues(settings.error).join("; ");
  checkOption(settings.success, "account", `settings of an account: ${problem}`);
}

function checkGroups(groups: unknown): void {
  const isMap = typeof groups === "object" && groups !== null;
  const areGroups = Array.isArray(groups) ? groups.every(isPair) : isMap && Object.values(groups).every(isText);
  checkOption(areGroups, "groups", "identifiers of groups by the names of groups, or a list of such pairs");
  // JavaScript puts whole numbers before all other names, whatever their order in the source.
  const hasOrder = Array.isArray(groups) || !Object.keys(groups ?? {}).some((name) => /^(?:0|[1-9]\d*)$/.test(name));
  checkOption(
    hasOrder,
    "groups",
    'a list of pairs, such as [["1000", "staff"]]: names of digits keep no order otherwise',
  );
}

function isPair(pair: unknown): boolean {
  return Array.isArray(pair) && pair.length === 2 && pair.every(isText);
}

/** The secret that encrypts the cookie. */
export function toCookieSecret({ cookieSecret, clientSecret = "" }: OidcOptions): string {
  return cookieSecret ?? clientSecret;
}

function isIssuer(text: unknown): boolean {
  if (typeof text !== "string" || !URL.canParse(text)) return false;
  const { protocol, hostname, search, hash, username, pathname } = new URL(text);
  const isSafe = protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
  return isSafe && search === "" && hash === "" && username === "" && !pathname.includes("/.well-known/");
}

function isText(text: unknown): text is string {
  return typeof text === "string" && text !== "";
}

function isSecret(text: unknown): boolean {
  return typeof text === "string" && [...text].length >= MIN_SECRET_CHARACTERS;
}
