import type { CredentialType } from "../../contracts/authenticator.ts";
import type { EndpointCase, EndpointCaseContext } from "./case.ts";
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
import { makeUpPeer, SAMPLES, WRONG_PASSWORD } from "./samples.ts";

/** Texts beyond ASCII, with quotes and escapes, and with what directories, databases and shells may interpret. */
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

/** Cases about the form of every response (7.2). */
export const responseCases: readonly EndpointCase[] = [
  {
    name: "sends a complete response within the time limit",
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
        if (isRedirect) throw new Error(`the response is ${describeStatus(response)}`);
      }),
  },
  {
    name: "sends at most 1 MiB, without a Content-Encoding",
    run: (context) =>
      forEachResponse(context, ({ body }) => {
        if ("problem" in body) throw new Error(body.problem);
      }),
  },
  {
    name: "authorizes the service",
    // Any 401 may have a challenge, and RFC 9110 15.5.2 requires one. So a challenge shows an error only if nothing but
    // the service's own authorization can be wrong.
    async run(context) {
      const { account } = context;
      if (account !== undefined) {
        const { username, password: content } = account;
        const response = await ask(context, { type: "password", username, content });
        if (isChallenged(response)) throw new Error("the response to the right password is 401 with WWW-Authenticate");
      } else if (isChallenged(await askUnknown(context))) {
        return "the response is 401 with WWW-Authenticate: the endpoint may have rejected the service's own authorization; give a known account to find out";
      }
      return undefined;
    },
  },
  {
    name: "sends UTF-8 text with 401, and nothing, UTF-8 text, or JSON of the interface with 403",
    async run(context) {
      const response = await askUnknown(context);
      if (response.status === 401 || response.status === 403) expectNoProblems(response, "an unknown account");
    },
  },
];

/** Cases in which an unknown account must not log in. */
export const unknownAccountCases: readonly EndpointCase[] = [
  {
    // The last case of this list that needs the right password. It runs before most failed logins, after which an
    // endpoint may reject the client.
    name: "treats a client with an IPv6 address like any other",
    async run(context) {
      const { account } = context;
      if (account !== undefined) {
        const { username, password: content } = account;
        const response = await ask(context, { type: "password", username, content, peer: makeUpPeer("IPv6") });
        if (!isSuccess(response)) throw new Error(`the response to the right password is ${describeStatus(response)}`);
      }
      const unknown = { type: "password", username: makeUpName(), content: WRONG_PASSWORD } as const;
      expectRejected(await ask(context, { ...unknown, peer: makeUpPeer("IPv6") }), "an unknown account");
      return undefined;
    },
  },
  ...(Object.keys(SAMPLES) as CredentialType[]).map(
    (type): EndpointCase => ({
      name: `responds 401 or 403 to an unknown account: ${type}`,
      async run(context) {
        const response = await ask(context, { type, username: makeUpName(), content: SAMPLES[type] });
        if (isSuccess(response))
          throw new Error(
            `the endpoint accepts unknown accounts: the response to a made-up account is ${response.status}`,
          );
        if (response.status !== 401 && response.status !== 403)
          throw new Error(`the response is ${describeStatus(response)}`);
      },
    }),
  ),
  {
    name: "handles names and passwords with any characters",
    async run(context) {
      for (const odd of ODD_TEXTS) {
        const response = await ask(context, { type: "password", username: odd, content: odd });
        expectStood(response, `${JSON.stringify(odd)} as name and password`);
      }
    },
  },
  {
    name: "handles very long names and passwords",
    async run(context) {
      const { username, password } = context.account ?? { username: makeUpName(), password: WRONG_PASSWORD };
      const [login, long] = [{ type: "password", username, content: WRONG_PASSWORD } as const, "x".repeat(60_000)];
      expectStood(await ask(context, { ...login, username: `${username}${long}` }), "a very long name");
      expectStood(await ask(context, { ...login, content: `${password}${long}` }), "a very long password");
    },
  },
  {
    name: "gives the same response to the same credentials",
    async run(context) {
      const credentials = {
        type: "password",
        username: makeUpName(),
        content: WRONG_PASSWORD,
        peer: makeUpPeer(),
      } as const;
      const [one, other] = [await ask(context, credentials), await ask(context, credentials)];
      if (one.status !== other.status) throw new Error(`responded ${one.status}, then ${other.status}`);
    },
  },
];

function isChallenged({ status, challenged }: CheckedResponse): boolean {
  return status === 401 && challenged;
}

function askUnknown(context: EndpointCaseContext): Promise<CheckedResponse> {
  return ask(context, { type: "password", username: makeUpName(), content: WRONG_PASSWORD });
}

/** Checks the response to an unknown account and, if there is one, to the known account. */
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
  if (response.status >= 500) throw new Error(`${what}: the response is ${response.status}`);
}
