import type { Credentials } from "../contracts/authenticator.ts";
import { type HeaderLines, toBasicAuthorization } from "../remote-auth/headers.ts";
import type { EndpointCase, EndpointCaseContext } from "./endpoint-case.ts";
import { ask, type Deviation, expectNoSuccess, isSuccess, makeUpName, toRequest } from "./endpoint-question.ts";

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
    run: (context) => expectRefused(context, { authorization: () => [] }, "a request without it"),
  },
  {
    name: "accepts nothing with a wrong authorization of the service",
    needs: "authorization",
    async run(context) {
      await expectRefused(context, { authorization: falsify }, "a request with a wrong one");
      await expectRefused(context, { authorization: empty }, "a request with an empty one");
    },
  },
];

/** Of what no service sends, and an endpoint may take all the same. */
async function noteSuccess(
  context: EndpointCaseContext,
  deviation: Deviation,
  what: string,
): Promise<string | undefined> {
  const answer = await ask(context, credentialsOf(context), deviation);
  return isSuccess(answer) ? `${what} was accepted: answered ${answer.status}` : undefined;
}

async function expectRefused(context: EndpointCaseContext, deviation: Deviation, what: string): Promise<undefined> {
  expectNoSuccess(await ask(context, credentialsOf(context), deviation), what);
}

/** The right ones where an account is known: then nothing but the flaw stands between them and a success. */
function credentialsOf({ account }: EndpointCaseContext): Credentials {
  const { username, password: content } = account ?? { username: makeUpName(), password: "not-the-password-7f" };
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

/** Values that are nearly right. */
function falsify(own: HeaderLines): HeaderLines {
  return own.map(([name, value]) => [
    name,
    falsifyBasic(value) ?? `${value.slice(0, -1)}${value.endsWith("x") ? "y" : "x"}`,
  ]);
}

/** The last letters of Base64 may not count: it is the password behind it that changes. */
function falsifyBasic(value: string): string | undefined {
  const [, token] = /^basic +(\S+)$/i.exec(value) ?? [];
  if (token === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(token), (letter) => letter.charCodeAt(0));
    return toBasicAuthorization(new TextDecoder().decode(bytes), "x");
  } catch {
    return undefined;
  }
}

/** A scheme alone, or credentials that are empty; of any other header a value that says nothing. */
function empty(own: HeaderLines): HeaderLines {
  return own.map(([name, value]) => {
    if (/^basic /i.test(value)) return [name, toBasicAuthorization("", "")];
    const [scheme = "", rest] = value.split(" ", 2);
    return [name, rest === undefined ? "-" : scheme];
  });
}
