import type { Credentials } from "../../contracts/authenticator.ts";
import { type HeaderLines, toBasicAuthorization } from "../../outbound/headers.ts";
import type { EndpointCase, EndpointCaseContext } from "./case.ts";
import { changeLast, swapCase } from "./flaws.ts";
import { ask, type Deviation, expectNoSuccess, isSuccess, makeUpName, toAuthRequest } from "./question.ts";
import { WRONG_PASSWORD } from "./samples.ts";

/**
 * Cases with requests that the interface does not define (4.7, 2.3). They must not succeed, even with the right
 * password.
 */
export const requestCases: readonly EndpointCase[] = [
  {
    // Only noted: the URL may serve something else to GET that is not a login.
    name: "rejects GET (hardening)",
    run: (context) => noteSuccess(context, { method: "GET" }, "GET"),
  },
  {
    // A service sends no other type. But a page of any origin can send these types without a preflight (Fetch 2.2.2,
    // CORS-safelisted).
    name: "rejects content types other than JSON (hardening)",
    async run(context) {
      for (const contentType of ["text/plain; charset=utf-8", "application/x-www-form-urlencoded"]) {
        const note = await noteSuccess(context, { contentType }, `the content type ${contentType}`);
        if (note !== undefined) return note;
      }
      return undefined;
    },
  },
  {
    name: "does not accept malformed JSON",
    async run(context) {
      const text = JSON.stringify(toAuthRequest(credentialsOf(context)));
      for (const body of [text.slice(0, -1), `${text}}`, "", "null", `[${text}]`, JSON.stringify(text)]) {
        await expectRefused(context, { body }, "malformed JSON");
      }
    },
  },
  {
    name: "does not accept an unknown type of credentials",
    async run(context) {
      for (const type of ["token", "", "PASSWORD", null, ["password"]]) {
        await expectRefused(context, { body: bodyWith(context, { type }) }, `the type ${JSON.stringify(type)}`);
      }
    },
  },
  {
    name: "does not accept credentials with a missing member, or a member of the wrong type",
    async run(context) {
      const { username, content } = credentialsOf(context);
      for (const member of ["type", "username", "content"]) {
        await expectRefused(context, { body: bodyWith(context, { [member]: undefined }) }, `no ${member}`);
      }
      for (const value of [[username], null, {}, { toString: username }]) {
        const what = `a username that is ${describeType(value)}`;
        await expectRefused(context, { body: bodyWith(context, { username: value }) }, what);
      }
      for (const value of [[content], null, true, 0, {}, { $ne: "" }]) {
        const what = `content that is ${describeType(value)}`;
        await expectRefused(context, { body: bodyWith(context, { content: value }) }, what);
      }
    },
  },
];

/** Cases in which the service is not authorized (5.2). They find more if an account is known. */
export const authorizationCases: readonly EndpointCase[] = [
  {
    name: "rejects requests without the service's authorization",
    needs: "authorization",
    run: (context) => expectUnauthorized(context, [[() => [], "a request without authorization"]]),
  },
  {
    name: "rejects requests with a wrong authorization of the service",
    needs: "authorization",
    run: (context) =>
      expectUnauthorized(context, [
        [(own) => falsify(own, changeLast), "a request with a wrong authorization"],
        [
          (own) => falsify(own, (secret) => `${secret}x`),
          "a request with extra characters after the right authorization",
        ],
        [swapCaseOf, "a request with the right authorization in the opposite case"],
        [empty, "a request with an empty authorization"],
      ]),
  },
];

type Unauthorized = readonly [authorization: (own: HeaderLines) => HeaderLines, what: string];

/**
 * Sends requests without proper authorization, which must not succeed. Without a known account no login succeeds
 * anyway; then the response must differ from the one to an authorized request.
 */
async function expectUnauthorized(
  context: EndpointCaseContext,
  requests: readonly Unauthorized[],
): Promise<string | undefined> {
  const authorized = context.account === undefined ? await ask(context, credentialsOf(context)) : undefined;
  let note: string | undefined;
  for (const [authorization, what] of requests) {
    const response = await ask(context, credentialsOf(context), { authorization });
    expectNoSuccess(response, what);
    if (response.status === authorized?.status && response.challenged === authorized.challenged) {
      note ??= `unknown: the response to ${what} is the same as with the right authorization; give a known account`;
    }
  }
  return note;
}

/** Notes a success that is not an error: no service sends such requests, but an endpoint may accept them. */
async function noteSuccess(
  context: EndpointCaseContext,
  deviation: Deviation,
  what: string,
): Promise<string | undefined> {
  const response = await ask(context, credentialsOf(context), deviation);
  return isSuccess(response) ? `${what} was accepted: the response is ${response.status}` : undefined;
}

async function expectRefused(context: EndpointCaseContext, deviation: Deviation, what: string): Promise<undefined> {
  expectNoSuccess(await ask(context, credentialsOf(context), deviation), what);
}

/** Returns the right credentials if an account is known. Then only the flaw prevents a success. */
function credentialsOf({ account }: EndpointCaseContext): Credentials {
  const { username, password: content } = account ?? { username: makeUpName(), password: WRONG_PASSWORD };
  return { type: "password", username, content };
}

function bodyWith(context: EndpointCaseContext, members: Readonly<Record<string, unknown>>): string {
  const request = toAuthRequest(credentialsOf(context));
  return JSON.stringify({ ...request, credentials: { ...request.credentials, ...members } });
}

function describeType(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : typeof value;
}

/** Changes the secret in each value. */
function falsify(own: HeaderLines, change: (secret: string) => string): HeaderLines {
  return own.map(([name, value]) => [name, falsifyBasic(value, change) ?? falsifyToken(value, change)]);
}

/**
 * Swaps the case of the secret. It is not known which of several values is the secret. If one of them has no other
 * case, all are changed at their end instead.
 */
function swapCaseOf(own: HeaderLines): HeaderLines {
  const swapped = falsify(own, swapCase);
  const isWrong = swapped.every(([, value], index) => value !== own[index]?.[1]);
  return isWrong ? swapped : falsify(own, changeLast);
}

/**
 * Changes the password of Basic credentials. Other changes may have no effect: the last letters of Base64 may not
 * count, nor the case of a name.
 */
function falsifyBasic(value: string, change: (secret: string) => string): string | undefined {
  const [, token] = /^basic +(\S+)$/i.exec(value) ?? [];
  if (token === undefined) return undefined;
  try {
    const text = new TextDecoder().decode(Uint8Array.from(atob(token), (letter) => letter.charCodeAt(0)));
    const [name = "", ...rest] = text.split(":");
    return toBasicAuthorization(name, change(rest.join(":")));
  } catch {
    return undefined;
  }
}

/** Changes the token. The scheme stays, because its case does not count (RFC 9110 11.1). */
function falsifyToken(value: string, change: (secret: string) => string): string {
  const start = value.indexOf(" ") + 1;
  return `${value.slice(0, start)}${change(value.slice(start))}`;
}

/**
 * Removes the secret: leaves the scheme alone, or empty Basic credentials, or a meaningless value of any other header.
 */
function empty(own: HeaderLines): HeaderLines {
  return own.map(([name, value]) => {
    if (/^basic /i.test(value)) return [name, toBasicAuthorization("", "")];
    const [scheme = "", rest] = value.split(" ", 2);
    if (rest !== undefined) return [name, scheme];
    return [name, value === "-" ? "_" : "-"];
  });
}
