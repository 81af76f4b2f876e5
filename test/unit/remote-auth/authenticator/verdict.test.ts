import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PERMISSION_VALUES } from "../../../../src/contracts/account.ts";
import { CREDENTIAL_TYPES } from "../../../../src/contracts/authenticator.ts";
import { startProcessorTime } from "../../../support/processor-time.ts";
import {
  type Answering,
  answerWith,
  createAsked,
  type Judged,
  type RemoteServer,
  serveRemote,
} from "../remote-server.ts";

let remote: RemoteServer;
beforeAll(async () => {
  remote = await serveRemote();
});
afterAll(() => remote.close());

/** What is made of an answer. */
async function judge(answer: Answering, type: (typeof CREDENTIAL_TYPES)[number] = "password"): Promise<Judged> {
  remote.answer = answer;
  return createAsked({ url: `${remote.url}?key=SECRET` }).ask({ type });
}

/** What is wrong with a 200, which is a failure whatever it is. */
async function problemsOf(answer: Answering): Promise<readonly string[]> {
  const { audit, ...verdict } = await judge(answer);
  expect(verdict).toEqual({ outcome: "rejected", reason: "failure" });
  expect(audit).toEqual({ url: remote.url, status: 200, problems: expect.any(Array) });
  return audit.problems ?? [];
}

const account = {
  home_folder_path: "/srv/home/alice",
  uuid: "5c1f4b8e-9d0b-4f5c-8a0f-2d4c9c0d1e2f",
  email: "alice@example.com, a@example.org",
  group: "95a1e0c2-1111-4222-8333-444455556666",
  create_home_folder: true,
  create_home_folder_owner: "alice",
  create_home_folder_group: "staff",
  home_folder_structure: ["reports/2018", "/in"],
  virtual_folders: [["/shared", "/srv/shared"]],
  permissions: [
    ["allow-read", "allow-list"],
    ["/in/*", "allow-full-control"],
  ],
};

describe.each(CREDENTIAL_TYPES)("createHttpAuthenticator, asked about a %s", (type) => {
  it("accepts it with the default group's configuration on 204 (7.2)", async () => {
    expect(await judge(answerWith(204), type)).toStrictEqual({
      outcome: "accepted",
      account: {},
      audit: { url: remote.url, status: 204 },
    });
  });

  it("accepts it on 200 without a body (7.2)", async () => {
    expect(await judge(answerWith(200), type)).toMatchObject({ outcome: "accepted", account: {} });
  });

  it("accepts it with the configuration of a 200 (2.4, 7.2)", async () => {
    expect(await judge(answerWith(200, JSON.stringify({ account })), type)).toStrictEqual({
      outcome: "accepted",
      account,
      audit: { url: remote.url, status: 200 },
    });
  });

  it("hands the credentials to the next method on 401, with its message (7.2)", async () => {
    expect(await judge(answerWith(401, "no such account"), type)).toStrictEqual({
      outcome: "unknown",
      message: "no such account",
      audit: { url: remote.url, status: 401 },
    });
  });

  it("rejects it on 403 (7.2)", async () => {
    expect(await judge(answerWith(403), type)).toStrictEqual({
      outcome: "rejected",
      reason: "credentials",
      audit: { url: remote.url, status: 403 },
    });
  });

  it.each([201, 202, 205, 206, 226, 299, 400, 402, 404, 405, 408, 409, 410, 418, 422, 429, 451, 500, 501, 505, 599])(
    "rejects it on %i, which is no word on the credentials (7.2)",
    async (status) => {
      expect(await judge(answerWith(status, status === 205 ? "" : "{}"), type)).toStrictEqual({
        outcome: "rejected",
        reason: "failure",
        audit: { url: remote.url, status, problems: [`the status ${status} is not part of the interface`] },
      });
    },
  );

  it.each([502, 503, 504])(
    "rejects it as unavailable on %i: the credentials were not verified (7.2)",
    async (status) => {
      expect(await judge(answerWith(status, "{}"), type)).toStrictEqual({
        outcome: "rejected",
        reason: "unavailable",
        audit: { url: remote.url, status, problems: [`responded ${status}: the credentials could not be verified`] },
      });
    },
  );

  it.each([300, 301, 302, 303, 304, 307, 308])("rejects it on %i and follows no redirect (7.2)", async (status) => {
    const before = remote.requests.length;
    expect(await judge(answerWith(status, "", { location: `${remote.origin}/elsewhere` }), type)).toStrictEqual({
      outcome: "rejected",
      reason: "failure",
      audit: { url: remote.url, status, problems: ["the response is a redirect, and redirects are not followed"] },
    });
    expect(remote.requests.slice(before).map(({ target }) => target)).toEqual(["/auth?key=SECRET"]);
  });
});

describe("createHttpAuthenticator, given a 204", () => {
  it("accepts any header fields about a body that a 204 cannot have (7.2)", async () => {
    const answer = answerWith(204, "", { "content-encoding": "gzip", "content-type": "text/html" });
    expect(await judge(answer)).toMatchObject({ outcome: "accepted", account: {} });
  });
});

describe("createHttpAuthenticator, given a redirect that the platform hides", () => {
  it("rejects it, as it does any redirect (7.2)", async () => {
    const url = "https://auth.example/check";
    // The filtered answer of a browser (Fetch, 2.2.6) looks like this one.
    expect(await createAsked({ url, fetch: async () => Response.error() }).ask()).toStrictEqual({
      outcome: "rejected",
      reason: "failure",
      audit: { url, status: 0, problems: ["the response is a redirect, and redirects are not followed"] },
    });
  });
});

describe("createHttpAuthenticator, given an answer that is valid", () => {
  it.each([
    ["a 200", answerWith(200, "{}")],
    ["a 204", answerWith(204)],
    ["a 401", answerWith(401, "no such account")],
    ["a 403", answerWith(403)],
    ["a 403 with text", answerWith(403, "locked")],
  ])("tells the log nothing of %s: who may not come in is no matter of the endpoint", async (_what, answer) => {
    remote.answer = answer;
    const asked = createAsked({ url: remote.url });
    await asked.ask();
    expect(asked.log.entries).toEqual([]);
  });
});

describe("createHttpAuthenticator, given a 200", () => {
  it.each(["{}", '{"account":{}}', ' {\n"account" : {} }\n'])("accepts %j (2.4)", async (body) => {
    const verdict = await judge(answerWith(200, body, { "content-type": "application/json" }));
    expect(verdict).toMatchObject({ outcome: "accepted", account: {} });
  });

  it.each(Object.entries(account))("accepts an account that has only %s (2.4)", async (member, value) => {
    const verdict = await judge(answerWith(200, JSON.stringify({ account: { [member]: value } })));
    expect(verdict).toMatchObject({ outcome: "accepted", account: { [member]: value } });
  });

  it.each(PERMISSION_VALUES)("accepts the permission %s, in general and for a path (2.4)", async (permission) => {
    const permissions = [[permission], ["m/^x/", permission]];
    expect(await judge(answerWith(200, JSON.stringify({ account: { permissions } })))).toMatchObject({
      account: { permissions },
    });
  });

  it.each([
    "application/json",
    "application/json; charset=utf-8",
    'APPLICATION/JSON;Charset="UTF-8"',
    "application/json ; charset=UTF-8; profile=x",
  ])("accepts the Content-Type %s (4.7)", async (type) => {
    const verdict = await judge(answerWith(200, JSON.stringify({ account }), { "content-type": type }));
    expect(verdict).toMatchObject({ outcome: "accepted", account });
  });

  it.each([
    undefined,
    "text/plain",
    "text/json",
    "text/html; charset=utf-8",
    "application/problem+json",
    "application/json, application/json",
    "application/json; charset=iso-8859-1",
    "application/json; charset",
    "application/json; charset=utf-8; charset=utf-16",
  ])("refuses the Content-Type %s (CONTRACT 9.1)", async (type) => {
    const answer = answerWith(200, Buffer.from("{}"), type === undefined ? {} : { "content-type": type });
    expect(await problemsOf(answer)).toEqual(["the Content-Type is not application/json in UTF-8"]);
  });

  const bytes = (body: Buffer): Answering => answerWith(200, body, { "content-type": "application/json" });
  it.each([
    ["invalid UTF-8", Buffer.from('{"account":{"email":"\xe9"}}', "latin1")],
    [
      "an overlong form",
      Buffer.concat([Buffer.from('{"account":{"email":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}}')]),
    ],
    [
      "a surrogate in UTF-8",
      Buffer.concat([Buffer.from('{"account":{"email":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}}')]),
    ],
    ["a byte order mark", Buffer.from("\ufeff{}")],
    ["UTF-16", Buffer.from("\ufeff{}", "utf16le")],
  ])("refuses %s (4.7)", async (_what, body) => {
    expect(await problemsOf(bytes(body))).toEqual(["the body is not in UTF-8, or begins with a byte order mark"]);
  });

  it.each(["\n", " ", "{", "{}x", "{}{}", "{'account':{}}", '{"account":{},}', "NaN", "\u0000", "OK", "[".repeat(100)])(
    "refuses what is not JSON: %.20j (CONTRACT 9.1)",
    async (body) => {
      expect(await problemsOf(bytes(Buffer.from(body)))).toEqual(["the body is not JSON"]);
    },
  );

  it.each([
    ["null", ["the body: expected object, received null"]],
    ["[]", ["the body: expected object, received array"]],
    ['"account"', ["the body: expected object, received string"]],
    ["204", ["the body: expected object, received number"]],
    ['{"account":null}', ["account: expected object, received null"]],
    ['{"account":[]}', ["account: expected object, received array"]],
    ['{"account":"alice"}', ["account: expected object, received string"]],
    ['{"Account":{}}', ["Account: unknown key"]],
    ['{"account":{},"foo":1,"bar":{}}', ["foo: unknown key", "bar: unknown key"]],
    ['{"home_folder_path":"/x"}', ["home_folder_path: unknown key"]],
    ['{"__proto__":{}}', ["__proto__: unknown key"]],
    ['{"__proto__":{"account":{}}}', ["__proto__: unknown key"]],
    ['{"account":{"__proto__":{"group":"x"}}}', ["__proto__: unknown key"]],
    [
      '{"account":{"constructor":{},"toString":1}}',
      ["account.constructor: unknown key", "account.toString: unknown key"],
    ],
    ['{"account":{"foo":1}}', ["account.foo: unknown key"]],
    ['{"account":{"Group":"x"}}', ["account.Group: unknown key"]],
    [`{"${"k".repeat(70)}":1}`, [`["${"k".repeat(64)}"]: unknown key`]],
    ['{"account":{"a.b c":1,"":1}}', ['account["a.b c"]: unknown key', 'account[""]: unknown key']],
    [
      '{"account":{"password":"SECRET","email":1}}',
      ["account.email: expected string, received number", "account.password: unknown key"],
    ],
  ])("refuses %s, and names each problem (2.4)", async (body, problems) => {
    expect(await problemsOf(answerWith(200, body, { "content-type": "application/json" }))).toEqual(problems);
  });

  const notText = [null, 1, true, {}, ["x"]];
  const notLists = [null, "x", 1, {}];
  const mistyped: Readonly<Record<string, readonly unknown[]>> = {
    home_folder_path: [...notText, "", "home", "./home", "~", "C:\\home", "/a/../b", "/a//b", "//a", "/a/", "/a\u0000"],
    uuid: [...notText, ""],
    email: notText,
    group: [...notText, ""],
    create_home_folder: [null, 0, 1, "true", "", [], {}],
    create_home_folder_owner: [...notText, ""],
    create_home_folder_group: [...notText, ""],
    home_folder_structure: [...notLists, [null], [1], [["x"]], [""], [".."], ["a/../b"], ["a//b"], ["a\\b"]],
    virtual_folders: [
      ...notLists,
      ["/a", "/b"],
      [[]],
      [["/a"]],
      [["/a", "/b", "/c"]],
      [["a", "/b"]],
      [["/a", "b"]],
      [["/", "/b"]],
      [["/a", null]],
      [["/a/..", "/b"]],
      [{ 0: "/a", 1: "/b" }],
    ],
    permissions: [
      ...notLists,
      ["allow-read"],
      [null],
      [[null]],
      [["allow-everything"]],
      [["Allow-Read"]],
      [["allow-read"], []],
      [["allow-read"], ["/x"]],
      [["allow-read"], ["/x", "allow-all"]],
      [["allow-read"], [1, "allow-read"]],
    ],
  };
  const rows = Object.entries(mistyped).flatMap(([member, values]) => values.map((value) => [member, value] as const));
  it.each(rows)("refuses an account whose %s is %j, and names the place (2.4)", async (member, value) => {
    const problems = await problemsOf(answerWith(200, JSON.stringify({ account: { uuid: "u", [member]: value } })));
    expect(problems).not.toEqual([]);
    expect(problems.filter((problem) => !problem.startsWith(`account.${member}`))).toEqual([]);
  });

  it("has a row for every member of an account (2.4)", () => {
    expect(Object.keys(mistyped)).toEqual(Object.keys(account));
  });

  it("names places, and never quotes a value (SECURITY 14)", async () => {
    const body = {
      account: { home_folder_path: "SECRET", permissions: [["SECRET"]], virtual_folders: [["SECRET", "SECRET"]] },
    };
    const problems = await problemsOf(answerWith(200, JSON.stringify(body)));
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain("SECRET");
    expect(problems).toContain("account.permissions[0][0]: is not a known permission");
  });

  it("names at most a hundred problems, and counts the others", async () => {
    const many = (length: number): Answering => {
      return answerWith(
        200,
        JSON.stringify(Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 1]))),
      );
    };
    const most = await problemsOf(many(100));
    expect([most.length, most.at(-1)]).toEqual([100, "k99: unknown key"]);
    const problems = await problemsOf(many(15_000));
    expect([problems.length, problems.at(-1)]).toEqual([101, "and 14900 more"]);
  });

  it("accepts as many values as accounts have, and refuses more before a schema takes time for them", async () => {
    const toBody = (count: number, value: string): string => {
      return JSON.stringify({ account: { home_folder_structure: Array.from({ length: count }, () => value) } });
    };
    expect((await judge(answerWith(200, toBody(19_000, "a")))).outcome).toBe("accepted");
    const elapsed = startProcessorTime();
    expect(await problemsOf(answerWith(200, toBody(340_000, "")))).toEqual(["the body has more than 20000 values"]);
    expect(elapsed()).toBeLessThan(1500);
  });

  it("takes 250 rules of permissions, and refuses more before they are compiled", async () => {
    const answer = (count: number, expression: string) => {
      const permissions = [["allow-read"], ...Array.from({ length: count }, () => [expression, "allow-write"])];
      return answerWith(200, JSON.stringify({ account: { permissions } }));
    };
    expect((await judge(answer(250, "/projects/*"))).outcome).toBe("accepted");
    expect(await problemsOf(answer(251, "/projects/*"))).toEqual([
      "account.permissions: must not have more than 250 rules",
    ]);
    expect((await judge(answer(16, "x".repeat(1024)))).outcome).toBe("accepted");
    expect(await problemsOf(answer(17, "x".repeat(1024)))).toEqual([
      "account.permissions: must not have expressions of more than 16384 characters in total",
    ]);
  });

  it("refuses an encoded body, which the request did not allow (SECURITY 23)", async () => {
    const encoded = (coding: string): Answering => {
      return answerWith(200, gzipSync("{}"), { "content-type": "application/json", "content-encoding": coding });
    };
    for (const coding of ["gzip", "GZIP", "identity, gzip", "x-unknown"]) {
      expect(await problemsOf(encoded(coding))).toEqual(["the body has a Content-Encoding, which was not requested"]);
    }
  });

  it("takes a body that says it is not encoded (RFC 9110 8.4.1)", async () => {
    const verdict = await judge(answerWith(200, JSON.stringify({ account }), { "content-encoding": "Identity" }));
    expect(verdict).toMatchObject({ outcome: "accepted", account });
  });

  it("flags an invalid answer in the log as an error (2.4)", async () => {
    remote.answer = answerWith(200, '{"account":{"foo":"VALUE"}}');
    const asked = createAsked({ url: `${remote.url}?key=SECRET`, password: "SECRET", username: "u" });
    await asked.ask({ content: "SECRET" });
    expect(asked.log.entries).toEqual([
      {
        level: "error",
        message: "The authentication endpoint sent an invalid response.",
        details: { url: remote.url, status: 200, problems: ["account.foo: unknown key"] },
      },
    ]);
  });
});

describe("createHttpAuthenticator, given a 503", () => {
  it("warns the log of an outage: the answer is no nonsense", async () => {
    remote.answer = answerWith(503, "", { "retry-after": "1" });
    const asked = createAsked({ url: `${remote.url}?key=SECRET` });
    await asked.ask({ content: "SECRET" });
    expect(asked.log.entries).toEqual([
      {
        level: "warn",
        message: "The authentication endpoint could not verify the credentials.",
        details: { url: remote.url, status: 503, problems: ["responded 503: the credentials could not be verified"] },
      },
    ]);
  });
});

describe("createHttpAuthenticator, given a 401", () => {
  it.each([
    ["without a body", answerWith(401), undefined],
    ["with blanks alone", answerWith(401, " \r\n"), undefined],
    ["with a line", answerWith(401, "no such account\n"), "no such account"],
    ["with UTF-8", answerWith(401, "unbekannt: Zoë 👩‍🚀"), "unbekannt: Zoë 👩‍🚀"],
    ["with JSON, which is text here", answerWith(401, '{"message":"x"}'), '{"message":"x"}'],
    ["with a long text, which is cut", answerWith(401, "é".repeat(1001)), "é".repeat(1000)],
    ["with a character that the cut would break", answerWith(401, `${"x".repeat(999)}👩`), "x".repeat(999)],
  ])("is unknown %s (7.2)", async (_what, answer, message) => {
    const audit = { url: remote.url, status: 401 };
    expect(await judge(answer)).toStrictEqual({ outcome: "unknown", ...(message !== undefined && { message }), audit });
  });

  it.each([
    ["in another encoding", answerWith(401, Buffer.from("\xe9", "latin1")), /not in UTF-8/],
    ["that is encoded", answerWith(401, gzipSync("x"), { "content-encoding": "gzip" }), /Content-Encoding/],
    ["that is too large", answerWith(401, Buffer.alloc(1024 * 1024 + 1, "x")), /larger than 1 MiB/],
  ])("is no answer with a body %s: it rejects as a failure (7.2, CONTRACT 9.1)", async (_what, answer, problem) => {
    const audit = { url: remote.url, status: 401, problems: [expect.stringMatching(problem)] };
    expect(await judge(answer)).toStrictEqual({ outcome: "rejected", reason: "failure", audit });
  });

  it("reports that the endpoint asks for credentials of its own: in every audit, and once in the log (5.2)", async () => {
    remote.answer = answerWith(401, "who are you?", { "www-authenticate": 'Basic realm="x"' });
    const asked = createAsked({ url: `${remote.url}?key=SECRET` });
    for (let round = 0; round < 2; round += 1) {
      expect(await asked.ask()).toEqual({
        outcome: "unknown",
        message: "who are you?",
        audit: { url: remote.url, status: 401, challenged: true },
      });
    }
    expect(asked.log.entries).toEqual([
      {
        level: "warn",
        message:
          "The authentication endpoint responded 401 with WWW-Authenticate: the options username, password or headers may be wrong, unless every 401 of the endpoint has this header.",
        details: { url: remote.url },
      },
    ]);
  });
});

describe("createHttpAuthenticator, given another answer with WWW-Authenticate", () => {
  it.each([204, 403, 500])("thinks nothing of it in a %i", async (status) => {
    remote.answer = answerWith(status, "", { "www-authenticate": "Basic" });
    const asked = createAsked({ url: remote.url });
    expect((await asked.ask()).audit).not.toHaveProperty("challenged");
    expect(asked.log.text()).not.toContain("WWW-Authenticate");
  });

  it("reports it also for a 401 that cannot be read", async () => {
    const answer = answerWith(401, Buffer.from([0xff]), { "www-authenticate": "Basic" });
    expect(await judge(answer)).toMatchObject({ reason: "failure", audit: { challenged: true } });
  });
});

describe("createHttpAuthenticator, given a 403", () => {
  const rejected = { outcome: "rejected", reason: "credentials" };
  const json = (body: unknown): Answering =>
    answerWith(403, JSON.stringify(body), { "content-type": "application/json" });

  it("shows users the message and public_response of JSON, and only the operator code and extra (2.5)", async () => {
    const body = {
      code: -17.5,
      message: "Locked until Monday",
      extra: { by: ["ops"] },
      public_response: { until: { day: 1 } },
    };
    expect(await judge(json(body))).toStrictEqual({
      ...rejected,
      message: "Locked until Monday",
      publicResponse: { until: { day: 1 } },
      audit: { url: remote.url, status: 403, code: -17.5, extra: { by: ["ops"] } },
    });
  });

  it.each([
    [{}, {}, {}],
    [{ message: "" }, {}, {}],
    [{ message: " \r\n" }, {}, {}],
    [{ message: "Zoë 👩‍🚀" }, { message: "Zoë 👩‍🚀" }, {}],
    [{ code: 0 }, {}, { code: 0 }],
    [{ extra: null }, {}, { extra: null }],
    [{ extra: "text" }, {}, { extra: "text" }],
    [{ public_response: {} }, { publicResponse: {} }, {}],
  ])("takes the JSON %j (2.5)", async (body, shown, kept) => {
    expect(await judge(json(body))).toStrictEqual({
      ...rejected,
      ...shown,
      audit: { url: remote.url, status: 403, ...kept },
    });
  });

  it.each([
    ["in a character of one unit", "é".repeat(1001), "é".repeat(1000)],
    ["or not, with half a character in it", "a\ud800b", "a\ufffdb"],
    ["in a character that it would break", `${"x".repeat(999)}👩`, "x".repeat(999)],
  ])("cuts the message of JSON to 1,000 characters, %s (2.5)", async (_where, message, shown) => {
    expect(await judge(json({ message }))).toStrictEqual({
      ...rejected,
      message: shown,
      audit: { url: remote.url, status: 403 },
    });
  });

  it.each([
    ["text/plain", "locked\n", "locked"],
    ["text/plain; charset=utf-8", '{"message":"x"}', '{"message":"x"}'],
    ["text/html", "<p>Forbidden</p>", "<p>Forbidden</p>"],
    ["application/problem+json", '{"message":"x"}', '{"message":"x"}'],
    ["application/json; charset=utf-16", '{"message":"x"}', '{"message":"x"}'],
    ["", '{"message":"x"}', '{"message":"x"}'],
    ["text/plain", "é".repeat(5000), "é".repeat(1000)],
  ])(
    "keeps the text of a %s for the operator: users see that of JSON alone (7.2, CONTRACT 9.4)",
    async (type, body, message) => {
      const answer = answerWith(403, Buffer.from(body), type === "" ? {} : { "content-type": type });
      expect(await judge(answer)).toStrictEqual({ ...rejected, audit: { url: remote.url, status: 403, message } });
    },
  );

  it.each([
    ["null", "the body: expected object, received null"],
    ["[]", "the body: expected object, received array"],
    ['"reason"', "the body: expected object, received string"],
    ["{", "the body is not JSON"],
    ["nonsense", "the body is not JSON"],
    ['{"message":"M","Code":1}', "Code: unknown key"],
    ['{"message":"M","code":"1"}', "code: expected number, received string"],
    ['{"message":"M","code":null}', "code: expected number, received null"],
    ['{"message":"M","code":1e999}', "code: expected number, received Infinity"],
    ['{"message":null}', "message: expected string, received null"],
    ['{"message":{"en":"M"}}', "message: expected string, received object"],
    ['{"message":"M","public_response":"x"}', "public_response: expected record, received string"],
    ['{"message":"M","public_response":[]}', "public_response: expected record, received array"],
    ['{"message":"M","public_response":null}', "public_response: expected record, received null"],
    ['{"message":"M","public_response":{"__proto__":{"a":1}}}', "__proto__: unknown key"],
    ['{"message":"M","public_response":{"a":[{"__proto__":1}]}}', "__proto__: unknown key"],
    ['{"message":"M","extra":{"__proto__":1}}', "__proto__: unknown key"],
    ['{"message":"M","__proto__":{}}', "__proto__: unknown key"],
    [`{"extra":${"[".repeat(100)}${"]".repeat(100)}}`, "the body is nested deeper than 100 levels"],
    ["[".repeat(100_000), "the body is nested deeper than 100 levels"],
    [
      `{"public_response":${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
      "the body is nested deeper than 100 levels",
    ],
  ])("rejects all the same on the invalid JSON %.60s, without a message (2.5)", async (body, problem) => {
    const answer = answerWith(403, body, { "content-type": "application/json" });
    expect(await judge(answer)).toStrictEqual({
      ...rejected,
      audit: { url: remote.url, status: 403, problems: [problem] },
    });
  });

  it("takes an empty body of any type for none (2.5)", async () => {
    const answer = answerWith(403, "", { "content-type": "application/json" });
    expect(await judge(answer)).toStrictEqual({ ...rejected, audit: { url: remote.url, status: 403 } });
  });

  it("takes free-form JSON that is nested as people nest it (2.5)", async () => {
    const extra = JSON.parse(`${"[".repeat(98)}${"]".repeat(98)}`);
    expect((await judge(json({ extra }))).audit).toEqual({ url: remote.url, status: 403, extra });
  });

  it.each([
    [
      "invalid UTF-8 as JSON",
      answerWith(403, Buffer.from('{"message":"\xe9"}', "latin1"), { "content-type": "application/json" }),
      /UTF-8/,
    ],
    ["invalid UTF-8 as text", answerWith(403, Buffer.from("\xe9", "latin1")), /UTF-8/],
    [
      "a byte order mark",
      answerWith(403, '\ufeff{"message":"M"}', { "content-type": "application/json" }),
      /byte order mark/,
    ],
    [
      "an encoded body",
      answerWith(403, gzipSync('{"message":"M"}'), { "content-type": "application/json", "content-encoding": "gzip" }),
      /Content-Encoding/,
    ],
    ["a body over 1 MiB", answerWith(403, JSON.stringify({ message: "M".repeat(1024 * 1024) })), /larger than 1 MiB/],
  ])("rejects all the same on %s (2.5)", async (_what, answer, problem) => {
    const audit = { url: remote.url, status: 403, problems: [expect.stringMatching(problem)] };
    expect(await judge(answer)).toStrictEqual({ ...rejected, audit });
  });
});
