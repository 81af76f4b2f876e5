import { describe, expect, it, vi } from "vitest";
import { OptionError } from "../../../src/contracts/option-error.ts";
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
    const extra = ["x", null, { toString: 1 }];
    const reason = { code: 7, message: "Locked.", extra, public_response: { until: { day: 3 } } };
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

  it("is sent up to 1 MiB: one byte more is a blank 500", async () => {
    const most = await answering((_request, { unknown }) => unknown("x".repeat(1_048_576)));
    expect([most.status, most.text.length]).toEqual([401, 1_048_576]);
    const more = await answering((_request, { unknown }) => unknown("x".repeat(1_048_577)));
    expect([more.status, more.text]).toEqual([500, ""]);
    expect(more.logger.entries).toMatchObject([{ details: { problems: ["more than 1048576 bytes"] } }]);
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
  /** A row as some libraries of databases give it. */
  class AccountRow {
    get permissions() {
      return [["allow-list"]];
    }
  }

  const NOT_WRITABLE = "cannot be written as JSON in UTF-8: use only plain objects, lists and values";
  const RELATIVE =
    'account.home_folder_path: must be an absolute path without "//", a trailing "/", ".", "..", a backslash or control characters';

  it.each<[string, Authenticate, string]>([
    ["an unknown member", (_, { accept }) => accept({ quota: "s3cret" } as object), "account.quota: unknown key"],
    [
      "a member of another type",
      (_, { accept }) => accept({ email: 5 } as object),
      "account.email: expected string, received number",
    ],
    [
      "a member that is null",
      (_, { accept }) => accept({ uuid: null } as object),
      "account.uuid: expected string, received null",
    ],
    ["a relative home", (_, { accept }) => accept({ home_folder_path: "s3cret" }), RELATIVE],
    [
      "an unknown permission",
      (_, { accept }) => accept({ permissions: [["s3cret"]] }),
      "account.permissions[0][0]: is not a known permission",
    ],
    ["an account that is null", (_, { accept }) => accept(null as never), "account: expected object, received null"],
    [
      "an account that is text",
      (_, { accept }) => accept("s3cret" as never),
      "account: expected object, received string",
    ],
    ["a prototype as a member", (_, { accept }) => accept(JSON.parse('{"__proto__":{}}')), "__proto__: unknown key"],
    ["half a character", (_, { accept }) => accept({ email: "s3cret\ud800" }), NOT_WRITABLE],
    ["a message of another type", (_, { unknown }) => unknown({} as never), "message"],
    [
      "a code that is no number",
      (_, { reject }) => reject({ code: "s3cret" as never }),
      "code: expected number, received string",
    ],
    [
      "a code that is not finite",
      (_, { reject }) => reject({ code: Number.NaN }),
      "code: expected number, received null",
    ],
    [
      "a public response that is a list",
      (_, { reject }) => reject({ public_response: [] as never }),
      "public_response: expected record, received array",
    ],
    [
      "a rejection with an unknown member",
      (_, { reject }) => reject({ reason: "s3cret" } as object),
      "reason: unknown key",
    ],
    [
      "a rejection that is text",
      (_, { reject }) => reject("s3cret" as never),
      "the body: expected object, received string",
    ],
    [
      "a deep nesting",
      (_, { reject }) => reject({ extra: JSON.parse("[".repeat(200) + "]".repeat(200)) }),
      "the body is nested deeper than 100 levels",
    ],
    ["an account that was not waited for", (_, { accept }) => accept(Promise.resolve({}) as object), NOT_WRITABLE],
    ["an account of a class", (_, { accept }) => accept(new AccountRow() as object), NOT_WRITABLE],
    ["an account that inherits", (_, { accept }) => accept(Object.create({ permissions: [] }) as object), NOT_WRITABLE],
    ["a list of another class", (_, { accept }) => accept({ permissions: new Set() as never }), NOT_WRITABLE],
    ["an account that was not asked for", (_, { accept }) => accept((() => ({})) as object), NOT_WRITABLE],
    ["a member that JSON leaves out", (_, { accept }) => accept({ email: Symbol("x") as never }), NOT_WRITABLE],
    ["a cycle", (_, { reject }) => reject({ extra: cyclic }), NOT_WRITABLE],
    ["a bigint", (_, { reject }) => reject({ extra: 1n }), NOT_WRITABLE],
    ["too much", (_, { reject }) => reject({ extra: "s3cret".repeat(200_000) }), "more than 1048576 bytes"],
  ])(
    "is a blank 500, and the log names the member but no value: %s (2.4, 2.5)",
    async (_case, authenticate, problem) => {
      const { status, text, logger } = await answering(authenticate);
      expect([status, text]).toEqual([500, ""]);
      const message = "An authentication endpoint returned a result that does not follow the interface.";
      expect(logger.entries).toEqual([{ level: "error", message, details: { problems: [problem] } }]);
    },
  );

  it.each([
    ["nothing", undefined],
    ["true", true],
    ["an object that looks like one", { status: 204 }],
    ["a response", new Response(null, { status: 204 })],
  ])("is not made by hand: %s is a blank 500", async (_case, value) => {
    const { status, text, logger } = await answering(() => value as never);
    expect([status, text]).toEqual([500, ""]);
    const message = "An authentication endpoint did not return a result of accept, unknown or reject.";
    expect(logger.entries).toEqual([{ level: "error", message, details: {} }]);
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
      expect(logger.entries).toMatchObject([
        {
          message: "An authentication endpoint could not verify the credentials.",
          details: { error: { message: "The directory is down.", causes: [{ message: "no route" }] } },
        },
      ]);
    },
  );

  it.each<[string, () => unknown]>([
    ["as it is", () => new Error(`bind failed for ${SECRET}`)],
    ["within JSON", () => new Error(`sent ${JSON.stringify({ password: SECRET })}`)],
    ["within a URL", () => new Error(`GET /?p=${encodeURIComponent(SECRET)}`)],
    ["in a cause", () => new Error("down", { cause: new Error(SECRET) })],
    ["in one of several", () => new AggregateError([new Error("x"), new Error(SECRET)], "all down")],
    ["in a member of its own", () => Object.assign(new Error("down"), { config: { data: SECRET } })],
    ["in its name", () => Object.assign(new Error("down"), { name: SECRET })],
    ["in its code", () => Object.assign(new Error("down"), { code: SECRET })],
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
    ["within a longer text of JSON", JSON.stringify({ bind: `alice:${blanks}.` })],
    ["within a URL", `/?p=${encodeURIComponent(blanks)}`],
    ["within a URL, lightly encoded", encodeURI(`/?p=${blanks}`)],
    ["within a form, its blanks as +", new URLSearchParams({ password: blanks, a: "1" }).toString()],
    ["as a form writes it, alone", "alice, ab%3Fcd%7E+e%22%2Ff%2B%C3%A9"],
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
      { details: { error: { name: "Error", message: "withheld because it contains the credentials" } } },
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
    const { status, text, headers } = await ask(never, { method });
    expect([status, text, headers.get("allow")]).toEqual([405, "Only POST is allowed.", "POST"]);
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    "application/jsonp",
    "",
  ])("is 415 for the content type %j (4.7)", async (type) => {
    const { status, text } = await ask(never, { headers: { "Content-Type": type } });
    expect([status, text]).toEqual([415, "The content must be application/json in UTF-8."]);
  });

  it("is 415 for encoded content, and none that says it is not encoded (RFC 9110 8.4.1)", async () => {
    const encoded = (coding: string) => ({ headers: { ...JSON_TYPE, "Content-Encoding": coding } });
    expect((await ask(never, encoded("gzip"))).status).toBe(415);
    expect((await ask({}, encoded("Identity"))).status).toBe(204);
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
    ["the body", null],
    ["the body", []],
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
    expect([status, text]).toEqual([400, `Missing or invalid: ${path}.`]);
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
      const response = await answer;
      expect([response.status, await response.text()]).toEqual([408, "The request took too long."]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("leaves no timer when it has arrived: a process could not end for 30 s", async () => {
    vi.useFakeTimers();
    try {
      expect([(await ask({})).status, vi.getTimerCount()]).toEqual([204, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is 400 when its body breaks off", async () => {
    const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("cut")) });
    expect((await ask(never, { body: cut })).status).toBe(400);
  });

  it("is a blank 500, and told the log, when somebody before the endpoint has read its body", async () => {
    const logger = createRecordingLogger();
    const endpoint = createAuthenticationEndpoint({ authenticate: () => expect.fail("no"), logger });
    const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify(BODY) };
    const request = new Request("http://localhost/auth", init);
    await request.text();
    const response = await endpoint(request);
    expect([response.status, await response.text()]).toEqual([500, ""]);
    expect(logger.entries).toMatchObject([
      {
        level: "error",
        message: "An authentication request could not be read.",
        details: { error: expect.any(Error) },
      },
    ]);
    expect(logger.text()).toContain("mount the service before body parsers");
    expect(logger.text()).not.toContain(SECRET);
  });

  it.each([
    ["header fields", { method: "POST" }],
    ["body", { method: "POST", headers: new Headers(JSON_TYPE) }],
  ])("does not make it reject, whatever it is: an object without %s", async (_what, request) => {
    const logger = createRecordingLogger();
    const endpoint = createAuthenticationEndpoint({ authenticate: () => expect.fail("no"), logger });
    const response = await endpoint(request as Request);
    expect([response.status, await response.text()]).toEqual([500, ""]);
    const message = "An authentication request could not be read.";
    expect(logger.entries).toEqual([{ level: "error", message, details: { error: expect.any(TypeError) } }]);
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
    ["a value of one character", { authorize: { header: "X-Api-Key", value: "~" } }, "x-api-key", "~"],
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
    ["nothing, where the value is a word that stands for it", { authorize: { header: "X-Key", value: "null" } }, {}],
    ["an empty value", custom, { "X-Api-Key": "" }],
    ["the value twice", custom, { "X-Api-Key": "abc, abc" }],
  ])("is refused for %s with 401 and a challenge, the body unread", async (_case, options, headers) => {
    const unread = new ReadableStream({ pull: () => expect.fail("It was read.") }, { highWaterMark: 0 });
    const answer = await ask(
      { ...options, authenticate: () => expect.fail("It was asked.") },
      { headers, body: unread },
    );
    expect([answer.status, answer.text]).toEqual([401, "The service is not authorized."]);
    expect(answer.headers.get("www-authenticate")).toMatch(/^(?:Basic|token|Header) realm="[^"]+"/);
  });

  it("is challenged by its scheme, which gives away no secret", async () => {
    const challenge = async (options: Partial<AuthenticationEndpointOptions>) =>
      (await ask(options)).headers.get("www-authenticate")?.split(" ")[0];
    expect(await challenge(basic)).toBe("Basic");
    expect(await challenge(token)).toBe("token");
    expect(await challenge(custom)).toBe("Header");
  });

  it.each([
    ["Authorization", "secret"],
    ["Authorization", "correct horse battery staple"],
    ["Authorization", "two  blanks"],
    ["Authorization", 's3:cret "abc"'],
    ["Authorization", 'Digest username="a", key=b'],
    ["X-Api-Key", "two words"],
  ])("is challenged by no word of a value that is not a scheme and one token: %s: %s", async (header, value) => {
    const { headers } = await ask({ authorize: { header, value } });
    expect(headers.get("www-authenticate")).toBe('Header realm="authentication requests"');
  });
});

describe("createAuthenticationEndpoint", () => {
  const authenticate: Authenticate = (_request, { accept }) => accept();

  const MEANS = "authorize must be an object with username and password, or with header and value, and no more";
  const USERNAME = "authorize.username must be a text without a colon, not empty";
  const PASSWORD = "authorize.password must be a text, not empty";
  const HEADER = "authorize.header must be the name of a header";
  const VALUE = "authorize.value must be printable ASCII, not empty, trimmed";
  const LOGGER = "logger must be a logger with info, warn and error";
  it.each<[string, unknown]>([
    ["authenticate must be a function", {}],
    ["authorise must be left out: it is not a known option", { authenticate, authorise: {} }],
    [MEANS, { authenticate, authorize: undefined }],
    [MEANS, { authenticate, authorize: null }],
    [MEANS, { authenticate, authorize: { username: "a", password: "b", header: "c" } }],
    [USERNAME, { authenticate, authorize: { username: "a:b", password: "c" } }],
    [USERNAME, { authenticate, authorize: { username: "", password: "c" } }],
    [PASSWORD, { authenticate, authorize: { username: "a", password: "" } }],
    [PASSWORD, { authenticate, authorize: { username: "a", password: undefined } }],
    [HEADER, { authenticate, authorize: { header: "a b", value: "c" } }],
    [HEADER, { authenticate, authorize: { header: 5, value: "c" } }],
    [VALUE, { authenticate, authorize: { header: "a", value: "" } }],
    [VALUE, { authenticate, authorize: { header: "a", value: "c\n" } }],
    [VALUE, { authenticate, authorize: { header: "a", value: " c" } }],
    [VALUE, { authenticate, authorize: { header: "a", value: undefined } }],
    [LOGGER, { authenticate, logger: {} }],
    [LOGGER, { authenticate, logger: null }],
  ])("throws an OptionError: the option %s", (text, options) => {
    const create = () => createAuthenticationEndpoint(options as AuthenticationEndpointOptions);
    expect(create).toThrow(OptionError);
    expect(create).toThrow(`The option ${text}.`);
  });

  it.each([undefined, null])("needs options, which %s is not", (options) => {
    const create = () => createAuthenticationEndpoint(options as unknown as AuthenticationEndpointOptions);
    expect(create).toThrow(new TypeError("createAuthenticationEndpoint needs options."));
  });
});
