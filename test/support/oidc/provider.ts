import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { vi } from "vitest";

/** What the provider knows of its users, by their `sub`. */
const USERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "u-1": { preferred_username: "ann", email: "ann@example.com", email_verified: true, groups: ["staff", "admins"] },
  "u-2": { email: "bo@example.com", email_verified: false, groups: [] },
  "u-3": { preferred_username: "alice" },
  "u-4": { preferred_username: "ann", groups: ["1000", "blocked"] },
};

export const CLIENT_ID = "files";
export const CLIENT_SECRET = "a secret of the provider, 0123456789abcdef";

/** A provider of OpenID Connect, as others run it. */
export interface TestProvider {
  readonly issuer: string;
  /** Who logs in next; `undefined` for a user who cancels. */
  user: string | undefined;
  /**
   * Does what a browser and its user do: from the URL that the service redirects to, to the URL that the provider
   * redirects back to.
   */
  visit(location: string): Promise<string>;
  /** How many requests the token endpoint has had. */
  exchanges(): number;
  close(): Promise<void>;
}

/** Starts a provider that sends browsers back to one of the URLs. Its port is free, or the given one. */
export async function startProvider(redirectUris: readonly string[], port = 0): Promise<TestProvider> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;
  let exchanges = 0;
  const server = createServer((request, response) => {
    if (request.url === "/token") exchanges += 1;
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  // It warns that it keeps everything in memory, which does for tests.
  const warning = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  const provider: Provider = new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: "sig", alg: "RS256" }] },
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [...redirectUris] }],
    cookies: { keys: ["a key of the test"] },
    claims: { openid: ["sub"], profile: ["preferred_username", "groups"], email: ["email", "email_verified"] },
    findAccount: (_context, id) => ({ accountId: id, claims: async () => ({ sub: id, ...USERS[id] }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
    // The user need not consent.
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        accountId: oidc.session?.accountId ?? "",
        clientId: oidc.client?.clientId ?? "",
      });
      grant.addOIDCScope("openid profile email");
      await grant.save();
      return grant;
    },
  });

  warning.mockRestore();

  const callback = provider.callback();
  handle = (request, response) => {
    if (!request.url?.startsWith("/interaction/")) return void callback(request, response);
    const { user } = test;
    const result = user === undefined ? { error: "access_denied" } : { login: { accountId: user } };
    void provider.interactionFinished(request, response, result);
  };

  async function visit(location: string): Promise<string> {
    const cookies = new Map<string, string>();
    let url = location;
    while (url.startsWith(issuer)) {
      const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
      const response = await fetch(url, { redirect: "manual", headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [name = "", value = ""] = (line.split(";", 1)[0] ?? "").split(/=(.*)/s);
        cookies.set(name, value);
      }
      const next = response.headers.get("location");
      if (next === null) throw new Error(`The provider answers ${response.status}: ${await response.text()}`);
      url = new URL(next, url).href;
    }
    return url;
  }

  const test: TestProvider = {
    issuer,
    user: "u-1",
    visit,
    exchanges: () => exchanges,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return test;
}
