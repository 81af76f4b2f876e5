import { randomUUID } from "node:crypto";
import type { RequestListener, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { checkAuthEndpoint } from "../../src/cli/commands/check-auth-endpoint.ts";
import { createAuthenticationEndpoint } from "../../src/remote-auth/endpoint.ts";
import { type EndpointCaseContext, isPlayable } from "../../src/testing/endpoint/case.ts";
import { endpointCases } from "../../src/testing/endpoint-cases.ts";
import {
  ACCOUNT,
  answer,
  createHandwrittenEndpoint,
  type EndpointServer,
  type Login,
  type Steps,
  serveEndpoint,
  toListener,
} from "../support/endpoint-server.ts";
import { createRecordingLogger } from "../support/logger.ts";

const TOKEN = "token s3cret-of-the-service";
const BASIC = { username: "svc", password: "s3cret:of-the-service" };
const logger = createRecordingLogger();

const ours = (
  authorize?: { username: string; password: string } | { header: string; value: string },
): RequestListener =>
  toListener(
    createAuthenticationEndpoint({
      authenticate({ credentials: { type, username, content } }, { accept, unknown, reject }) {
        if (username !== ACCOUNT.username) return unknown("Not one of ours.");
        const isRight = type === "password" && content === ACCOUNT.password;
        return isRight ? accept({ home_folder_path: "/home/alice" }) : reject({ code: 1, message: "Wrong." });
      },
      logger,
      ...(authorize === undefined ? {} : { authorize }),
    }),
  );

let calls = 0;
let current: Login | undefined;

/** Locks a client out after 10 refusals, whatever it sends then. */
function createThrottling(): RequestListener {
  const refusals = new Map<string, number>();
  return createHandwrittenEndpoint({
    isRight: (login) => (refusals.get(login.peer?.address ?? "") ?? 0) < 10 && isRight(login),
    refuse(res, { username, peer: { address } = { address: "", family: "" } }) {
      refusals.set(address, (refusals.get(address) ?? 0) + 1);
      answer(res, username === ACCOUNT.username ? 403 : 401);
    },
  });
}

const isToken: Steps["isAuthorized"] = ({ headers }) => headers.authorization === TOKEN;

const HONEST: readonly [string, RequestListener, Partial<EndpointCaseContext>][] = [
  ["made by createAuthenticationEndpoint", ours(), {}],
  ["that wants HTTP Basic of the service", ours(BASIC), BASIC],
  ["that wants a header of the service", ours({ header: "X-Api-Key", value: "k" }), { headers: { "X-Api-Key": "k" } }],
  ["written by hand", createHandwrittenEndpoint(), {}],
  ["that wants a token", createHandwrittenEndpoint({ isAuthorized: isToken }), { headers: { Authorization: TOKEN } }],
  [
    "that answers 403 to unknown accounts, and 204 to known ones",
    createHandwrittenEndpoint({
      accept: (res) => answer(res, 204),
      refuse: (res) => answer(res, 403, "text/plain", "no"),
    }),
    {},
  ],
  [
    "that has a challenge in every 401 (RFC 9110 15.5.2)",
    createHandwrittenEndpoint({
      refuse: (res, { username }) => (username === ACCOUNT.username ? answer(res, 403) : challenge(res)),
    }),
    {},
  ],
  ["whose secret is a dash", ours({ header: "X-Api-Key", value: "-" }), { headers: { "X-Api-Key": "-" } }],
  [
    "that wants a token of digits, and gets more",
    createHandwrittenEndpoint({ isAuthorized: ({ headers }) => headers.authorization === "TOKEN 123" }),
    { headers: { Authorization: "TOKEN 123", "X-Trace": "on" } },
  ],
  [
    "that takes the scheme of the authorization in any case",
    createHandwrittenEndpoint({
      isAuthorized: ({ headers }) => /^[Tt][Oo][Kk][Ee][Nn] S3cret$/.test(headers.authorization ?? ""),
    }),
    { headers: { Authorization: "token S3cret" } },
  ],
  ["that refuses a client after 10 refusals", createThrottling(), {}],
  [
    "that describes an account in any order",
    createHandwrittenEndpoint({
      accept: (res) => {
        const members = Object.entries({ email: "a@b.c", group: "g" });
        const account = Object.fromEntries(++calls % 2 ? members : members.reverse());
        answer(res, 200, "application/json", JSON.stringify({ account }));
      },
    }),
    {},
  ],
  [
    "that asks a database in the meantime",
    createHandwrittenEndpoint({ isRight: async (login) => delay(5, isRight(login)) }),
    {},
  ],
];

describe.each(HONEST)("an authentication endpoint %s", (_name, listener, given) => {
  let server: EndpointServer;
  beforeAll(async () => {
    server = await serveEndpoint(listener);
  });
  afterAll(() => server.stop());

  for (const each of endpointCases) {
    const known = { url: "", account: ACCOUNT, ...given };
    const blind = { url: "", ...given };
    if (isPlayable(each, known)) it(each.name, () => each.run({ ...known, url: server.url }));
    if (isPlayable(each, blind))
      it(`${each.name} (no account is known)`, () => each.run({ ...blind, url: server.url }));
  }
});

const VITAL = "sends a complete response within the time limit";
const REDIRECT = "does not redirect";
const LIMITS = "sends at most 1 MiB, without a Content-Encoding";
const SERVICE = "authorizes the service";
const REFUSALS = "sends UTF-8 text with 401, and nothing, UTF-8 text, or JSON of the interface with 403";
const RIGHT = "accepts the right password with 204, or with 200 and a valid account";
const WRONG = "does not accept a wrong password";
const UNKNOWN = "responds 401 or 403 to an unknown account:";
const TYPE = "does not accept the password as a credential of the type";
const NOBODYS = "does not accept an unknown key or certificate for a known account:";
const FALSE_AUTHORIZATION = "rejects requests with a wrong authorization of the service";
const ODD = "handles names and passwords with any characters";

/** Refuses as RFC 9110 15.5.2 has it. */
function challenge(res: ServerResponse): void {
  res.writeHead(401, { "WWW-Authenticate": 'Basic realm="accounts"' }).end();
}

interface Broken {
  readonly steps: Partial<Steps> | RequestListener;
  /** The case that is there to find it, and what it says. */
  readonly foundBy: string;
  readonly says: RegExp;
  readonly context?: Partial<Omit<EndpointCaseContext, "account">> & { readonly account?: undefined };
}

/** Accepts with this as the account, or with this text. */
function describing(account: unknown, type = "application/json"): Partial<Steps> {
  return { accept: (res) => answer(res, 200, type, JSON.stringify({ account })) };
}

/** Refuses in this way. */
function refusing(refuse: Steps["refuse"]): Partial<Steps> {
  return { refuse };
}

function isRight({ type, username, content }: Login): boolean {
  return type === "password" && username === ACCOUNT.username && content === ACCOUNT.password;
}

/** Takes for right what comes to the same. */
function comparing(prepare: (text: string) => string): (login: Login) => boolean {
  return ({ content, ...login }) =>
    isRight({ ...login, content: prepare(content) === prepare(ACCOUNT.password) ? ACCOUNT.password : "" });
}

function isKey(text: string): boolean {
  return /^ssh-ed25519 [A-Za-z0-9+/]{60,}/.test(text);
}

function isPem(text: string): boolean {
  return text.startsWith("-----BEGIN CERTIFICATE-----");
}

function isBasicInAnyCase(authorization = ""): boolean {
  return atob(authorization.slice(6)).toLowerCase() === `${BASIC.username}:${BASIC.password}`;
}

/** Loosely typed: what comparisons and templates make of anything. */
function parseLoosely(body: string): Login | undefined {
  try {
    const { type, username, content } = JSON.parse(body).credentials;
    return { type: String(type), username: String(username), content: String(content) };
  } catch {
    return undefined;
  }
}

/** Whether it takes one more bracket to make JSON of it. */
function isOpen(body: string): boolean {
  return body.split("{").length === body.split("}").length + 1;
}

function gzip(res: ServerResponse, status: number): void {
  res.writeHead(status, { "Content-Type": "text/plain", "Content-Encoding": "gzip" }).end(gzipSync("no"));
}

const BROKEN: Readonly<Record<string, Broken>> = {
  "accepts anybody": {
    steps: { isRight: () => true },
    foundBy: `${UNKNOWN} password`,
    says: /accepts unknown accounts/,
  },
  "accepts any key": {
    steps: { isRight: (login) => login.type === "ssh-key" || isRight(login) },
    foundBy: `${UNKNOWN} ssh-key`,
    says: /accepts unknown accounts/,
  },
  "accepts any certificate": {
    steps: { isRight: (login) => login.type === "ssl-certificate" || isRight(login) },
    foundBy: `${UNKNOWN} ssl-certificate`,
    says: /accepts unknown accounts/,
  },
  "answers 500 to unknown accounts": {
    steps: refusing((res) => answer(res, 500)),
    foundBy: `${UNKNOWN} password`,
    says: /the response is 500/,
  },
  "answers 404 to unknown accounts": {
    steps: refusing((res) => answer(res, 404)),
    foundBy: `${UNKNOWN} password`,
    says: /the response is 404/,
  },
  "answers 500 to keys": {
    steps: refusing((res, { type }) => answer(res, type === "ssh-key" ? 500 : 401)),
    foundBy: `${UNKNOWN} ssh-key`,
    says: /the response is 500/,
  },
  "has an unknown key in the account": {
    steps: describing({ quota: 5 }),
    foundBy: RIGHT,
    says: /account\.quota: unknown key/,
  },
  "has a key of the account in upper case": {
    steps: describing({ Email: "a@b" }),
    foundBy: RIGHT,
    says: /account\.Email: unknown key/,
  },
  "has a member of another type": { steps: describing({ email: 5 }), foundBy: RIGHT, says: /account\.email: / },
  "has a member that is null": { steps: describing({ uuid: null }), foundBy: RIGHT, says: /account\.uuid: / },
  "has a relative home": {
    steps: describing({ home_folder_path: "alice" }),
    foundBy: RIGHT,
    says: /account\.home_folder_path: .*absolute/,
  },
  "has two problems": {
    steps: describing({ a: 1, group: "" }),
    foundBy: RIGHT,
    says: /account\.group.*account\.a|account\.a.*account\.group/,
  },
  "calls its JSON text/html": { steps: describing({}, "text/html"), foundBy: RIGHT, says: /Content-Type/ },
  "writes Latin-1": {
    steps: { accept: (res) => answer(res, 200, "application/json", Buffer.from('{"account":{"uuid":"ä"}}', "latin1")) },
    foundBy: RIGHT,
    says: /UTF-8/,
  },
  "breaks its JSON off": {
    steps: { accept: (res) => answer(res, 200, "application/json", '{"account":{') },
    foundBy: RIGHT,
    says: /not JSON/,
  },
  "answers 201": { steps: { accept: (res) => answer(res, 201) }, foundBy: RIGHT, says: /only 200 and 204/ },
  "rejects everybody": {
    steps: { isRight: () => false },
    foundBy: RIGHT,
    says: /response to the right password is 403/,
  },
  "describes another account each time": {
    steps: { accept: (res) => answer(res, 200, "application/json", `{"account":{"uuid":"${randomUUID()}"}}`) },
    foundBy: "returns the same account each time",
    says: /bodies differ/,
  },
  "says no in Latin-1": {
    steps: refusing((res) => answer(res, 401, "text/plain", Buffer.from("ungültig", "latin1"))),
    foundBy: REFUSALS,
    says: /UTF-8/,
  },
  "has an unknown key in a rejection": {
    steps: refusing((res) => answer(res, 403, "application/json", '{"error":"no"}')),
    foundBy: REFUSALS,
    says: /error: unknown key/,
  },
  "has a code that is text in a rejection": {
    steps: refusing((res) => answer(res, 403, "application/json", '{"code":"5"}')),
    foundBy: REFUSALS,
    says: /code: /,
  },
  "redirects to a login page": {
    steps: refusing((res) => res.writeHead(302, { Location: "/login" }).end()),
    foundBy: REDIRECT,
    says: /the response is 302/,
  },
  "redirects those who got in": {
    steps: { accept: (res) => res.writeHead(303, { Location: "/welcome" }).end() },
    foundBy: REDIRECT,
    says: /the response is 303/,
  },
  "wants other credentials": {
    steps: { accept: challenge, refuse: challenge },
    foundBy: SERVICE,
    says: /the response to the right password is 401 with WWW-Authenticate/,
  },
  "compresses always": { steps: refusing((res) => gzip(res, 401)), foundBy: LIMITS, says: /Content-Encoding/ },
  "compresses the account": {
    steps: { accept: (res) => gzip(res, 200) },
    foundBy: LIMITS,
    says: /Content-Encoding/,
  },
  "sends more than 1 MiB": {
    steps: refusing((res) => answer(res, 401, "text/plain", "x".repeat(1024 * 1024 + 1))),
    foundBy: LIMITS,
    says: /1 MiB/,
  },
  "is too slow": {
    steps: { isRight: async () => delay(60_000, false, { ref: false }) },
    foundBy: VITAL,
    says: /timed out after 0\.3 s/,
    context: { timeoutSeconds: 0.3 },
  },
  "never ends its content": {
    steps: refusing((res) => void res.writeHead(401, { "Content-Type": "text/plain" }).write("wait")),
    foundBy: VITAL,
    says: /timed out after 0\.3 s/,
    context: { timeoutSeconds: 0.3 },
  },
  "breaks off midway": {
    steps: refusing((res) => {
      res.writeHead(401, { "Content-Length": "10" }).write("12345", () => res.destroy());
    }),
    foundBy: VITAL,
    says: /no complete response/,
  },
  "speaks no HTTP": {
    // What is left unread would reset the connection, and what was written could be lost.
    steps: (req) => void req.resume().once("end", () => req.socket.end("SSH-2.0-x\r\n")),
    foundBy: VITAL,
    says: /no HTTP response/,
  },
  "accepts an empty password": {
    steps: { isRight: (login) => (login.username === ACCOUNT.username && login.content === "") || isRight(login) },
    foundBy: "does not accept an empty password",
    says: /an empty password was accepted: the response is 200/,
  },
  "opens a known account by any key": {
    steps: { isRight: (login) => isRight(login) || (login.username === ACCOUNT.username && isKey(login.content)) },
    foundBy: `${NOBODYS} ssh-key`,
    says: /^ssh-key that is not the account's was accepted: the response is 200$/,
  },
  "opens a known account by any certificate": {
    steps: { isRight: (login) => isRight(login) || (login.username === ACCOUNT.username && isPem(login.content)) },
    foundBy: `${NOBODYS} ssl-certificate`,
    says: /^ssl-certificate that is not the account's was accepted: the response is 200$/,
  },
  "compares passwords in any case": {
    steps: { isRight: comparing((text) => text.toLowerCase()) },
    foundBy: WRONG,
    says: /^the password in the opposite case was accepted/,
  },
  "trims passwords": {
    steps: { isRight: comparing((text) => text.trim()) },
    foundBy: WRONG,
    says: /^the password with a space after it was accepted/,
  },
  "trims the start of passwords": {
    steps: { isRight: comparing((text) => text.trimStart()) },
    foundBy: WRONG,
    says: /^the password with a space before it was accepted/,
  },
  "compares 14 characters of a password": {
    steps: { isRight: comparing((text) => text.slice(0, 14)) },
    foundBy: WRONG,
    says: /^the password without its last character was accepted/,
  },
  "compares what is long by its start": {
    steps: { isRight: comparing((text) => (text.length > 72 ? text.slice(0, ACCOUNT.password.length) : text)) },
    foundBy: WRONG,
    says: /^the password with a long text after it was accepted/,
  },
  "accepts the start of a password": {
    steps: {
      isRight: ({ content, ...login }) => isRight({ ...login, content: content.slice(0, ACCOUNT.password.length) }),
    },
    foundBy: WRONG,
    says: /^the password with a character after it was accepted/,
  },
  "accepts a password without its end": {
    steps: {
      isRight: ({ type, username, content }) =>
        isRight({ type, username, content: ACCOUNT.password }) && ACCOUNT.password.startsWith(content),
    },
    foundBy: WRONG,
    says: /^the password without its last character was accepted/,
  },
  "reads a password up to the first NUL": {
    steps: { isRight: ({ content, ...login }) => isRight({ ...login, content: content.replace(/\0.*/, "") }) },
    foundBy: WRONG,
    says: /with NUL and more after it was accepted/,
  },
  "answers 500 to a wrong password": {
    steps: refusing((res, { username }) => answer(res, username === ACCOUNT.username ? 500 : 401)),
    foundBy: WRONG,
    says: /must be 401 or 403, but it is 500/,
  },
  "breaks the interface when it rejects": {
    steps: refusing((res, { username }) =>
      username === ACCOUNT.username ? answer(res, 403, "application/json", "{") : answer(res, 401),
    ),
    foundBy: WRONG,
    says: /not JSON/,
  },
  "ignores the type of the credentials": {
    steps: { isRight: ({ username, content }) => isRight({ type: "password", username, content }) },
    foundBy: `${TYPE} ssh-key`,
    says: /as ssh-key was accepted/,
  },
  "takes a certificate for a password": {
    steps: {
      isRight: ({ type, ...login }) => isRight({ ...login, type: type.replace("ssl-certificate", "password") }),
    },
    foundBy: `${TYPE} ssl-certificate`,
    says: /as ssl-certificate was accepted/,
  },
  "searches for names by a pattern": {
    steps: { isRight: ({ username, ...login }) => isRight({ ...login, username: username.replace(/^a\*$/, "alice") }) },
    foundBy: "does not treat a name as a pattern",
    says: /the name "a\*" was accepted/,
  },
  "mixes up logins at the same time": {
    steps: {
      async isRight(login) {
        current = login;
        await delay(20);
        return isRight(current);
      },
    },
    foundBy: "handles parallel logins independently",
    says: /an unknown account at the same time|response to the right password is/,
  },
  "knows IPv4 alone": {
    steps: refusing((res, { peer }) => answer(res, peer?.family === "IPv6" ? 500 : 401)),
    foundBy: "treats a client with an IPv6 address like any other",
    says: /but it is 500/,
  },
  "fails at quotes": {
    steps: refusing((res, { username }) => answer(res, username.includes("'") ? 500 : 401)),
    foundBy: ODD,
    says: /the response is 500/,
  },
  "asks a database by a text made of the password": {
    steps: { isRight: (login) => login.content.includes("' OR '") || isRight(login) },
    foundBy: ODD,
    says: /was accepted/,
  },
  "fails at long names": {
    steps: refusing((res, { username }) => answer(res, username.length > 1000 ? 502 : 401)),
    foundBy: "handles very long names and passwords",
    says: /a very long name: the response is 502/,
  },
  "changes its mind": {
    steps: refusing((res) => answer(res, ++calls % 2 ? 401 : 403)),
    foundBy: "gives the same response to the same credentials",
    says: /responded 40[13], then 40[13]/,
  },
  "finds a login in broken JSON": {
    steps: { parse: (body) => (isOpen(body) ? parseLoosely(`${body}}`) : undefined) },
    foundBy: "does not accept malformed JSON",
    says: /malformed JSON was accepted/,
  },
  "takes unknown types for passwords": {
    steps: {
      parse: (body) => parseLoosely(body),
      isRight: ({ type, ...login }) => isRight({ ...login, type: type.startsWith("ss") ? type : "password" }),
    },
    foundBy: "does not accept an unknown type of credentials",
    says: /the type "token" was accepted/,
  },
  "takes a list for a name": {
    steps: { parse: (body) => parseLoosely(body) },
    foundBy: "does not accept credentials with a missing member, or a member of the wrong type",
    says: /a username that is a list was accepted/,
  },
  "asks for no authorization": {
    steps: {},
    foundBy: "rejects requests without the service's authorization",
    says: /a request without authorization was accepted/,
    context: { headers: { Authorization: TOKEN } },
  },
  "looks at the scheme of the authorization alone": {
    steps: { isAuthorized: ({ headers }) => headers.authorization?.startsWith("token ") ?? false },
    foundBy: FALSE_AUTHORIZATION,
    says: /with a wrong authorization was accepted/,
    context: { headers: { Authorization: TOKEN } },
  },
  "compares the start of the authorization": {
    steps: { isAuthorized: ({ headers }) => headers.authorization?.startsWith(TOKEN) ?? false },
    foundBy: FALSE_AUTHORIZATION,
    says: /with extra characters after the right authorization was accepted/,
    context: { headers: { Authorization: TOKEN } },
  },
  "compares the authorization in any case": {
    steps: { isAuthorized: ({ headers }) => headers.authorization?.toLowerCase() === TOKEN },
    foundBy: FALSE_AUTHORIZATION,
    says: /with the right authorization in the opposite case was accepted/,
    context: { headers: { Authorization: TOKEN } },
  },
  "compares the password of the service in any case": {
    steps: { isAuthorized: ({ headers }) => isBasicInAnyCase(headers.authorization) },
    foundBy: FALSE_AUTHORIZATION,
    says: /with the right authorization in the opposite case was accepted/,
    context: BASIC,
  },
  "looks at the name of the authorization alone": {
    steps: { isAuthorized: ({ headers }) => atob(headers.authorization?.slice(6) ?? "").startsWith("svc:") },
    foundBy: FALSE_AUTHORIZATION,
    says: /with a wrong authorization was accepted/,
    context: BASIC,
  },
};

/** What the interface leaves free. */
const NOTED: Readonly<Record<string, Broken>> = {
  "answers 200 to GET": {
    steps: (req, res) => (req.method === "GET" ? answer(res, 200) : createHandwrittenEndpoint()(req, res)),
    foundBy: "rejects GET (hardening)",
    says: /GET was accepted: the response is 200/,
  },
  "reads any content type": {
    steps: { isContentType: () => true },
    foundBy: "rejects content types other than JSON (hardening)",
    says: /the content type text\/plain; charset=utf-8 was accepted: the response is 200/,
  },
  "has a challenge for accounts, none of which is known here": {
    steps: refusing(challenge),
    foundBy: SERVICE,
    says: /may have rejected the service's own authorization/,
    context: { account: undefined },
  },
  "hands those with a wrong password to the next method": {
    steps: refusing((res) => answer(res, 401)),
    foundBy: WRONG,
    says: /response to a wrong password of a known account is 401, so the next authentication method is asked/,
  },
  "answers without authorization as with it, when no account is known": {
    steps: {},
    foundBy: "rejects requests without the service's authorization",
    says: /unknown: the response to a request without authorization is the same as with the right authorization; give a known account/,
    context: { account: undefined, headers: { Authorization: TOKEN } },
  },
  "answers to any authorization alike, when no account is known": {
    steps: { isAuthorized: ({ headers }) => headers.authorization !== undefined },
    foundBy: FALSE_AUTHORIZATION,
    says: /unknown: the response to a request with a wrong authorization is the same as with the right authorization; give a known account/,
    context: { account: undefined, headers: { Authorization: TOKEN } },
  },
};

/** Knows the account by this password. */
function honestFor(password: string, prepare = (text: string) => text): Broken {
  const isRight: Steps["isRight"] = ({ type, username, content }) =>
    type === "password" && username === ACCOUNT.username && prepare(content) === prepare(password);
  return { steps: { isRight }, foundBy: "", says: /^/ };
}

/** Serves it until the test ends, and gives what the cases are to be played with. */
async function serveFlawed({ steps, context = {} }: Broken): Promise<EndpointCaseContext> {
  const server = await serveEndpoint(typeof steps === "function" ? steps : createHandwrittenEndpoint(steps));
  onTestFinished(() => server.stop());
  const { account, ...others } = { account: ACCOUNT, ...context };
  return { url: server.url, ...(account !== undefined && { account }), ...others };
}

/** What the case that is there to find it says: rejecting, or as a note. */
async function play(flawed: Broken): Promise<{ readonly failure?: string; readonly note?: string | undefined }> {
  const context = await serveFlawed(flawed);
  const finder = endpointCases.find(({ name }) => name === flawed.foundBy);
  if (finder === undefined) throw new Error(`There is no case "${flawed.foundBy}".`);
  return finder.run(context).then(
    (note) => ({ note }),
    (error: Error) => ({ failure: error.message }),
  );
}

/** Plays all cases by the command, as flags make of a context. */
async function check(flawed: Broken): Promise<{ readonly status: number; readonly lines: readonly string[] }> {
  const { url, headers = {}, username, password, account, timeoutSeconds } = await serveFlawed(flawed);
  let printed = "";
  const output = {
    write(text: string | Uint8Array): boolean {
      printed += text;
      return true;
    },
  };
  const flags = {
    url,
    header: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(username !== undefined && { basic: `${username}:${password}` }),
    ...(account !== undefined && { user: account.username, password: account.password }),
    ...(timeoutSeconds !== undefined && { timeout: timeoutSeconds }),
  };
  const status = await checkAuthEndpoint(flags, { stdin: Readable.from([]), stdout: output, stderr: output });
  expect(printed).not.toMatch(/s3cret|Correct-horse/);
  return { status, lines: printed.trimEnd().split("\n") };
}

describe("the cases of an authentication endpoint", () => {
  it.each(Object.entries(BROKEN))("find one that %s (4.7, 7.2)", async (_name, broken) => {
    const { failure } = await play(broken);
    expect(failure).toMatch(broken.says);
    expect(failure).not.toMatch(/s3cret|Correct-horse/);
  });

  it.each(Object.entries(NOTED))("fail no endpoint that %s, but note it", async (_name, noted) => {
    const { failure, note } = await play(noted);
    expect([failure, note]).toEqual([undefined, expect.stringMatching(noted.says)]);
  });

  it("have each found something, and names of their own", () => {
    const names = endpointCases.map(({ name }) => name);
    expect(names).toHaveLength(new Set(names).size);
    expect(new Set(Object.values({ ...BROKEN, ...NOTED }).map(({ foundBy }) => foundBy))).toEqual(new Set(names));
  });

  it.each([
    ["an emoji", "pass🙂"],
    ["no letter", "1234"],
    ["blanks around it", " pass "],
    ["more than 72 characters", "Pw".repeat(40)],
  ])("find nothing wrong where the known password has %s", async (_case, password) => {
    const { url } = await serveFlawed(honestFor(password));
    for (const each of endpointCases) {
      const context = { url, account: { username: ACCOUNT.username, password } };
      if (isPlayable(each, context)) await each.run(context);
    }
  });

  it("find a password cut at 72 characters, by one that is longer", async () => {
    const password = "Pw".repeat(40);
    const { url } = await serveFlawed(honestFor(password, (text) => text.slice(0, 72)));
    const context = { url, account: { username: ACCOUNT.username, password } };
    const finder = endpointCases.find(({ name }) => name === WRONG);
    await expect(finder?.run(context)).rejects.toThrow("the password without its last character was accepted");
  });

  it("refuse a known password of fewer than 4 characters", async () => {
    const finder = endpointCases.find(({ name }) => name === WRONG);
    const context = { url: "http://127.0.0.1:9/", account: { username: "a", password: "🙂🙂🙂" } };
    await expect(finder?.run(context)).rejects.toThrow(/must have 4 characters or more/);
  });

  it("fail to log in to the known account no more than 13 times, each time from elsewhere", async () => {
    const peers: string[] = [];
    let names = 0;
    const steps: Partial<Steps> = {
      isRight(login) {
        if (login.username === ACCOUNT.username && !isRight(login)) peers.push(login.peer?.address ?? "");
        else names += 1;
        return isRight(login);
      },
    };
    await check({ steps, foundBy: "", says: /^/ });
    expect(names).toBeGreaterThan(30);
    expect(peers).toHaveLength(13);
    expect(new Set(peers).size).toBeGreaterThan(8);
    for (const peer of peers) expect(peer).toMatch(/^(?:192\.0\.2|198\.51\.100|203\.0\.113)\.\d+$/);
  });

  it.each([
    ["a URL of another kind", { url: "ftp://127.0.0.1/" }],
    ["credentials in the URL", { url: "http://svc:s3cret@127.0.0.1/" }],
    ["a header that is none", { url: "http://127.0.0.1/", headers: { "X Y": "s3cret" } }],
  ])("say what is wrong with %s, without a secret", async (_case, context) => {
    const found = await endpointCases[0]?.run(context).catch((error: unknown) => error);
    expect(found).toBeInstanceOf(TypeError);
    expect(String(found)).not.toContain("s3cret");
  });

  it("report every answer", async () => {
    const server = await serveEndpoint(createHandwrittenEndpoint());
    onTestFinished(() => server.stop());
    const told: number[] = [];
    await endpointCases[0]?.run({ url: server.url, onResponse: ({ status }) => told.push(status) });
    expect(told).toEqual([401]);
  });
});

describe("fileferry check-auth-endpoint, which plays all of them", () => {
  it.each(Object.entries(BROKEN))("ends with status 1 and names the case for one that %s", async (_name, broken) => {
    const { status, lines } = await check(broken);
    expect(status).toBe(1);
    const failed = lines.filter((line) => line.startsWith("FAIL "));
    expect(failed.filter((line) => line.startsWith(`FAIL ${broken.foundBy}: `))).toHaveLength(1);
    expect(lines.at(-1)).toContain(`, ${failed.length} failed, `);
  });

  it.each(Object.entries(NOTED))("ends with status 0 and a note for one that %s", async (_name, noted) => {
    const { status, lines } = await check(noted);
    expect(status).toBe(0);
    const notes = lines.filter((line) => /^(?:FAIL|note) /.test(line));
    const [note = ""] = notes.filter((line) => line.startsWith(`note ${noted.foundBy}: `));
    expect(note).toMatch(noted.says);
    expect(lines.at(-1)).toContain(` ok, ${notes.length} noted, 0 failed, `);
  });

  it.each(HONEST)("ends with status 0 for one %s", async (_name, listener, given) => {
    const { account: _account, ...context } = given;
    const { status, lines } = await check({ steps: listener, foundBy: "", says: /^/, context });
    expect(lines.filter((line) => !/^(?:ok {3}|skip )/.test(line))).toEqual([expect.stringContaining(", 0 failed, ")]);
    expect(status).toBe(0);
  });
});
