import type { Configuration } from "openid-client";
import type { OidcFlow } from "./flow.ts";
import type { OidcClaims, OidcOptions } from "./options.ts";

type Library = typeof import("openid-client");
type Metadata = ReturnType<Configuration["serverMetadata"]>;

/** The requests to a provider. They reject with errors of `openid-client`. */
export interface OidcProvider {
  /** Loads the library. Rejects if it is not installed. */
  load(): Promise<unknown>;
  /** Asks for the configuration of the provider, and checks it. */
  discover(): Promise<void>;
  /** Returns new secrets for a login, and the URL to redirect to. */
  start(redirectUri: string): Promise<{ readonly flow: OidcFlow; readonly location: string }>;
  /** Exchanges the code of an answer for the claims of its user, after all checks of OpenID Connect. */
  exchange(flow: OidcFlow, query: string): Promise<OidcClaims>;
}

/** How long the configuration of the provider is kept. */
const KEEP_MS = 3_600_000;
/** When a configuration that is known is asked for again, after that has failed. */
const RETRY_KNOWN_MS = 60_000;
/** After a failure: anyone can start logins, and each of them would be a request to the provider. */
const RETRY_MS = 1000;
/** The clocks of the provider and this host may differ by this time. */
const CLOCK_TOLERANCE_SECONDS = 60;
const DEFAULT_SCOPES: readonly string[] = ["openid", "profile", "email"];

/** Loads the library at the first login: it is an optional peer. */
async function loadLibrary(): Promise<Library> {
  try {
    return await import("openid-client");
  } catch (cause) {
    throw new Error("Logins by OpenID Connect need the package openid-client: npm install openid-client@6", { cause });
  }
}

/** Creates the requests to a provider. */
export function createOidcProvider(options: OidcOptions, clock: () => number): OidcProvider {
  const { scopes = DEFAULT_SCOPES, userInfo = true } = options;
  // No promises, which would belong to the request that made them on Workers.
  let known: { readonly configuration: Configuration; readonly until: number } | undefined;
  let failed: { readonly error: unknown; readonly until: number } | undefined;

  async function configure(client: Library): Promise<Configuration> {
    if (known !== undefined && clock() < known.until) return known.configuration;
    if (failed !== undefined && clock() < failed.until) throw failed.error;
    try {
      const configuration = await discover(client, options);
      known = { configuration, until: clock() + KEEP_MS };
      return configuration;
    } catch (error) {
      if (known === undefined) {
        failed = { error, until: clock() + RETRY_MS };
        throw error;
      }
      known = { ...known, until: clock() + RETRY_KNOWN_MS };
      return known.configuration;
    }
  }

  async function start(uri: string): Promise<{ readonly flow: OidcFlow; readonly location: string }> {
    const client = await loadLibrary();
    const configuration = await configure(client);
    const verifier = client.randomPKCECodeVerifier();
    const redirectUri = new URL(uri).href;
    const flow = { state: client.randomState(), nonce: client.randomNonce(), verifier, redirectUri };
    const { href } = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: scopes.join(" "),
      state: flow.state,
      nonce: flow.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return { flow, location: href };
  }

  async function exchange({ state, nonce, verifier, redirectUri }: OidcFlow, query: string): Promise<OidcClaims> {
    const client = await loadLibrary();
    const configuration = await configure(client);
    const tokens = await client.authorizationCodeGrant(configuration, new URL(`${redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    // `idTokenExpected`: there is one, or the call has rejected.
    const claims = tokens.claims() as OidcClaims;
    const hasMore = userInfo && configuration.serverMetadata().userinfo_endpoint !== undefined;
    if (!hasMore) return claims;
    return { ...(await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)), ...claims };
  }

  const discoverFirst = async (): Promise<void> => void (await configure(await loadLibrary()));

  return { load: loadLibrary, discover: discoverFirst, start, exchange };
}

async function discover(client: Library, options: OidcOptions): Promise<Configuration> {
  const { issuer, clientId, clientSecret, timeoutSeconds = 10 } = options;
  const url = new URL(issuer);
  const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  const isLocal = url.protocol === "http:";
  const authentication = clientSecret === undefined ? client.None() : authenticateBy(client, clientSecret);
  const configuration = await client.discovery(url, clientId, metadata, authentication, {
    timeout: timeoutSeconds,
    // The signature of the ID token counts as well, and not only the connection that it came by.
    execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
  });
  // The library lets some providers have a template in place of their issuer: any tenant of theirs could log in.
  const found = configuration.serverMetadata().issuer;
  if (!URL.canParse(found) || new URL(found).href !== url.href) {
    throw new Error("The configuration of the provider names another issuer.");
  }
  return configuration;
}

/** By `client_secret_basic`, which is the default of OpenID Connect, unless the provider takes only a form. */
function authenticateBy(client: Library, secret: string): ReturnType<Library["ClientSecretPost"]> {
  const [byBasic, byForm] = [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)];
  const takesBasic = ({ token_endpoint_auth_methods_supported: methods }: Partial<Metadata>): boolean =>
    methods === undefined || methods.includes("client_secret_basic");
  return (server, ...others) => (takesBasic(server) ? byBasic : byForm)(server, ...others);
}
