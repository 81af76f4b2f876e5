import { describe, expect, it, vi } from "vitest";
import { type AuthenticationEndpointOptions, createAuthenticationEndpoint } from "../../../src/remote-auth/endpoint.ts";
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.ts";

type Authenticate = AuthenticationEndpointOptions["authenticate"];

const SECRET = 'pa"ss\\wörd/1';
const CREDENTIALS = {
  type: "password",
  username: "alice",
  content: SECRET,
  peer: { address: "2001:db8::1", port: 40_000, family: "IPv6", protocol: "TCP" },
  creator: { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "https" },
};
const BODY = { credentials: CREDENTIALS, server: { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" } };
const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };

interface Asked {
  readonly body?: BodyInit | null;
  readonly headers?: Record<string, string>;
  readonly method?: string;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  readonly logger: RecordingLogger;
}

/** One request to an endpoint of its own. */
async function ask(
  options: Partial<AuthenticationEndpointOptions>,
  { body = JSON.stringify(BODY), headers = JSON_TYPE, method = "POST" }: Asked = {},
): Promise<Answer> {
  const logger = createRecordingLogger();
  const endpoint = createAuthenticationEndpoint({
    authenticate: (_request, { accept }) => accept(),
    logger,
    ...options,
  });
  const init = { method, headers, ...(method === "GET" || method === "HEAD" ? {} : { body, duplex: "half" }) };
  const response = await endpoint(new Request("http://localhost/auth", init));
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const text = await response.text();
  const length = response.status === 204 ? null : String(new TextEncoder().encode(text).byteLength);
  expect(response.headers.get("content-length")).toBe(length);
  return { status: response.status, text, headers: response.headers, logger };
}

function answering(authenticate: Authenticate): Promise<Answer> {
  return ask({ authenticate });
}

describe("an outcome of an authentication endpoint", () => {
  it("is 204 for an account that leaves all to its group (7.2)", async () => {
    const { status, text } = await answering((_request, { accept }) => accept());
    expect([status, text]).toEqual([204, ""]);
  });

  it("is 200 and the account's settings as JSON in UTF-8 (2.4)", async () => {
    const account = { home_folder_path: "/hôme/alice", permissions: [["allow-read"], ["*.csv", "allow-write"]] };
    const { status, text, headers } = await answering((_request, { accept }) => accept(account));
    expect([status, JSON.parse(text)]).toEqual([200, { account }]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it.each([
    ["with a message", "keine Ahnung: ☹", "keine Ahnung: ☹"],
    ["without one", undefined, ""],
    ["with half a character in it", "\ud83d", "\ufffd"],
  ])("is 401 as text in UTF-8 and has no challenge for an unknown account, %s (7.2)", async (_case, message, text) => {
    const answer = await answering(async (_request, { unknown }) => unknown(message));
    expect([answer.status, answer.text]).toEqual([401, text]);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(answer.headers.has("www-authenticate")).toBe(false);
  });

  it("is 403 and JSON with what a rejection says (2.5)", async () => {
    const reason = { code: 7, message: "Locked.", extra: ["x", null], public_response: { until: { day: 3 } } };
    const { status, text, headers } = await answering((_request, { reject }) => reject(reason));
    expect([status, JSON.parse(text)]).toEqual([403, reason]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it.each([
    ["nothing", undefined],
    ["no member", {}],
    ["members without values", { message: undefined }],
  ])("is an empty 403 for a rejection that says nothing: %s (2.5)", async (_case, reason) => {
    const { status, text, headers } = await answering((_request, { reject }) => reject(reason as object));
    expect([status, text, headers.has("content-type")]).toEqual([403, "", false]);
  });

  it("is judged from the request, with its types and without members that it does not know (2.3)", async () => {
    let seen: unknown;
    const body = JSON.stringify({ ...BODY, later: 1, __proto__: null, credentials: { ...CREDENTIALS, more: [] } });
    const { status } = await ask(
      {
        authenticate(request, { accept }) {
          seen = request;
          return accept();
        },
      },
      { body },
    );
    expect([status, seen]).toEqual([204, BODY]);
  });
});

describe("an outcome that breaks the interface", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  it.each<[string, Authenticate, string]>([
    ["an unknown member", (_, { accept }) => accept({ quota: "s3cret" } as object), "account.quota"],
    ["a member of another type", (_, { accept }) => accept({ email: 5 } as object), "account.email"],
    ["a member that is null", (_, { accept }) => accept({ uuid: null } as object), "account.uuid"],
    ["a relative home", (_, { accept }) => accept({ home_folder_path: "s3cret" }), "account.home_folder_path"],
    ["an unknown permission", (_, { accept }) => accept({ permissions: [["s3cret"]] }), "account.permissions[0][0]"],
    ["an account that is null", (_, { accept }) => accept(null as never), "account"],
    ["an account that is text", (_, { accept }) => accept("s3cret" as never), "account"],
    ["a prototype as a member", (_, { accept }) => accept(JSON.parse('{"__proto__":{}}')), "__proto__: unknown key"],
    ["half a character", (_, { accept }) => accept({ email: "s3cret\ud800" }), "JSON"],
    ["a message of another type", (_, { unknown }) => unknown({} as never), "message"],
    ["a code that is no number", (_, { reject }) => reject({ code: "s3cret" as never }), "code"],
    ["a code that is not finite", (_, { reject }) => reject({ code: Number.NaN }), "code"],
    [
      "a public response that is a list",
      (_, { reject }) => reject({ public_response: [] as never }),
      "public_response",
    ],
    ["a rejection with an unknown member", (_, { reject }) => reject({ reason: "s3cret" } as object), "reason"],
    ["a rejection that is text", (_, { reject }) => reject("s3cret" as never), "the body"],
    ["a deep nesting", (_, { reject }) => reject({ extra: JSON.parse("[".repeat(200) + "]".repeat(200)) }), "nested"],
    ["a cycle", (_, { reject }) => reject({ extra: cyclic }), "JSON"],
    ["a bigint", (_, { reject }) => reject({ extra: 1n }), "JSON"],
    ["too much", (_, { reject }) => reject({ extra: "s3cret".repeat(200_000) }), "1048576 bytes"],
  ])("is a blank 500, and the log names the member but no value: %s (2.4, 2.5)", async (_case, authenticate, named) => {
    const { status, text, logger } = await answering(authenticate);
    expect([status, text]).toEqual([500, ""]);
    expect(logger.entries).toHaveLength(1);
    expect(logger.text()).toContain(named);
    expect(logger.text()).not.toContain("s3cret");
  });

  it.each([
    ["nothing", undefined],
    ["true", true],
    ["an object that looks like one", { status: 204 }],
    ["a response", new Response(null, { status: 204 })],
  ])("is not made by hand: %s is a blank 500", async (_case, value) => {
    const { status, text, logger } = await answering(() => value as never);
    expect([status, text, logger.entries.length]).toEqual([500, "", 1]);
  });

  it("is not another endpoint's", async () => {
    let foreign: unknown;
    await answering((_request, { accept }) => {
      foreign = accept();
      return foreign as never;
    });
    expect((await answering(() => foreign as never)).status).toBe(500);
  });
});

describe("an authentication endpoint whose judge fails", () => {
  it.each<[string, (error: Error) => never | Promise<never>]>([
    [
      "throws",
      (error) => {
        throw error;
      },
    ],
    ["rejects", (error) => Promise.reject(error)],
  ])(
    "answers a blank 503, which the service counts as nobody's failed login, where it %s (7.2)",
    async (_how, fail) => {
      const { status, text, headers, logger } = await answering(() =>
        fail(new Error("The directory is down.", { cause: new TypeError("no route") })),
      );
      expect([status, text, headers.get("retry-after")]).toEqual([503, "", "1"]);
      expect(logger.text()).toMatch(/The directory is down\.[\s\S]*no route/);
    },
  );

  it.each<[string, () => unknown]>([
    ["as it is", () => new Error(`bind failed for ${SECRET}`)],
    ["within JSON", () => new Error(`sent ${JSON.stringify({ password: SECRET })}`)],
    ["within a URL", () => new Error(`GET /?p=${encodeURIComponent(SECRET)}`)],
    ["in a cause", () => new Error("down", { cause: new Error(SECRET) })],
    ["in one of several", () => new AggregateError([new Error("x"), new Error(SECRET)], "all down")],
    ["in a member of its own", () => Object.assign(new Error("down"), { config: { data: SECRET } })],
    ["in the stack alone", () => Object.assign(new Error("down"), { stack: `at ${SECRET}` })],
    ["as a text that is thrown", () => SECRET],
    ["in a member of an object", () => ({ password: SECRET })],
  ])("withholds an error that holds the secret, %s", async (_case, makeError) => {
    const { status, logger } = await answering(async () => Promise.reject(makeError()));
    expect([status, logger.entries.length]).toEqual([503, 1]);
    expect(logger.text().replaceAll("\\\\", "\\")).not.toMatch(/w(?:ö|%C3%B6)rd/);
  });

  const blanks = 'ab?cd~ e"/f+é';
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const base64url = (text: string): string => Buffer.from(text).toString("base64url");
  it.each([
    ["as it is", blanks],
    ["within JSON", JSON.stringify({ password: blanks })],
    ["within a URL", `/?p=${encodeURIComponent(blanks)}`],
    ["within a URL, lightly encoded", encodeURI(`/?p=${blanks}`)],
    ["within a form, its blanks as +", new URLSearchParams({ password: blanks, a: "1" }).toString()],
    ["in Base64", base64(blanks)],
    ["in Base64 without padding", base64(blanks).replace(/=+$/, "")],
    ["in Base64 for URLs", base64url(blanks)],
    ["as HTTP Basic", `Authorization: Basic ${base64(`${CREDENTIALS.username}:${blanks}`)}`],
    ["as HTTP Basic without padding", base64(`${CREDENTIALS.username}:${blanks}`).replace(/=+$/, "")],
  ])("recognises the secret %s, and withholds the error", async (_form, told) => {
    expect(base64(blanks)).toMatch(/[+/].*=$/);
    const credentials = { ...CREDENTIALS, content: blanks };
    const fail = (): never => {
      throw new Error(`sent: ${told}`);
    };
    const { logger } = await ask({ authenticate: fail }, { body: JSON.stringify({ ...BODY, credentials }) });
    expect(logger.entries).toMatchObject([
      { details: { error: { name: "Error", message: "withheld, as it holds the credentials" } } },
    ]);
    expect(logger.text()).not.toContain(told);
  });

  it.each([
    ["nothing", () => undefined],
    ["null", () => null],
    ["an object that cannot be read", () => new Proxy({}, { get: () => expect.fail("no") })],
  ])("stays calm when %s is thrown", async (_case, makeError) => {
    const { status, logger } = await answering(() => {
      throw makeError();
    });
    expect([status, logger.entries.length]).toEqual([503, 1]);
  });

  it("answers also when the log fails", async () => {
    const fail = (): never => {
      throw new Error("disk full");
    };
    const { status } = await ask({ authenticate: fail, logger: { info: fail, warn: fail, error: fail } });
    expect(status).toBe(503);
  });
});

describe("a request that is none", () => {
  const never: Partial<AuthenticationEndpointOptions> = { authenticate: () => expect.fail("It was asked.") };

  it.each(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])("is 405 for %s (4.7)", async (method) => {
    const { status, headers } = await ask(never, { method });
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/jsonp",
    "",
  ])("is 415 for the content type %j (4.7)", async (type) => {
    expect((await ask(never, { headers: { "Content-Type": type } })).status).toBe(415);
  });

  it("is 415 for encoded content", async () => {
    expect((await ask(never, { headers: { ...JSON_TYPE, "Content-Encoding": "gzip" } })).status).toBe(415);
  });

  it.each(["application/json", "Application/JSON;charset=UTF-8", 'application/json; charset="utf-8"; x=y'])(
    "is not one with the content type %j",
    async (type) => {
      expect((await ask({}, { headers: { "Content-Type": type } })).status).toBe(204);
    },
  );

  it("is 413 above 256 KiB, counted while reading", async () => {
    // One letter of the body takes two bytes.
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    expect((await ask(never, { body: endless })).status).toBe(413);
    expect(sent).toBeLessThan(1_000_000);
    expect((await ask({}, { body: JSON.stringify(BODY).padEnd(262_143) })).status).toBe(204);
    expect((await ask(never, { body: JSON.stringify(BODY).padEnd(262_144) })).status).toBe(413);
  });

  it.each([
    ["no JSON", "{"],
    ["nothing", ""],
    ["no UTF-8", new Uint8Array([0x22, 0xff, 0x22])],
    ["a deep nesting", "[".repeat(200_000)],
  ])("is 400 for %s", async (_case, body) => {
    expect((await ask(never, { body: body as BodyInit })).status).toBe(400);
  });

  it.each<[string, unknown]>([
    ["the whole", null],
    ["the whole", []],
    ["credentials, server", {}],
    ["credentials, server", JSON.parse(`{"__proto__":${JSON.stringify(BODY)}}`)],
    ["credentials.type", { ...BODY, credentials: { ...CREDENTIALS, type: "token" } }],
    ["credentials.username", { ...BODY, credentials: { ...CREDENTIALS, username: 5 } }],
    ["credentials.username", { ...BODY, credentials: { ...CREDENTIALS, username: "\ud800" } }],
    ["credentials.username", { ...BODY, credentials: { ...CREDENTIALS, username: "" } }],
    ["credentials.content", { ...BODY, credentials: { ...CREDENTIALS, content: "" } }],
    ["credentials.content", { ...BODY, credentials: { ...CREDENTIALS, content: undefined } }],
    ["credentials.content", { ...BODY, credentials: { ...CREDENTIALS, content: `${SECRET}\udc00` } }],
    ["credentials.peer.port", { ...BODY, credentials: { ...CREDENTIALS, peer: { ...CREDENTIALS.peer, port: 1.5 } } }],
    ["server.uuid", { ...BODY, server: { uuid: SECRET } }],
  ])("is 400 and names %s, but no value, where that is missing or wrong (2.3)", async (path, body) => {
    const { status, text, logger } = await ask(never, { body: JSON.stringify(body) });
    expect([status, text]).toEqual([400, `Missing or not valid: ${path}.`]);
    expect(logger.entries).toEqual([]);
  });

  it("is 408 when it has not come within 30 s", async () => {
    vi.useFakeTimers();
    try {
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) });
      const init = { method: "POST", headers: { "content-type": "application/json" }, body, duplex: "half" };
      const answer = createAuthenticationEndpoint({ authenticate: (_request, { accept }) => accept() })(
        new Request("http://auth.example/", init as RequestInit),
      );
      await vi.advanceTimersByTimeAsync(30_000);
      expect((await answer).status).toBe(408);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is 400 when its body breaks off", async () => {
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) });
    expect((await ask(never, { body: cut })).status).toBe(400);
  });

  it("does not make it reject, whatever it is", async () => {
    const logger = createRecordingLogger();
    const endpoint = createAuthenticationEndpoint({ authenticate: () => expect.fail("no"), logger });
    expect((await endpoint({ method: "POST" } as Request)).status).toBe(500);
    expect(logger.entries).toHaveLength(1);
  });
});

describe("the authorization of the service (5.2)", () => {
  const basic = { authorize: { username: "svc", password: "kéy:1" } };
  const token = { authorize: { header: "Authorization", value: "token abc" } };
  const custom = { authorize: { header: "X-Api-Key", value: "abc" } };
  const basicOf = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;

  it.each([
    ["Basic credentials", basic, "Authorization", basicOf("svc:kéy:1")],
    ["Basic in lower case", basic, "authorization", basicOf("svc:kéy:1").replace("Basic", "basic")],
    ["a token", token, "authorization", "token abc"],
    ["a header of its own", custom, "x-api-key", "abc"],
  ])("is %s", async (_case, options, name, value) => {
    expect((await ask(options, { headers: { ...JSON_TYPE, [name]: value } })).status).toBe(204);
  });

  it.each([
    ["nothing", basic, {}],
    ["a wrong password", basic, { Authorization: basicOf("svc:kéy:2") }],
    ["the start of the password", basic, { Authorization: basicOf("svc:kéy") }],
    ["another name", basic, { Authorization: basicOf("svd:kéy:1") }],
    ["another scheme", basic, { Authorization: "token abc" }],
    ["no base64", basic, { Authorization: "Basic ***" }],
    ["nothing", token, {}],
    ["the token alone", token, { Authorization: "abc" }],
    ["a longer token", token, { Authorization: "token abcd" }],
    ["nothing", custom, {}],
    ["an empty value", custom, { "X-Api-Key": "" }],
    ["the value twice", custom, { "X-Api-Key": "abc, abc" }],
  ])("is refused for %s with 401 and a challenge, the body unread", async (_case, options, headers) => {
    const unread = new ReadableStream({ pull: () => expect.fail("It was read.") }, { highWaterMark: 0 });
    const answer = await ask(
      { ...options, authenticate: () => expect.fail("It was asked.") },
      { headers, body: unread },
    );
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^(?:Basic|token|Header) realm="[^"]+"/);
  });

  it("is challenged by its scheme, which gives away no secret", async () => {
    const challenge = async (options: Partial<AuthenticationEndpointOptions>) =>
      (await ask(options)).headers.get("www-authenticate")?.split(" ")[0];
    expect(await challenge(basic)).toBe("Basic");
    expect(await challenge(token)).toBe("token");
    expect(await challenge(custom)).toBe("Header");
  });

  it.each(["secret", "correct horse battery staple", "two  blanks", 's3:cret "abc"', 'Digest username="a", key=b'])(
    "is challenged by no word of a value that is not a scheme and one token: %s",
    async (value) => {
      const { headers } = await ask({ authorize: { header: "Authorization", value } });
      expect(headers.get("www-authenticate")).toBe('Header realm="authentication requests"');
    },
  );
});

describe("createAuthenticationEndpoint", () => {
  const authenticate: Authenticate = (_request, { accept }) => accept();

  it.each<[string, unknown]>([
    ["options", undefined],
    ["authenticate", {}],
    ["authorise", { authenticate, authorise: {} }],
    ["authorize", { authenticate, authorize: undefined }],
    ["authorize", { authenticate, authorize: { username: "a", password: "b", header: "c" } }],
    ["authorize.username", { authenticate, authorize: { username: "a:b", password: "c" } }],
    ["authorize.username", { authenticate, authorize: { username: "", password: "c" } }],
    ["authorize.password", { authenticate, authorize: { username: "a", password: "" } }],
    ["authorize.password", { authenticate, authorize: { username: "a", password: undefined } }],
    ["authorize.header", { authenticate, authorize: { header: "a b", value: "c" } }],
    ["authorize.value", { authenticate, authorize: { header: "a", value: "" } }],
    ["authorize.value", { authenticate, authorize: { header: "a", value: "c\n" } }],
    ["authorize.value", { authenticate, authorize: { header: "a", value: undefined } }],
    ["logger", { authenticate, logger: {} }],
  ])("throws a TypeError that names %s", (name, options) => {
    const create = () => createAuthenticationEndpoint(options as AuthenticationEndpointOptions);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
  });
});
