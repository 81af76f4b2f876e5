import type { CredentialType } from "../../contracts/authenticator.ts";
import { type EndpointCase, type EndpointCaseContext, isPasswordLongEnough, MIN_PASSWORD_LENGTH } from "./case.ts";
import { cutLast, swapCase } from "./flaws.ts";
import {
  ask,
  type CheckedResponse,
  describeStatus,
  expectNoProblems,
  expectNoSuccess,
  expectRejected,
  isSuccess,
  makeUpName,
} from "./question.ts";
import { SAMPLES } from "./samples.ts";

type Account = NonNullable<EndpointCaseContext["account"]>;

/**
 * Cases in which the known account logs in with its password (7.2). They come first, because later wrong passwords may
 * lock the account.
 */
export const knownAccountCases: readonly EndpointCase[] = [
  {
    name: "accepts the right password with 204, or with 200 and a valid account",
    needs: "account",
    async run(context) {
      const response = await askWith(context, {});
      expectAccepted(response);
      expectNoProblems(response, "the right password");
    },
  },
  {
    name: "returns the same account each time",
    needs: "account",
    async run(context) {
      const [one, other] = [await askWith(context, {}), await askWith(context, {})];
      if (one.status !== other.status) throw new Error(`responded ${one.status}, then ${other.status}`);
      if (contentOf(one) !== contentOf(other)) throw new Error("the two bodies differ");
    },
  },
  {
    name: "handles parallel logins independently",
    needs: "account",
    async run(context) {
      const unknown = { username: makeUpName() };
      const logins = Array.from({ length: 8 }, (_, index) => askWith(context, index % 2 === 0 ? {} : unknown));
      for (const [index, response] of (await Promise.all(logins)).entries()) {
        if (index % 2 === 0) expectAccepted(response);
        else expectNoSuccess(response, "an unknown account at the same time as a known one");
      }
    },
  },
];

const HANDED_ON =
  "the response to a wrong password of a known account is 401, so the next authentication method is asked; 403 would reject the login";

/** Passwords that careless comparisons accept. The list is short, because each one is a failed login of the account. */
function toWrongPasswords(password: string): readonly (readonly [what: string, content: string])[] {
  const swapped = swapCase(password);
  return [
    ["the password without its last character", cutLast(password)],
    ["the password with a character after it", `${password}x`],
    ["the password with a space after it", `${password} `],
    ["the password with a space before it", ` ${password}`],
    ...(swapped === password ? [] : [["the password in the opposite case", swapped] as const]),
  ];
}

/** Cases in which the known account must not log in. */
export const wrongCredentialCases: readonly EndpointCase[] = [
  {
    name: "does not accept a wrong password",
    needs: "account",
    async run(context) {
      const { password } = accountOf(context);
      let note: string | undefined;
      for (const [what, content] of toWrongPasswords(password)) {
        const response = await askWith(context, { content });
        expectRejected(response, what);
        if (response.status === 401) note = HANDED_ON;
      }
      // Some endpoints may reject such long or unusual text as an invalid request, so any refusal is accepted.
      const long = `${password}${"x".repeat(80)}`;
      expectNoSuccess(await askWith(context, { content: long }), "the password with a long text after it");
      // Hash functions written in C stop reading at the first NUL.
      expectNoSuccess(
        await askWith(context, { content: `${password}\u0000x` }),
        "the password with NUL and more after it",
      );
      return note;
    },
  },
  {
    // An LDAP server treats a login without a password as anonymous, and lets it succeed (RFC 4513 5.1.2).
    name: "does not accept an empty password",
    needs: "account",
    async run(context) {
      expectNoSuccess(await askWith(context, { content: "" }), "an empty password");
    },
  },
  ...(["ssh-key", "ssl-certificate"] as const).map(
    (type): EndpointCase => ({
      name: `does not accept the password as a credential of the type ${type}`,
      needs: "account",
      async run(context) {
        expectNoSuccess(await askWith(context, { type }), `the right password as ${type}`);
      },
    }),
  ),
  ...(["ssh-key", "ssl-certificate"] as const).map(
    (type): EndpointCase => ({
      name: `does not accept an unknown key or certificate for a known account: ${type}`,
      needs: "account",
      async run(context) {
        expectRejected(await askWith(context, { type, content: SAMPLES[type] }), `${type} that is not the account's`);
      },
    }),
  ),
  {
    name: "does not treat a name as a pattern",
    needs: "account",
    async run(context) {
      const { username } = accountOf(context);
      const [first = ""] = username;
      for (const pattern of ["*", "%", `${first}*`, `${first}%`]) {
        if (pattern === username) continue;
        expectNoSuccess(await askWith(context, { username: pattern }), `the name ${JSON.stringify(pattern)}`);
      }
    },
  },
];

interface Login {
  readonly type?: CredentialType;
  readonly username?: string;
  readonly content?: string;
}

/** Sends a login of the known account, with the given changes. */
function askWith(
  context: EndpointCaseContext,
  { type = "password", username, content }: Login,
): Promise<CheckedResponse> {
  const account = accountOf(context);
  return ask(context, { type, username: username ?? account.username, content: content ?? account.password });
}

function accountOf({ account }: EndpointCaseContext): Account {
  if (account === undefined) throw new TypeError("The case needs an account.");
  if (!isPasswordLongEnough(account.password)) {
    throw new TypeError(`The account's password must have ${MIN_PASSWORD_LENGTH} characters or more.`);
  }
  return account;
}

function expectAccepted(response: CheckedResponse): void {
  if (response.status === 204 || response.status === 200) return;
  if (isSuccess(response)) throw new Error(`only 200 and 204 are a success, the response is ${response.status}`);
  throw new Error(`the response to the right password is ${describeStatus(response)}`);
}

/** Returns equal text for equal JSON, whatever the order of members. Text that is not JSON is returned as it is. */
function contentOf({ body }: CheckedResponse): string {
  if ("problem" in body) return body.problem;
  const text = new TextDecoder().decode(body.bytes);
  try {
    return JSON.stringify(JSON.parse(text, (_name, value) => sortMembers(value)));
  } catch {
    return text;
  }
}

function sortMembers(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}
