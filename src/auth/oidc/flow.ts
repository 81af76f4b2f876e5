import { createSeal } from "../../sharing/seal.ts";
import { type OidcOptions, toCookieSecret } from "./options.ts";

/** What a login needs to know until the provider sends the browser back. */
export interface OidcFlow {
  readonly state: string;
  readonly nonce: string;
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo?: string | undefined;
}

/** How long a user may take at the provider. */
const FLOW_MS = 600_000;
/** The path of a deeper page would make the cookie too large: the login then leads to the start page. */
const MAX_RETURN_CHARACTERS = 1000;

/** Keeps logins in the cookies of their browsers. */
export interface OidcFlows {
  seal(flow: OidcFlow): Promise<string>;
  /** Returns the flow of a cookie; `undefined` if it is none of this provider, or its time is over. */
  open(sealed: string): Promise<OidcFlow | undefined>;
}

/** Creates the flows of a provider. Those of another one do not open. */
export function createOidcFlows(options: OidcOptions, clock: () => number): OidcFlows {
  const { issuer, clientId, id = "oidc" } = options;
  const { seal, open } = createSeal(
    [toCookieSecret(options)],
    JSON.stringify(["fileferry oidc 1", issuer, clientId, id]),
  );

  return {
    async seal({ returnTo = "", ...flow }) {
      const back = returnTo === "" || returnTo.length > MAX_RETURN_CHARACTERS ? {} : { returnTo };
      return seal(JSON.stringify({ ...flow, ...back, until: clock() + FLOW_MS }));
    },
    async open(sealed) {
      const text = await open(sealed);
      if (text === undefined) return undefined;
      // Only this service can have written it.
      const { until, ...flow } = JSON.parse(text) as OidcFlow & { readonly until: number };
      return clock() < until ? flow : undefined;
    },
  };
}
