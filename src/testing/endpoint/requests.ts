import type { Credentials } from "../../contracts/authenticator.ts";
import { type HeaderLines, toBasicAuthorization } from "../../outbound/headers.ts";
import type { EndpointCase, EndpointCaseContext } from "./case.ts";
import { changeLast, swapCase } from "./flaws.ts";
import { ask, type Deviation, expectNoSuccess, isSuccess, makeUpName, toRequest } from "./question.ts";
import { WRONG_PASSWORD } from "./samples.ts";

/** What is no request of the interface (4.7, 2.3) is no success, not even with the right password in it. */
export const requestCases: readonly EndpointCase[] = [
  {
    // Something else may be there to be fetched: that is no login.
    name: "refuses GET (hardening)",
    run: (context) => noteSuccess(context, { method: "GET" }, "GET"),
  },
  {
    // A service sends no other. But a page of any origin may, and without asking before (Fetch 2.2.2, CORS-safelisted).
    name: "refuses another content type than JSON (hardening)",
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
      const text = JSON.stringify(toRequest(credentialsOf(context)));
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
    name: "does not accept credentials with a member missing, or of another type",
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

/** Nobody but the service may ask (5.2). With a known account these are the sharper. */
export const authorizationCases: readonly EndpointCase[] = [
  {
    name: "accepts nothing without the service's own authorization",
    needs: "authorization",
    run: (context) => expectUnauthorized(context, [[() => [], "a request without it"]]),
  },
  {
    name: "accepts nothing with a wrong authorization of the service",
    needs: "authorization",
    run: (context) =>
      expectUnauthorized(context, [
        [(own) => falsify(own, changeLast), "a request with a wrong one"],
        [(own) => falsify(own, (secret) => `${secret}x`), "a request with more after the right one"],
        [swapCaseOf, "a request with the right one in the other case"],
        [empty, "a request with an empty one"],
      ]),
  },
];

type Unauthorized = readonly [authorization: (own: HeaderLines) => HeaderLines, what: string];

/** Where no account is known nobody gets in anyway: then the service has to be refused by another answer than the account. */
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
      note ??= `not known: ${what} is answered as one with the right one; give an account`;
    }
  }
  return note;
}

/** Of what no service sends, and an endpoint may take all the same. */
async function noteSuccess(
  context: EndpointCaseContext,
  deviation: Deviation,
  what: string,
): Promise<string | undefined> {
  const response = await ask(context, credentialsOf(context), deviation);
  return isSuccess(response) ? `${what} was accepted: answered ${response.status}` : undefined;
}

async function expectRefused(context: EndpointCaseContext, deviation: Deviation, what: string): Promise<undefined> {
  expectNoSuccess(await ask(context, credentialsOf(context), deviation), what);
}

/** The right ones where an account is known: then nothing but the flaw stands between them and a success. */
function credentialsOf({ account }: EndpointCaseContext): Credentials {
  const { username, password: content } = account ?? { username: makeUpName(), password: WRONG_PASSWORD };
  return { type: "password", username, content };
}

function bodyWith(context: EndpointCaseContext, members: Readonly<Record<string, unknown>>): string {
  const request = toRequest(credentialsOf(context));
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

/** Which of several values is the secret one is not known: unless all have another case, none is changed but at its end. */
function swapCaseOf(own: HeaderLines): HeaderLines {
  const swapped = falsify(own, swapCase);
  const isWrong = swapped.every(([, value], index) => value !== own[index]?.[1]);
  return isWrong ? swapped : falsify(own, changeLast);
}

/** The last letters of Base64 may not count, nor does the case of a name: it is the password behind it that changes. */
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

/** The case of a scheme does not count (RFC 9110 11.1): it stays as it is. */
function falsifyToken(value: string, change: (secret: string) => string): string {
  const start = value.indexOf(" ") + 1;
  return `${value.slice(0, start)}${change(value.slice(start))}`;
}

/** A scheme alone, or credentials that are empty; of any other header a value that says nothing. */
function empty(own: HeaderLines): HeaderLines {
  return own.map(([name, value]) => {
    if (/^basic /i.test(value)) return [name, toBasicAuthorization("", "")];
    const [scheme = "", rest] = value.split(" ", 2);
    if (rest !== undefined) return [name, scheme];
    return [name, value === "-" ? "_" : "-"];
  });
}
