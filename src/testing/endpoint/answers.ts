import type { CredentialType } from "../../contracts/authenticator.ts";
import type { EndpointCase, EndpointCaseContext } from "./case.ts";
import {
  ask,
  type CheckedResponse,
  describeStatus,
  expectNoProblems,
  expectNoSuccess,
  expectRefusal,
  isSuccess,
  makeUpName,
} from "./question.ts";
import { makeUpPeer, SAMPLES, WRONG_PASSWORD } from "./samples.ts";

/** Of no language, quoted, escaped, and what directories, databases and shells take for more than a name. */
const ODD_TEXTS = [
  "Ünïcödé ☃ 漢字 🙂",
  `quo"te's`,
  "back\\slash\\",
  "' OR '1'='1' --",
  "*)(uid=*))(|(uid=*",
  "*",
  "../../$(id)%00",
  "__proto__",
];

/** How any answer has to be, whatever it says (7.2). */
export const responseCases: readonly EndpointCase[] = [
  {
    name: "answers whole, and within the time limit",
    vital: true,
    async run(context) {
      await askUnknown(context);
    },
  },
  {
    name: "does not redirect",
    run: (context) =>
      forEachResponse(context, (response) => {
        const isRedirect = response.status === 0 || (response.status >= 300 && response.status < 400);
        if (isRedirect) throw new Error(`answered ${describeStatus(response)}`);
      }),
  },
  {
    name: "answers with no more than 1 MiB, and unencoded",
    run: (context) =>
      forEachResponse(context, ({ body }) => {
        if ("problem" in body) throw new Error(body.problem);
      }),
  },
  {
    name: "does not refuse the service itself",
    // Any 401 may have a challenge, and by RFC 9110 15.5.2 it must: only where nothing but the service's own proof can be wrong it tells.
    async run(context) {
      const { account } = context;
      if (account !== undefined) {
        const { username, password: content } = account;
        const response = await ask(context, { type: "password", username, content });
        if (isChallenged(response)) throw new Error("the right password was answered 401 with WWW-Authenticate");
      } else if (isChallenged(await askUnknown(context))) {
        return "answered 401 with WWW-Authenticate: it may have refused the service itself; a known account would tell";
      }
      return undefined;
    },
  },
  {
    name: "says in UTF-8 what it says with 401, and with 403 nothing, a text, or JSON of the interface",
    async run(context) {
      const response = await askUnknown(context);
      if (response.status === 401 || response.status === 403) expectNoProblems(response, "an unknown account");
    },
  },
];

/** Nobody whom the endpoint does not know gets in. */
export const unknownAccountCases: readonly EndpointCase[] = [
  {
    // The last that needs the right password: it comes before most refusals, of which an endpoint may have enough.
    name: "answers a client with an IPv6 address as any other",
    async run(context) {
      const { account } = context;
      if (account !== undefined) {
        const { username, password: content } = account;
        const response = await ask(context, { type: "password", username, content, peer: makeUpPeer("IPv6") });
        if (!isSuccess(response)) throw new Error(`the right password was answered ${describeStatus(response)}`);
      }
      const unknown = { type: "password", username: makeUpName(), content: WRONG_PASSWORD } as const;
      expectRefusal(await ask(context, { ...unknown, peer: makeUpPeer("IPv6") }), "an unknown account");
      return undefined;
    },
  },
  ...(Object.keys(SAMPLES) as CredentialType[]).map(
    (type): EndpointCase => ({
      name: `answers 401 or 403 to an unknown account: ${type}`,
      async run(context) {
        const response = await ask(context, { type, username: makeUpName(), content: SAMPLES[type] });
        if (isSuccess(response))
          throw new Error(`it lets anybody in: answered ${response.status} to an account that nobody has`);
        if (response.status !== 401 && response.status !== 403) throw new Error(`answered ${describeStatus(response)}`);
      },
    }),
  ),
  {
    name: "stands names and passwords of any characters",
    async run(context) {
      for (const odd of ODD_TEXTS) {
        const response = await ask(context, { type: "password", username: odd, content: odd });
        expectStood(response, `${JSON.stringify(odd)} as name and password`);
      }
    },
  },
  {
    name: "stands very long names and passwords",
    async run(context) {
      const { username, password } = context.account ?? { username: makeUpName(), password: WRONG_PASSWORD };
      const [login, long] = [{ type: "password", username, content: WRONG_PASSWORD } as const, "x".repeat(60_000)];
      expectStood(await ask(context, { ...login, username: `${username}${long}` }), "a very long name");
      expectStood(await ask(context, { ...login, content: `${password}${long}` }), "a very long password");
    },
  },
  {
    name: "gives the same answer to the same credentials",
    async run(context) {
      const credentials = {
        type: "password",
        username: makeUpName(),
        content: WRONG_PASSWORD,
        peer: makeUpPeer(),
      } as const;
      const [one, other] = [await ask(context, credentials), await ask(context, credentials)];
      if (one.status !== other.status) throw new Error(`answered ${one.status}, then ${other.status}`);
    },
  },
];

function isChallenged({ status, challenged }: CheckedResponse): boolean {
  return status === 401 && challenged;
}

function askUnknown(context: EndpointCaseContext): Promise<CheckedResponse> {
  return ask(context, { type: "password", username: makeUpName(), content: WRONG_PASSWORD });
}

/** Looks at the answer to an unknown account and, where there is one, at that to the known one. */
async function forEachResponse(
  context: EndpointCaseContext,
  look: (response: CheckedResponse) => void,
): Promise<undefined> {
  look(await askUnknown(context));
  if (context.account === undefined) return undefined;
  const { username, password: content } = context.account;
  look(await ask(context, { type: "password", username, content }));
}

function expectStood(response: CheckedResponse, what: string): void {
  expectNoSuccess(response, what);
  if (response.status >= 500) throw new Error(`${what}: answered ${response.status}`);
}
