import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHttpAuthenticator } from "../../../../src/remote-auth/http-authenticator.ts";
import { createRecordingLogger } from "../../../support/logger.ts";
import { type Answering, answerWith, createAsked, type RemoteServer, SUCCESS, serveRemote } from "../remote-server.ts";

const BREAK: Answering = (_response, _request, message) => void message.socket.destroy();
const UNKNOWN = answerWith(401, "unknown");

let first: RemoteServer;
let second: RemoteServer;
beforeEach(async () => {
  [first, second] = await Promise.all([serveRemote(UNKNOWN), serveRemote(UNKNOWN)]);
});
afterEach(async () => {
  await Promise.all([first.close(), second.close()]);
});

/** The credentials of the requests so far. */
function received({ requests }: RemoteServer): readonly { type: string; username: string; content: string }[] {
  return requests.map(({ body }) => JSON.parse(body.toString("utf8")).credentials);
}

const tested = { testAtStart: true };

describe("the start of createHttpAuthenticator", () => {
  it("sends one request for a made-up account to every URL (4.7, rule 1)", async () => {
    const asked = createAsked({ url: [first.url, second.url], ...tested });
    expect(await asked.start()).toBeUndefined();
    for (const remote of [first, second]) {
      expect(received(remote)).toEqual([
        {
          type: "password",
          username: expect.stringMatching(/^start-up-test-[0-9a-f]{16}$/),
          content: expect.stringMatching(/^[0-9a-f]{32}$/),
          peer: { address: "0.0.0.0", port: 0, family: "IPv4", protocol: "TCP" },
          creator: { uuid: "00000000-0000-0000-0000-000000000000", type: "http" },
        },
      ]);
    }
    expect(asked.log.entries).toEqual([]);
  });

  it("sends it unless it is turned off (4.7, rule 1)", async () => {
    await createHttpAuthenticator({ url: first.url, logger: createRecordingLogger() }).start?.();
    expect(first.requests).toHaveLength(1);
  });

  it("makes up another account every time, so that it cannot be created on purpose (4.7, rule 1)", async () => {
    await createAsked({ url: first.url, ...tested }).start();
    await createAsked({ url: first.url, ...tested }).start();
    const [one, other] = received(first);
    expect(one?.username).not.toBe(other?.username);
    expect(one?.content).not.toBe(other?.content);
  });

  it("asks all URLs at once (4.7, rule 1)", async () => {
    const waiting: (() => void)[] = [];
    const together: Answering = (response) => {
      waiting.push(() => response.writeHead(401).end());
      if (waiting.length === 2) for (const answer of waiting) answer();
    };
    first.answer = together;
    second.answer = together;
    await createAsked({ url: [first.url, second.url], ...tested }).start();
    expect(waiting).toHaveLength(2);
  });

  it.each([
    [200, answerWith(200, '{"account":{"foo":1}}')],
    [200, answerWith(200)],
    [204, SUCCESS],
    [401, UNKNOWN],
    [403, answerWith(403, '{"message":"no"}')],
  ])(
    "takes a %i from one of them for an endpoint that is reachable (4.7, rule 1, CONTRACT 9.3)",
    async (_status, answer) => {
      first.answer = BREAK;
      second.answer = answer;
      await createAsked({ url: [first.url, second.url], ...tested }).start();
    },
  );

  it.each([
    ["401", UNKNOWN],
    ["403", answerWith(403)],
    ["403 with a reason", answerWith(403, '{"message":"no"}')],
  ])("warns of nothing where the made-up account is refused by %s", async (_status, answer) => {
    first.answer = answer;
    const asked = createAsked({ url: first.url, ...tested });
    await asked.start();
    expect(asked.log.entries).toEqual([]);
  });

  it.each([201, 301, 302, 400, 404, 405, 500, 503])(
    "takes a %i for none (4.7, rule 1, CONTRACT 9.3)",
    async (status) => {
      first.answer = answerWith(status);
      const asked = createAsked({ url: first.url, ...tested });
      await expect(asked.start()).rejects.toThrow(
        new Error(`No authentication URL is reachable: ${first.url}: responded with status ${status}`),
      );
      expect(asked.events).toEqual([]);
    },
  );

  it("names each URL without its query, and why, when none is reachable (CONTRACT 9.3)", async () => {
    first.answer = BREAK;
    second.answer = answerWith(500);
    const third = await serveRemote();
    await third.close();
    const asked = createAsked({
      url: [`${first.url}?key=SECRET`, second.url, `${third.url}?key=SECRET`],
      ...tested,
      username: "u",
      password: "SECRET",
    });
    const error = await asked.start().catch((reason: Error) => reason);
    expect(error).toBeInstanceOf(Error);
    const why = [
      `${first.url}: connection closed early`,
      `${second.url}: responded with status 500`,
      `${third.url}: connection refused`,
    ];
    expect((error as Error).message).toBe(`No authentication URL is reachable: ${why.join("; ")}`);
    expect(asked.log.text()).not.toContain("SECRET");
  });

  it("warns of each URL that does not work when another does, and suspends those without an answer (4.7)", async () => {
    first.answer = BREAK;
    const third = await serveRemote(answerWith(404));
    const asked = createAsked({ url: [first.url, second.url, third.url], ...tested });
    await asked.start();
    expect(asked.log.entries).toMatchObject([
      { level: "warn", message: "An authentication URL failed and is suspended.", details: { url: first.url } },
      {
        level: "warn",
        message: "An authentication URL did not respond as an authentication endpoint.",
        details: { url: third.url, status: 404 },
      },
    ]);
    expect(asked.events).toMatchObject([{ id: 40042, data: { url: first.url, details: "connection closed early" } }]);
    await asked.ask();
    expect([first.requests.length, second.requests.length]).toEqual([1, 2]);
    await third.close();
  });

  it.each([
    ["204", SUCCESS],
    ["200", answerWith(200, '{"account":{}}')],
  ])("warns of an endpoint that lets anybody in by %s", async (_status, answer) => {
    first.answer = answer;
    const asked = createAsked({ url: `${first.url}?key=SECRET`, ...tested });
    await asked.start();
    expect(asked.log.entries).toEqual([
      {
        level: "warn",
        message: "The authentication endpoint accepts unknown accounts: it accepted a made-up one.",
        details: { url: first.url },
      },
    ]);
  });

  it("distinguishes an outage from what is no endpoint: the credentials were not verified", async () => {
    first.answer = answerWith(503);
    const asked = createAsked({ url: [first.url, second.url], ...tested });
    await asked.start();
    expect(asked.log.entries).toEqual([
      {
        level: "warn",
        message: "An authentication URL responded that it could not verify the credentials.",
        details: { url: first.url, status: 503 },
      },
    ]);
  });

  it("warns of an endpoint whose answer is not valid", async () => {
    first.answer = answerWith(200, "[]");
    const asked = createAsked({ url: first.url, ...tested });
    await asked.start();
    expect(asked.log.entries).toEqual([
      {
        level: "warn",
        message: "The authentication endpoint sent an invalid response.",
        details: { url: first.url, status: 200, problems: ["the body: expected object, received array"] },
      },
    ]);
  });

  it("warns of an endpoint that refuses our own credentials (5.2)", async () => {
    first.answer = answerWith(401, "", { "www-authenticate": "Basic" });
    const asked = createAsked({ url: first.url, ...tested });
    await asked.start();
    expect(asked.log.entries).toMatchObject([
      { level: "warn", message: expect.stringContaining("responded 401 with WWW-Authenticate") },
    ]);
  });

  it("is shared by callers at the same time, and done once", async () => {
    const asked = createAsked({ url: first.url, ...tested });
    await Promise.all([asked.start(), asked.start(), asked.ask(), asked.start()]);
    await asked.start();
    await asked.ask();
    expect(received(first).map(({ username }) => username)).toEqual([
      expect.stringMatching(/^start-up-test-/),
      "alice",
      "alice",
    ]);
  });

  it("comes before the first credentials if the method was not started (CONTRACT 9.3)", async () => {
    first.answer = (response, request) => {
      const { username } = JSON.parse(request.body.toString("utf8")).credentials;
      response.writeHead(username === "alice" ? 204 : 401).end();
    };
    const asked = createAsked({ url: first.url, ...tested });
    expect((await asked.ask()).outcome).toBe("accepted");
    expect(received(first).map(({ username }) => username)).toEqual([
      expect.stringMatching(/^start-up-test-/),
      "alice",
    ]);
  });

  it("rejects credentials while it fails, never throws, and is tried again at the next ones (CONTRACT 9.3)", async () => {
    first.answer = answerWith(500);
    const asked = createAsked({ url: first.url, ...tested });
    const problems = [`No authentication URL is reachable: ${first.url}: responded with status 500`];
    const failure = { outcome: "rejected", reason: "unavailable", audit: { problems } };
    expect(await Promise.all([asked.ask(), asked.ask()])).toEqual([failure, failure]);
    await expect(asked.start()).rejects.toThrow(problems[0]);
    first.answer = UNKNOWN;
    expect((await asked.ask()).outcome).toBe("unknown");
    expect(received(first).map(({ username }) => username === "alice")).toEqual([false, false, false, true]);
  });

  it("asks a URL that it has suspended again, and an answer lifts the suspension (4.7)", async () => {
    first.answer = BREAK;
    second.answer = BREAK;
    const asked = createAsked({ url: [first.url, second.url], ...tested });
    await expect(asked.start()).rejects.toThrow("connection closed early");
    expect(asked.events).toHaveLength(2);
    second.answer = UNKNOWN;
    await asked.start();
    expect((await asked.ask()).audit.url).toBe(second.url);
    expect([first.requests.length, asked.events.length]).toEqual([2, 2]);
  });

  it("sends nothing where the test is turned off (CONTRACT 9.3)", async () => {
    first.answer = BREAK;
    await createAsked({ url: first.url, testAtStart: false }).start();
    expect(first.requests).toEqual([]);
  });
});
