import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createOidcAuthenticator, type OidcOptions } from "../../../src/auth/oidc.ts";
import type { Authenticator } from "../../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from "../../support/oidc/provider.ts";
import { type Answer, basic, createTestService, type TestServiceOptions } from "../../support/service.ts";

const START = "/__svc__/oidc/oidc/start";
const CALLBACK = "/__svc__/oidc/oidc/callback";
// biome-ignore lint/suspicious/noTemplateCurlyInString: the setting spells it so.
const HOME = "/users/${USER}";
const ORIGIN = "http://files.example";

const REDIRECT_URIS = [
  `${ORIGIN}${CALLBACK}`,
  `${ORIGIN}/__svc__/oidc/other/callback`,
  `https://public.example/files${CALLBACK}`,
];

let provider: TestProvider;

beforeAll(async () => {
  provider = await startProvider(REDIRECT_URIS);
});

beforeEach(() => {
  provider.user = "u-1";
});

afterEach(() => void vi.useRealTimers());

afterAll(() => provider.close());

async function create(oidc: Partial<OidcOptions> = {}, options: TestServiceOptions = {}) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    files: { "/u-1/a.txt": "ann's", "/users/ann/a.txt": "ann's own" },
    authentication: [
      createAccountsAuthenticator({
        accounts: [{ username: "alice", password: "secret" }],
        logger: createRecordingLogger(),
      }),
      createOidcAuthenticator({ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, ...oidc }),
    ],
    onEvent: (event) => void events.push(event),
    ...options,
  });
  const get = (target: string, cookie = ""): Promise<Answer> =>
    test.call("GET", target, { as: null, variant: "html", headers: cookie === "" ? {} : { cookie } });
  /** Starts a login as a browser does; returns the provider's URL and the cookie. */
  async function start(query = "") {
    const answer = await get(`${START}${query}`);
    return { answer, location: answer.header("location") ?? "", cookie: toCookies(answer).join("; ") };
  }
  /** The callback's target, after the user has logged in at the provider. */
  const visitAt = async (site: TestProvider, location: string): Promise<string> => {
    const { pathname, search } = new URL(await site.visit(location));
    return `${pathname}${search}`;
  };
  const visit = (location: string): Promise<string> => visitAt(provider, location);
  async function logIn(query = ""): Promise<Answer> {
    const { location, cookie } = await start(query);
    return get(await visit(location), cookie);
  }
  return { ...test, events, get, start, visit, visitAt, logIn };
}

/** What a browser sends back of the cookies of an answer; deleted ones are left out. */
function toCookies({ headers }: Answer): readonly string[] {
  return headers.getSetCookie().flatMap((line) => (/Max-Age=0/.test(line) ? [] : (line.split(";", 1)[0] ?? [])));
}

function toRefusal(answer: Answer): readonly unknown[] {
  return [answer.status, answer.header("error-code")];
}

/** The page of a refusal is the login page with a text, and has nothing of the provider. */
function expectPage(answer: Answer, status: number, code: string, text: string): void {
  expect(toRefusal(answer)).toEqual([status, code]);
  expect(answer.text).toContain(text);
  expect(answer.text).toContain("Log in with");
  expect(toCookies(answer)).toEqual([]);
  for (const leak of [CLIENT_SECRET, "ECONNREFUSED", "invalid_grant", "OAUTH", "u-1"]) {
    expect(answer.text).not.toContain(leak);
  }
}

describe("a login at an OpenID Connect provider", () => {
  it("starts on the login page, and leads back to the page that was asked for, with a session", async () => {
    const { get, start, visit, events } = await create({ label: "Example ID" });
    const page = await get("/__svc__/login?return=/home/a.txt");
    expect(page.text).toMatch(/<a class="button wide" href="([^"]*)">Log in with Example ID<\/a>/);
    expect(page.text).toContain(`href="${START}?return=%2Fhome%2Fa.txt"`);
    expect(page.text).toContain(`name="password"`);

    const { answer, location, cookie } = await start("?return=/home/a.txt");
    expect(answer.status).toBe(302);
    expect(answer.header("cache-control")).toBe("no-store");
    expect(answer.header("set-cookie")).toMatch(
      /^SVC_HTTP_SESSION_OIDC=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    const asked = new URL(location).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${ORIGIN}${CALLBACK}`,
      scope: "openid profile email",
    });
    // Nothing of it can be read in the cookie.
    for (const name of ["state", "nonce", "code_challenge"]) expect(cookie).not.toContain(asked.get(name));

    const done = await get(await visit(location), cookie);
    expect(done.status).toBe(200);
    expect(done.text).toContain(`content="0; url=/home/a.txt"`);
    expect(done.header("set-cookie")).toContain("SVC_HTTP_SESSION_OIDC=; ");
    const [session = ""] = toCookies(done);
    expect(done.headers.getSetCookie()[1]).toMatch(
      /^SVC_HTTP_SESSION=[\da-f]{32}; Path=\/; HttpOnly; SameSite=strict$/,
    );
    expect((await get("/home/a.txt", session)).text).toBe("ann's");
    expect(events).toContainEqual(
      expect.objectContaining({
        id: 40007,
        account: expect.objectContaining({ name: "u-1", uuid: "u-1", email: "ann@example.com" }),
        data: {
          credentials: { type: "identity" },
          verdicts: [{ method: "oidc", outcome: "accepted" }],
          session: true,
        },
      }),
    );
  });

  it("has a session that ends with the logout, and no password", async () => {
    const { call, get, logIn } = await create();
    const [cookie = ""] = toCookies(await logIn());
    expect((await get("/home/__svc__/password-update", cookie)).status).toBe(403);
    const authorization = basic("u-1", "u-1");
    expect((await call("GET", "/home/", { as: null, variant: "json", headers: { authorization } })).status).toBe(401);
    await call("POST", "/__svc__/logout", { as: null, variant: "html", headers: { cookie } });
    expect((await get("/home/a.txt", cookie)).status).toBe(302);
  });

  it("leads nowhere else than to the service", async () => {
    const { logIn } = await create();
    for (const outside of ["https://evil.example/", "//evil.example/home/", "/__svc__/logout", "/home/..%2f..%2f"]) {
      expect((await logIn(`?return=${encodeURIComponent(outside)}`)).text).toContain(`content="0; url=/home/"`);
    }
  });

  it("comes back to the public origin and base path, with cookies for TLS alone", async () => {
    const options = {
      publicOrigin: "https://public.example",
      basePath: "/files",
      session: { cookie: { name: "__Host-files", path: "/" } },
    };
    const { get } = await create({}, options);
    const started = await get(`/files${START}`);
    const location = started.header("location") ?? "";
    expect(new URL(location).searchParams.get("redirect_uri")).toBe(`https://public.example/files${CALLBACK}`);
    expect(started.header("set-cookie")).toMatch(/^__Host-files_OIDC=.*; Path=\/; HttpOnly; SameSite=Lax; .*Secure$/);
    const { pathname, search } = new URL(await provider.visit(location));
    const done = await get(`${pathname}${search}`, toCookies(started).join());
    expect(toCookies(done)).toEqual([expect.stringMatching(/^__Host-files=/)]);
  });

  it("asks for no password if there are none", async () => {
    const only = createOidcAuthenticator({ issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET });
    const { get } = await create({}, { authentication: only });
    const { text } = await get("/__svc__/login");
    expect(text).toContain(`<a class="button wide primary" href="${START}">`);
    expect(text).not.toContain("<form");
  });

  it("has no URLs in a service without it", async () => {
    const { call } = await createTestService();
    expect((await call("GET", START, { as: null, variant: "html" })).status).toBe(404);
    const { get } = await create();
    expect((await get("/__svc__/oidc/unknown/start")).status).toBe(404);
    expect((await get("/__svc__/oidc/unknown/callback?state=x")).status).toBe(404);
  });
});

describe("the callback refuses", () => {
  const OUTDATED = [403, "sign-on-outdated", "This login has expired"] as const;

  it("a browser without the cookie, or with that of another login, so no site logs it in as another user", async () => {
    const { get, start, visit } = await create();
    const [one, other] = [await start(), await start()];
    const callback = await visit(one.location);
    const exchanges = provider.exchanges();
    expectPage(await get(callback), ...OUTDATED);
    expectPage(await get(callback, other.cookie), ...OUTDATED);
    expectPage(await get(callback, one.cookie.slice(0, -3)), ...OUTDATED);
    expect(provider.exchanges()).toBe(exchanges);
    expect((await get(callback, one.cookie)).status).toBe(200);
  });

  it("a wrong state, none and two", async () => {
    const { get, start, visit } = await create();
    const { location, cookie } = await start();
    const callback = await visit(location);
    for (const wrong of [
      callback.replace(/state=[^&]*/, "state=x"),
      callback.replace(/state=[^&]*/, ""),
      `${callback}&state=x`,
    ]) {
      expectPage(await get(wrong, cookie), ...OUTDATED);
    }
  });

  it("an answer that was used already", async () => {
    const { get, start, visit } = await create();
    const { location, cookie } = await start();
    const callback = await visit(location);
    expect((await get(callback, cookie)).status).toBe(200);
    expectPage(await get(callback, cookie), ...OUTDATED);
  });

  it("an answer after ten minutes", async () => {
    const { get, start, visit } = await create();
    const { location, cookie } = await start();
    const callback = await visit(location);
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    expectPage(await get(callback, cookie), ...OUTDATED);
  });

  it("a code that another browser has got: its code verifier is another one", async () => {
    const { get, start, visit } = await create();
    const [one, other] = [await start(), await start()];
    const code = /code=([^&]*)/.exec(await visit(other.location))?.[1];
    const callback = (await visit(one.location)).replace(/code=[^&]*/, `code=${code}`);
    expectPage(await get(callback, one.cookie), ...OUTDATED);
  });

  it("an ID token with another nonce", async () => {
    const { get, start, visit, log } = await create();
    const { location, cookie } = await start();
    const callback = await visit(location.replace(/nonce=[^&]*/, "nonce=other"));
    expectPage(await get(callback, cookie), 502, "sign-on-failed", "has sent an invalid response");
    expect(log.text()).toContain("nonce");
  });

  it("an answer that names another issuer, or is for another provider of the service", async () => {
    const { get, start, visit } = await create();
    const { location, cookie } = await start();
    const callback = (await visit(location)).replace(/iss=[^&]*/, "iss=https%3A%2F%2Fevil.example");
    expectPage(await get(callback, cookie), 502, "sign-on-failed", "has sent an invalid response");
    const other = await create({ id: "other" });
    const elsewhere = callback.replace("/oidc/oidc/", "/oidc/other/");
    expectPage(await other.get(elsewhere, cookie), ...OUTDATED);
  });

  it("a user who has cancelled", async () => {
    provider.user = undefined;
    const { logIn, events } = await create();
    expectPage(await logIn(), 403, "sign-on-denied", "cancelled or refused");
    expect(events).toContainEqual(
      expect.objectContaining({
        id: 40000,
        data: expect.objectContaining({
          reason: "credentials",
          verdicts: [{ method: "oidc", outcome: "rejected", reason: "credentials" }],
        }),
      }),
    );
  });

  it("HEAD, which would use the answer up", async () => {
    const { call } = await create();
    expect((await call("HEAD", `${CALLBACK}?state=x`, { as: null, variant: "html" })).status).toBe(405);
  });
});

describe("the account of a user", () => {
  it("has the name of a claim, and a group and settings of the options", async () => {
    const { logIn, get } = await create(
      {
        nameClaim: "preferred_username",
        groups: { admins: "admins", "*": "DEFAULT_GROUP" },
        account: { home_folder_path: HOME },
      },
      { groups: { admins: { permissions: [["allow-read"]] } } },
    );
    const [cookie = ""] = toCookies(await logIn());
    expect((await get("/home/a.txt", cookie)).text).toBe("ann's own");
    expect((await get("/home/", cookie)).status).toBe(403);
  });

  it("has the first of its groups, also if others have names of digits", async () => {
    provider.user = "u-4";
    const groups = { staff: { permissions: [["allow-read"]] }, blocked: { permissions: [[]] } } as const;
    const { logIn, get } = await create(
      {
        groups: [
          ["blocked", "blocked"],
          ["1000", "staff"],
        ],
        account: { home_folder_path: HOME },
      },
      { groups },
    );
    const [cookie = ""] = toCookies(await logIn());
    expect((await get("/home/a.txt", cookie)).status).toBe(403);
  });

  it("is what the function says, of any claim", async () => {
    const seen: unknown[] = [];
    const toAccount: OidcOptions["toAccount"] = (claims) => {
      seen.push(claims.iss, claims.groups);
      return { username: "ann", settings: { home_folder_path: "/users/ann" } };
    };
    const { logIn, get } = await create({ toAccount });
    const [cookie = ""] = toCookies(await logIn());
    expect((await get("/home/a.txt", cookie)).text).toBe("ann's own");
    expect(seen).toEqual([provider.issuer, ["staff", "admins"]]);
  });

  it.each<[string, string, Partial<OidcOptions>]>([
    ["without the claim of the name", "u-2", { nameClaim: "preferred_username" }],
    ["whose e-mail address the provider has not verified", "u-2", { nameClaim: "email" }],
    ["in none of the groups", "u-2", { groups: { staff: "DEFAULT_GROUP" } }],
    ["for whom the function returns nothing", "u-1", { toAccount: () => undefined }],
    ["with the name of another method's account", "u-3", { nameClaim: "preferred_username" }],
    ["with settings that are unknown", "u-1", { toAccount: () => ({ username: "a", settings: { group: "none" } }) }],
    ["with a name that no account can have", "u-1", { toAccount: () => ({ username: "a\n" }) }],
    ["without claims of the userinfo endpoint", "u-1", { nameClaim: "preferred_username", userInfo: false }],
  ])("does not exist for a user %s", async (_who, user, options) => {
    provider.user = user;
    const { logIn, events } = await create(options);
    expectPage(await logIn(), 403, "sign-on-without-account", "There is no account here");
    expect(events.filter(({ id }) => id === 40000)).toHaveLength(1);
  });

  it.each([false, true])(
    "does not share its name with a disabled account (mayShareNames %s)",
    async (mayShareNames) => {
      provider.user = "u-3";
      const accounts = [{ username: "alice", password: "secret", disabled: true }];
      const { logIn } = await create(
        { nameClaim: "preferred_username" },
        {
          authentication: [
            createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }),
            createOidcAuthenticator({
              issuer: provider.issuer,
              clientId: CLIENT_ID,
              clientSecret: CLIENT_SECRET,
              nameClaim: "preferred_username",
              mayShareNames,
            }),
          ],
        },
      );
      expect(toRefusal(await logIn())).toEqual([403, "sign-on-without-account"]);
    },
  );

  it("may share its name with another method's account if the option says so", async () => {
    provider.user = "u-3";
    const { logIn } = await create({ nameClaim: "preferred_username", mayShareNames: true });
    expect((await logIn()).status).toBe(200);
  });

  it("is refused as the function's HttpError says, and with a 500 if it fails", async () => {
    const refuse = (error: Error) => async () => Promise.reject(error);
    const denied = await create({ toAccount: refuse(new HttpError("denied", "Ask the help desk.")) });
    expectPage(await denied.logIn(), 403, "denied", "Ask the help desk.");
    const failed = await create({ toAccount: refuse(new Error("a bug")) });
    const answer = await failed.logIn();
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("a bug");
    for (const { events } of [denied, failed]) {
      const data = { reason: "failure", verdicts: [{ method: "oidc", outcome: "rejected", reason: "failure" }] };
      expect(events.filter(({ id }) => id === 40000)).toMatchObject([{ data }]);
    }
  });
});

describe("a login at another site by a method of the host", () => {
  it.each<[string, () => unknown]>([
    ["rejects", () => Promise.reject(new Error("a bug"))],
    [
      "throws",
      () => {
        throw new Error("a bug");
      },
    ],
  ])("is 500 with event 40000 if it %s", async (_what, finish) => {
    const events: FileEvent[] = [];
    const singleSignOn = { id: "saml", label: "SAML", start: async () => ({ location: "", sealed: "" }), finish };
    const method = { name: "saml", authenticate: async () => ({ outcome: "unknown" }), singleSignOn };
    const { call } = await createTestService({
      authentication: method as Authenticator,
      onEvent: (event) => void events.push(event),
    });
    const answer = await call("GET", "/__svc__/oidc/saml/callback", { as: null, variant: "html" });
    expect(answer.status).toBe(500);
    expect(events.filter(({ id }) => id === 40000)).toMatchObject([{ data: { reason: "failure" } }]);
  });
});

describe("a provider that fails", () => {
  it("is 503 with a text while it is down, and is asked again", async () => {
    const former = await startProvider(REDIRECT_URIS);
    const { issuer } = former;
    await former.close();
    const { start, visitAt, get, call, log } = await create({ issuer });
    const { answer } = await start();
    expectPage(answer, 503, "sign-on-unavailable", "is not available at the moment");
    expect(answer.header("retry-after")).toBe("1");
    expect(log.text()).toContain("ECONNREFUSED");
    const json = await call("GET", START, { as: null, variant: "json" });
    expect([json.status, json.header("error-code")]).toEqual([503, "sign-on-unavailable"]);
    const current = await startProvider(REDIRECT_URIS, Number(new URL(issuer).port));
    await vi.waitFor(async () => expect((await start()).answer.status).toBe(302), { timeout: 5000, interval: 200 });
    const { location, cookie } = await start();
    const callback = await visitAt(current, location);
    await current.close();
    expectPage(await get(callback, cookie), 503, "sign-on-unavailable", "is not available at the moment");
    // The configuration is known, so the browser gets to the provider.
    expect((await start()).answer.status).toBe(302);
  });

  it.each<[string, number, string, number]>([
    ["with no JSON", 200, "<html>", 502],
    ["with another issuer", 200, `{"issuer":"https://evil.example"}`, 502],
    ["with an error", 500, "stack trace", 503],
    ["with a redirect", 302, "", 502],
  ])("is %s no reason to crash", async (_what, status, body, expected) => {
    const headers = { "content-type": "application/json", location: "http://127.0.0.1:1/" };
    const server = createServer((_request, response) => void response.writeHead(status, headers).end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { start } = await create({ issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const { answer } = await start();
    expect(answer.status).toBe(expected);
    expect(answer.text).not.toContain("stack trace");
  });
});

describe("the options", () => {
  const RIGHT = { issuer: "https://id.example", clientId: "files", clientSecret: CLIENT_SECRET };

  it.each<[string, Record<string, unknown>]>([
    ["issuer", { issuer: "http://id.example" }],
    ["issuer", { issuer: "https://id.example/.well-known/openid-configuration" }],
    ["clientId", { clientId: "" }],
    ["cookieSecret", { clientSecret: "short" }],
    ["cookieSecret", { clientSecret: undefined }],
    ["scopes", { scopes: ["profile"] }],
    ["id", { id: "A" }],
    ["timeoutSeconds", { timeoutSeconds: 0 }],
    ["nameClaim", { nameClaim: "sub", toAccount: () => undefined }],
    ["account", { account: { unknown: true } }],
    ["groups", { groups: { staff: 1 } }],
    ["groups", { groups: [["staff"]] }],
    ["groups", { groups: null }],
    ["groups must be a list of pairs", { groups: { blocked: "none", 1000: "staff" } }],
    ["isuer", { isuer: "" }],
  ])("name a wrong %s", (name, wrong) => {
    expect(() => createOidcAuthenticator({ ...RIGHT, ...wrong } as OidcOptions)).toThrow(name);
  });

  it("are taken without a client secret, for a public client", () => {
    const { clientSecret: _, ...others } = RIGHT;
    expect(() => createOidcAuthenticator({ ...others, cookieSecret: "0123456789".repeat(4) })).not.toThrow();
  });

  it("need another id for each provider of a service", async () => {
    const one = createOidcAuthenticator(RIGHT);
    await expect(createTestService({ authentication: [one, one] })).rejects.toThrow("authentication");
  });
});
