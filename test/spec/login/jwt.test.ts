import { exportSPKI } from "jose";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createJwtIdentifier, type JwtIdentifierOptions } from "../../../src/auth/jwt.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import {
  AUDIENCE,
  createSigningKey,
  ISSUER,
  inSeconds,
  type KeyServer,
  type SigningKey,
  signToken,
  startKeyServer,
  type TokenParts,
  toKeySet,
} from "../../support/jwt.ts";
import { type Answer, createTestService, type TestServiceOptions } from "../../support/service.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const INVALID = ['Bearer error="invalid_token"', "token-invalid", 401];

let ec: SigningKey;
let rsa: SigningKey;
let other: SigningKey;
let jwks: Awaited<ReturnType<typeof toKeySet>>;

beforeAll(async () => {
  [ec, rsa, other] = await Promise.all([
    createSigningKey("ec"),
    createSigningKey("rsa", "RS256"),
    createSigningKey("other"),
  ]);
  jwks = await toKeySet(ec, rsa);
});

afterEach(() => void vi.useRealTimers());

async function create(identifier: Partial<JwtIdentifierOptions> = {}, options: TestServiceOptions = {}) {
  const keys = identifier.key === undefined ? { jwks } : {};
  const { call, log } = await createTestService({
    files: { "/users/ann/a.txt": "ann's" },
    identify: createJwtIdentifier({
      issuer: ISSUER,
      audience: AUDIENCE,
      algorithms: ["ES256", "RS256"],
      toAccount: ({ sub = "" }) => ({ username: sub, settings: { home_folder_path: `/users/${sub}` } }),
      ...keys,
      ...identifier,
    }),
    identifiedBy: "header",
    ...options,
  });
  const get = (authorization?: string): Promise<Answer> =>
    call("GET", "/home/a.txt", { as: null, variant: "json", headers: authorization ? { authorization } : {} });
  return { call, log, get, getBy: (token: string) => get(`Bearer ${token}`) };
}

/** The challenge of a response that has only this one besides those of the service, the error code, and the status. */
function toRefusal(answer: Answer): readonly unknown[] {
  const challenge = (answer.header("www-authenticate") ?? "").replace(/^basic realm="[^"]*", session, /, "");
  return [challenge, answer.header("error-code"), answer.status];
}

describe("a request with a token in `Authorization: Bearer`", () => {
  it("is of the account that the claims name, by ES256, RS256 or HS256", async () => {
    const { getBy, get } = await create();
    expect((await getBy(await signToken(ec))).text).toBe("ann's");
    expect((await getBy(await signToken(rsa))).text).toBe("ann's");
    expect((await get(`bearer   ${await signToken(ec)}`)).text).toBe("ann's");
    const byKey = await create({ key: rsa.keys.publicKey, algorithms: ["RS256"] });
    expect((await byKey.getBy(await signToken(rsa))).text).toBe("ann's");
    const byJwk = await create({ key: jwks.keys[0] ?? {}, algorithms: ["ES256"] });
    expect((await byJwk.getBy(await signToken(ec))).text).toBe("ann's");
    const bySecret = await create({ key: SECRET, algorithms: ["HS256"] });
    const key = new TextEncoder().encode(SECRET);
    expect((await bySecret.getBy(await signToken(ec, { header: { alg: "HS256" }, key }))).text).toBe("ann's");
  });

  it("may change files although it comes from another site, for no browser sends the header by itself", async () => {
    const { call } = await create();
    const headers = { authorization: `Bearer ${await signToken(ec)}`, origin: "https://other.example" };
    expect((await call("PUT", "/home/x", { as: null, headers, body: "x" })).status).toBe(201);
  });

  it.each<[string, TokenParts]>([
    ["of another issuer", { claims: { iss: "https://evil.example" } }],
    ["without an issuer", { claims: { iss: undefined } }],
    ["for another service", { claims: { aud: "mail" } }],
    ["without an audience", { claims: { aud: undefined } }],
    ["without an end", { claims: { exp: undefined } }],
    ["that has expired for more than a minute", { claims: { exp: inSeconds(-90) } }],
    ["that is not valid for more than a minute", { claims: { nbf: inSeconds(300) } }],
    ["of an unknown key", { header: { kid: "unknown" } }],
  ])("is refused with a token %s", async (_what, parts) => {
    const { getBy, log } = await create();
    const answer = await getBy(await signToken(ec, parts));
    expect(toRefusal(answer)).toEqual(INVALID);
    expect(answer.json()).toEqual({
      errors: [{ message: "The token is invalid or has expired.", title: "Unauthorized" }],
    });
    expect(log.entries).toEqual([]);
  });

  it("accepts a token that expired within the last minute, for clocks differ", async () => {
    const { getBy } = await create();
    expect((await getBy(await signToken(ec, { claims: { exp: inSeconds(-30) } }))).status).toBe(200);
  });

  it("is refused if the public key was used as the secret of HS256", async () => {
    const key = new TextEncoder().encode(await exportSPKI(rsa.keys.publicKey));
    const token = await signToken(rsa, { header: { alg: "HS256" }, key });
    const byKey = await create({ key: rsa.keys.publicKey, algorithms: ["RS256"] });
    for (const { getBy } of [await create(), byKey]) expect(toRefusal(await getBy(token))).toEqual(INVALID);
  });

  it("is refused if its key does not fit the algorithm that the token chooses", async () => {
    const { getBy } = await create({ key: rsa.keys.publicKey });
    expect(toRefusal(await getBy(await signToken(ec)))).toEqual(INVALID);
  });

  it.each<[string, object]>([
    ["another key's signature", { alg: "ES256", kid: "ec" }],
    ["no algorithm", { alg: "none" }],
    ["unencoded content", { alg: "ES256", kid: "ec", crit: ["b64"], b64: false }],
    ["an unknown extension", { alg: "ES256", kid: "ec", crit: ["x"], x: 1 }],
  ])("is refused if its token has %s, or no signature at all", async (_what, header) => {
    const { getBy } = await create();
    expect(toRefusal(await getBy(await withHeader(header)))).toEqual(INVALID);
    expect(toRefusal(await getBy((await withHeader(header)).replace(/[^.]*$/, "")))).toEqual(INVALID);
  });

  it("never takes the keys that the token itself names", async () => {
    const server = await startKeyServer(await toKeySet(other));
    try {
      const { getBy } = await create();
      const [jwk = {}] = (await toKeySet(other)).keys;
      const header = { kid: "ec", jku: server.url, x5u: server.url, jwk };
      expect(toRefusal(await getBy(await signToken(other, { header })))).toEqual(INVALID);
      expect(server.asked()).toBe(0);
    } finally {
      await server.stop();
    }
  });

  it.each([
    "Bearer",
    "Bearer ",
    "Bearer a.b",
    "Bearer a.b.c",
    "Bearer a b",
    "Bearer ä.b.c",
    `Bearer ${"a".repeat(100_000)}`,
    `Bearer a.${"a".repeat(50_000)}.${"a".repeat(50_000)}`,
  ])("is refused with a malformed one: %.20s", async (authorization) => {
    const { get } = await create();
    expect(toRefusal(await get(authorization))).toEqual(INVALID);
  });

  it("is refused with two headers, even if both tokens are valid", async () => {
    const { get } = await create();
    const token = await signToken(ec);
    // What the Fetch API makes of two headers.
    expect(toRefusal(await get(`Bearer ${token}, Bearer ${token}`))).toEqual(INVALID);
  });

  it("is refused if the claims belong to no account", async () => {
    const { getBy } = await create({ toAccount: () => undefined });
    expect(toRefusal(await getBy(await signToken(ec)))).toEqual([INVALID[0], "token-without-account", 401]);
  });

  it("gets the error that `toAccount` throws, and a blank 500 for others", async () => {
    const denied = await create({ toAccount: () => Promise.reject(new HttpError("denied", "Not yet.")) });
    expect((await denied.getBy(await signToken(ec))).status).toBe(403);
    const failing = await create({ toAccount: () => Promise.reject(new Error("the database is away")) });
    const answer = await failing.getBy(await signToken(ec));
    expect([answer.status, answer.text.includes("database")]).toEqual([500, false]);
    expect(failing.log.text()).toContain("the database is away");
  });
});

describe("a request without a token", () => {
  it("is left to the other logins", async () => {
    const { call, get } = await create();
    expect((await call("GET", "/home/", { as: "alice", variant: "json" })).status).toBe(200);
    expect((await get("Digest x")).header("error-code")).toBe("authorization-invalid");
  });

  it("is told of tokens in the challenges of each 401, beside those of the service", async () => {
    const { get, call } = await create();
    const bearer = 'Bearer realm="Web files access"';
    const basic = 'basic realm="Web files access"';
    expect((await get()).header("www-authenticate")).toBe(`${basic}, session, ${bearer}`);
    const script = { "sec-fetch-mode": "cors" };
    const byScript = await call("GET", "/home/", { as: null, variant: "json", headers: script });
    expect(byScript.header("www-authenticate")).toBe(`session, ${bearer}`);
    const login = { "content-type": "application/json" };
    const body = '{"username":"alice","password":"wrong"}';
    const refused = await call("POST", "/__svc__/login", { as: null, variant: "json", headers: login, body });
    expect(refused.header("www-authenticate")).toBe(`${basic}, session, ${bearer}`);
  });

  it("finds the scheme in the OpenAPI document", async () => {
    const { call } = await create();
    const document = (await call("GET", "/__svc__/openapi.json", { as: null, variant: "json" })).json<{
      components: { securitySchemes: object };
      paths: Record<string, { get?: { security: object[] } }>;
    }>();
    expect(document.components.securitySchemes).toMatchObject({ identity: { type: "http", scheme: "bearer" } });
    const [home] = Object.entries(document.paths).filter(([path]) => path.startsWith("/home/"));
    expect(home?.[1].get?.security).toContainEqual({ identity: [] });
  });
});

describe("the endpoint of the issuer's keys", () => {
  const UNAVAILABLE = ["", "token-keys-unavailable", 503];
  let server: KeyServer;

  const createRemote = async () => {
    server = await startKeyServer(jwks);
    return create({ jwks: server.url });
  };

  afterEach(() => server.stop());

  it("is asked once for many tokens, and again for the key of a later one", async () => {
    const { getBy } = await createRemote();
    vi.useFakeTimers({ toFake: ["Date"] });
    const token = await signToken(ec);
    const answers = await Promise.all([getBy(token), getBy(token), getBy(token)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(server.asked()).toBe(1);
    server.respond(200, JSON.stringify(await toKeySet(other)));
    expect(toRefusal(await getBy(await signToken(other)))).toEqual(INVALID);
    expect(server.asked()).toBe(1);
    vi.advanceTimersByTime(31_000);
    expect((await getBy(await signToken(other))).status).toBe(200);
    expect(toRefusal(await getBy(await signToken(ec)))).toEqual(INVALID);
    expect(server.asked()).toBe(2);
  });

  it.each([
    ["an error", 500, "{}"],
    ["a redirect", 302, ""],
    ["no JSON", 200, "<p>Maintenance</p>"],
    ["JSON without keys", 200, '{"keys":"none"}'],
    ["more than 1 MiB", 200, `{"keys":[],"x":"${"x".repeat(1_048_576)}"}`],
  ])("that answers %s is 503, with the reason in the log, until it is right again", async (_what, status, body) => {
    const { getBy, log } = await createRemote();
    vi.useFakeTimers({ toFake: ["Date"] });
    server.respond(status, body);
    const answer = await getBy(await signToken(ec));
    expect(toRefusal(answer)).toEqual(UNAVAILABLE);
    expect(answer.header("retry-after")).toBe("1");
    expect(answer.text).not.toContain("127.0.0.1");
    expect(log.entries).toMatchObject([{ level: "error", message: "A request failed." }]);
    expect(log.text()).toContain("JSON Web Key Set");
    expect(toRefusal(await getBy(await signToken(ec)))).toEqual(UNAVAILABLE);
    expect(server.asked()).toBe(1);
    server.respond(200, JSON.stringify(jwks));
    vi.advanceTimersByTime(1000);
    expect((await getBy(await signToken(ec))).status).toBe(200);
  });

  it("that is away is 503, and keys that are known still count", async () => {
    const { getBy, log } = await createRemote();
    vi.useFakeTimers({ toFake: ["Date"] });
    expect((await getBy(await signToken(ec))).status).toBe(200);
    await server.stop();
    vi.advanceTimersByTime(31_000);
    expect((await getBy(await signToken(ec))).status).toBe(200);
    expect(toRefusal(await getBy(await signToken(other)))).toEqual(UNAVAILABLE);
    expect((await getBy(await signToken(ec))).status).toBe(200);
    expect(log.text()).toContain("ECONNREFUSED");
  });

  it("is not asked for tokens that are malformed or of another algorithm", async () => {
    const { get, getBy } = await createRemote();
    await get("Bearer x");
    await getBy(await withHeader({ alg: "none" }));
    await getBy(await withHeader({ alg: "PS256" }));
    expect(server.asked()).toBe(0);
  });
});

/** A token of ann with any header, whose signature is another's. */
async function withHeader(header: object): Promise<string> {
  const [, payload, signature] = (await signToken(other)).split(".");
  return `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`;
}
