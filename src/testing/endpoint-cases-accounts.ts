import type { CredentialType } from "../contracts/authenticator.ts";
import type { EndpointCase, EndpointCaseContext } from "./endpoint-case.ts";
import {
  ask,
  describeStatus,
  expectNoProblems,
  expectNoSuccess,
  expectRefusal,
  isSuccess,
  type JudgedAnswer,
  makeUpName,
} from "./endpoint-question.ts";

type Account = NonNullable<EndpointCaseContext["account"]>;

/** The known account gets in, by its password (7.2). First of all: where wrong passwords lock an account, these have been played. */
export const knownAccountCases: readonly EndpointCase[] = [
  {
    name: "accepts the right password: 204, or 200 with an account of the interface",
    needs: "account",
    async run(context) {
      const answer = await askWith(context, {});
      expectAccepted(answer);
      expectNoProblems(answer, "the right password");
    },
  },
  {
    name: "describes the same account each time",
    needs: "account",
    async run(context) {
      const [one, other] = [await askWith(context, {}), await askWith(context, {})];
      if (one.status !== other.status) throw new Error(`answered ${one.status}, then ${other.status}`);
      if (textOf(one) !== textOf(other)) throw new Error("the two bodies differ");
    },
  },
  {
    name: "judges several at once, each on its own",
    needs: "account",
    async run(context) {
      const unknown = { username: makeUpName() };
      const logins = Array.from({ length: 8 }, (_, index) => askWith(context, index % 2 === 0 ? {} : unknown));
      for (const [index, answer] of (await Promise.all(logins)).entries()) {
        if (index % 2 === 0) expectAccepted(answer);
        else expectNoSuccess(answer, "an unknown account beside a known one");
      }
    },
  },
];

/** Nobody gets in by anything but the password. */
export const wrongCredentialCases: readonly EndpointCase[] = [
  {
    name: "does not accept a wrong password",
    needs: "account",
    async run(context) {
      const { password } = accountOf(context);
      const cut = password.slice(0, -1);
      for (const content of [`${cut}${password.endsWith("x") ? "y" : "x"}`, cut, `${password}x`]) {
        expectRefusal(await askWith(context, { content }), "a wrong password");
      }
      // Hashes written in C read up to the first NUL.
      expectNoSuccess(await askWith(context, { content: `${password}\u0000x` }), "a wrong password, with NUL in it,");
    },
  },
  {
    // A directory takes a login without a password for one of nobody in particular, and lets it succeed (RFC 4513 5.1.2).
    name: "does not accept an empty password",
    needs: "account",
    async run(context) {
      expectNoSuccess(await askWith(context, { content: "" }), "an empty password");
    },
  },
  ...(["ssh-key", "ssl-certificate"] as const).map(
    (type): EndpointCase => ({
      name: `does not take a password for a credential of the type ${type}`,
      needs: "account",
      async run(context) {
        expectNoSuccess(await askWith(context, { type }), `the right password as ${type}`);
      },
    }),
  ),
  {
    name: "does not take a name for a pattern",
    needs: "account",
    async run(context) {
      const { username } = accountOf(context);
      for (const pattern of ["*", "%", `${username.slice(0, 1)}*`, `${username.slice(0, 1)}%`]) {
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

/** Asks with what the known account has, but for what is given. */
function askWith(context: EndpointCaseContext, { type = "password", username, content }: Login): Promise<JudgedAnswer> {
  const account = accountOf(context);
  return ask(context, { type, username: username ?? account.username, content: content ?? account.password });
}

function accountOf({ account }: EndpointCaseContext): Account {
  if (account === undefined) throw new TypeError("The case needs an account.");
  return account;
}

function expectAccepted(answer: JudgedAnswer): void {
  if (answer.status === 204 || answer.status === 200) return;
  if (isSuccess(answer)) throw new Error(`only 200 and 204 are a success, answered ${answer.status}`);
  throw new Error(`the right password was answered ${describeStatus(answer)}`);
}

function textOf({ body }: JudgedAnswer): string {
  return "bytes" in body ? new TextDecoder().decode(body.bytes) : body.problem;
}
