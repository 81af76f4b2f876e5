import type { Authenticator } from "../contracts/authenticator.ts";
import type { SignOnAnswer, SignOnRequest, SignOnVerdict, StartedSignOn } from "../contracts/sign-on/single-sign-on.ts";
import { createError, createRetryError } from "../http/errors.ts";
import { createOidcFlows } from "./oidc/flow.ts";
import { toMappedAccount } from "./oidc/identity-of-claims.ts";
import { checkOidcOptions, type OidcClaims, type OidcOptions } from "./oidc/options.ts";
import { createOidcProvider } from "./oidc/provider.ts";
import { toOidcRefusal } from "./oidc/refusals.ts";

export type { OidcClaims, OidcOptions } from "./oidc/options.ts";

/** How many answers are exchanged at a time: each is a request or two to the provider. */
const MAX_EXCHANGES = 64;

/**
 * Makes a method by which users log in at an OpenID Connect provider, with the authorization code flow and PKCE
 * (OpenID Connect Core 1.0, RFC 7636, RFC 9700). Needs the package `openid-client`. The login page has a button for it.
 * Its accounts have no passwords: HTTP Basic and JSON logins do not know them.
 * @throws TypeError naming the option that is wrong.
 */
export function createOidcAuthenticator(options: OidcOptions): Authenticator {
  checkOidcOptions(options);
  const { issuer, id = "oidc", label = new URL(issuer).host, mayShareNames = false } = options;
  const flows = createOidcFlows(options, Date.now);
  const provider = createOidcProvider(options, Date.now);
  let exchanges = 0;

  async function start({ redirectUri, returnTo }: SignOnRequest): Promise<StartedSignOn> {
    try {
      const { flow, location } = await provider.start(redirectUri);
      return { location, sealed: await flows.seal({ ...flow, returnTo }) };
    } catch (error) {
      const { reason, details } = toOidcRefusal(error);
      const cause = new Error(details);
      if (reason === "invalid") throw createError("sign-on-failed", { cause });
      throw createRetryError("sign-on-unavailable", cause);
    }
  }

  async function finish({ query, sealed }: SignOnAnswer): Promise<SignOnVerdict> {
    const flow = sealed === undefined ? undefined : await flows.open(sealed);
    const states = new URLSearchParams(query).getAll("state");
    if (flow === undefined || states.length !== 1 || states[0] !== flow.state) {
      return { outcome: "rejected", reason: "outdated" };
    }
    const { returnTo } = flow;
    if (exchanges >= MAX_EXCHANGES) {
      return { outcome: "rejected", reason: "unavailable", details: "too many logins at the same time", returnTo };
    }
    let claims: OidcClaims;
    exchanges += 1;
    try {
      claims = await provider.exchange(flow, query);
    } catch (error) {
      return { outcome: "rejected", ...toOidcRefusal(error), returnTo };
    } finally {
      exchanges -= 1;
    }
    const mapped = await toMappedAccount(options, claims);
    return "identity" in mapped
      ? { outcome: "accepted", identity: mapped.identity, returnTo }
      : { outcome: "rejected", reason: "unknown", details: mapped.problem, returnTo };
  }

  return {
    name: id,
    start: async () => void (await provider.load()),
    authenticate: async () => ({ outcome: "unknown" }),
    singleSignOn: { id, label, mayShareNames, start, finish },
  };
}
