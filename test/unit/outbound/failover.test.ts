import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { askInOrder, createSuspensions } from "../../../src/outbound/failover.ts";
import { createHttpAuthenticator } from "../../../src/remote-auth/http-authenticator.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import {
  ALICE,
  type Answering,
  type Asked,
  answerWith,
  createAsked,
  type RemoteServer,
  SUCCESS,
  serveRemote,
} from "../remote-auth/remote-server.ts";

/** Breaks the connection off: no response. */
const BREAK: Answering = (_response, _request, message) => void message.socket.destroy();

const indices = [0, 1, 2];
/** Every set of the three: as flags. */
const subsets = Array.from({ length: 8 }, (_, bits) => indices.map((index) => (bits & (1 << index)) !== 0));
const server = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" };
const creator = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "https" };

let remotes: readonly RemoteServer[];
beforeAll(async () => {
  remotes = await Promise.all(indices.map(() => serveRemote()));
});
afterAll(async () => {
  await Promise.all(remotes.map((remote) => remote.close()));
});

function setUp(isUp: readonly boolean[]): void {
  for (const [index, remote] of remotes.entries()) remote.answer = isUp[index] ? SUCCESS : BREAK;
}

/** Which of the three were asked since the last time, in order. */
function takeOrder(order: number[]): readonly number[] {
  return order.splice(0);
}

/** An authenticator of all three, its clock, and the order in which they are asked. */
function createThree(testAtStart = false): Asked & { readonly clock: { now: number }; readonly order: number[] } {
  const clock = { now: 1_700_000_000_000 };
  const order: number[] = [];
  const urls = remotes.map(({ url }) => url);
  const send: typeof fetch = (input, init) => {
    order.push(urls.indexOf(String(input)));
    return fetch(input, init);
  };
  const asked = createAsked({ url: urls, fetch: send, clock: () => clock.now, server, testAtStart });
  return { ...asked, clock, order };
}

/** Brings an authenticator into a state of suspension, by its start-up test and, for all at once, a login. */
async function createInState(suspended: readonly boolean[]): Promise<ReturnType<typeof createThree>> {
  const three = createThree(true);
  const all = suspended.every(Boolean);
  setUp(all ? [true, false, false] : suspended.map((each) => !each));
  await three.start();
  if (all) {
    setUp([false, false, false]);
    await three.ask();
  }
  expect(suspendedUrls(three.events)).toEqual(suspendedUrlsOf(suspended));
  takeOrder(three.order);
  three.events.splice(0);
  return three;
}

function suspendedUrls(events: readonly FileEvent[]): readonly string[] {
  return events.map((event) => (event.id === 40042 ? event.data.url : "another event")).sort();
}

function suspendedUrlsOf(flags: readonly boolean[]): readonly string[] {
  return remotes
    .filter((_, index) => flags[index])
    .map(({ url }) => url)
    .sort();
}

/**
 * The rule, written down once more: first the URLs that are not suspended, then the suspended ones, each group in its
 * order. They are asked until one responds. A URL that responded is not suspended afterwards, one that did not is.
 */
function expectOrder(suspended: readonly boolean[], isUp: readonly boolean[]): { order: number[]; after: boolean[] } {
  const ranked = indices.toSorted((a, b) => Number(suspended[a]) - Number(suspended[b]) || a - b);
  const answering = ranked.findIndex((index) => isUp[index]);
  const order = answering === -1 ? ranked : ranked.slice(0, answering + 1);
  const after = indices.map((index) => (order.includes(index) ? !isUp[index] : suspended[index] === true));
  return { order, after };
}

const names = (flags: readonly boolean[]): string =>
  indices
    .filter((index) => flags[index])
    .map((index) => "abc"[index])
    .join("") || "none";

describe.each(subsets.map((flags) => [names(flags), flags] as const))(
  "createHttpAuthenticator with the URLs a, b, c, of which %s are suspended",
  (_names, suspended) => {
    it.each(subsets.map((flags) => [names(flags), flags] as const))(
      "asks in the order of the spec when %s answer (4.7, rules 2 and 3)",
      async (_up, isUp) => {
        const three = await createInState(suspended);
        const expected = expectOrder(suspended, isUp);
        setUp(isUp);
        const last = expected.order.at(-1) ?? -1;
        const { outcome, reason, audit } = await three.ask();
        expect(takeOrder(three.order)).toEqual(expected.order);
        if (isUp[last]) {
          expect([outcome, audit.url]).toEqual(["accepted", remotes[last]?.url]);
        } else {
          expect([outcome, reason]).toEqual(["rejected", "unavailable"]);
          const problems = expected.order.map((index) => `${remotes[index]?.url}: connection closed early`);
          expect(audit).toEqual({ problems });
        }
        const newly = expected.after.map((each, index) => each && !suspended[index]);
        expect(suspendedUrls(three.events)).toEqual(suspendedUrlsOf(newly));

        // The next call shows the state that this one has left.
        setUp([true, true, true]);
        await three.ask();
        expect(takeOrder(three.order)).toEqual(expectOrder(expected.after, [true, true, true]).order);

        // After five minutes nothing is suspended.
        three.clock.now += 300_000;
        await three.ask();
        expect(takeOrder(three.order)).toEqual([0]);
      },
    );
  },
);

describe("createHttpAuthenticator with several URLs", () => {
  it("takes them as a text, separated by commas (4.7)", async () => {
    setUp([false, true, true]);
    const { ask } = createAsked({ url: remotes.map(({ url }) => url).join(" ,\n") });
    expect((await ask()).audit.url).toBe(remotes[1]?.url);
  });

  it.each([200, 204, 301, 401, 403, 404, 408, 500, 502, 503])(
    "takes a %i for a response: no other URL is asked, and none suspended (CONTRACT 9.2)",
    async (status) => {
      setUp([true, true, true]);
      const three = createThree();
      if (remotes[0] !== undefined) remotes[0].answer = answerWith(status);
      await three.ask();
      await three.ask();
      expect(takeOrder(three.order)).toEqual([0, 0]);
      expect([three.events, three.log.entries.filter(({ message }) => message.includes("URL"))]).toEqual([[], []]);
    },
  );

  it.each([
    ["nonsense", answerWith(200, "{")],
    ["an endless body", answerWith(200, Buffer.alloc(1024 * 1024 + 1))],
    ["an encoded body", answerWith(200, "x", { "content-encoding": "gzip" })],
  ])("takes %s for a response, too (CONTRACT 9.2)", async (_what, answer) => {
    setUp([true, true, true]);
    const three = createThree();
    if (remotes[0] !== undefined) remotes[0].answer = answer;
    expect(await three.ask()).toMatchObject({
      outcome: "rejected",
      reason: "failure",
      audit: { url: remotes[0]?.url },
    });
    expect(takeOrder(three.order)).toEqual([0]);
    expect(three.events).toEqual([]);
  });

  it("lets accounts log in if one is down and the other has failed once (CONTRACT 9.2)", async () => {
    const clock = { now: 1_700_000_000_000 };
    const order: string[] = [];
    const works = { a: false, b: false };
    const send: typeof fetch = async (input) => {
      const name = String(input).includes("//a.") ? "a" : "b";
      order.push(name);
      if (works[name]) return new Response(null, { status: 204 });
      throw new TypeError("fetch failed");
    };
    const url = ["https://a.example/", "https://b.example/"];
    const asked = createAsked({ url, fetch: send, clock: () => clock.now });
    expect(await asked.ask()).toMatchObject({ outcome: "rejected", reason: "unavailable" });
    works.b = true;
    clock.now += 1000;
    expect(await asked.ask()).toMatchObject({ outcome: "accepted", audit: { url: url[1] } });
    expect(await asked.ask()).toMatchObject({ outcome: "accepted", audit: { url: url[1] } });
    expect(order.splice(0)).toEqual(["a", "b", "a", "b", "b"]);
    expect(asked.events).toHaveLength(2);
  });

  it("reports a suspension once: in the log, and as event 40042 (4.7, rule 3, CONTRACT 8)", async () => {
    const three = createThree();
    setUp([false, true, true]);
    await three.ask({ creator, content: "SECRET" });
    await three.ask({ creator });
    setUp([false, false, false]);
    await three.ask({ creator });
    await three.ask({ creator });
    const timestamp = { timestamp: 1_700_000_000, iso_8601: "2023-11-14T22:13:20.000Z" };
    const message = "An authentication URL failed and is suspended.";
    const data = remotes.map(({ url }) => ({ url, details: "connection closed early", suspended: 300 }));
    expect(three.events).toStrictEqual(
      data.map((each) => ({ id: 40042, message, timestamp, data: each, component: creator, server })),
    );
    expect(three.log.entries).toEqual(
      data.map((each) => ({ level: "warn", message, details: { ...each, code: expect.any(String) } })),
    );
    expect(three.log.text()).not.toContain("SECRET");
  });

  it("reports the trace of the login that caused it (8)", async () => {
    setUp([false, true, true]);
    const three = createThree();
    await three.ask({ trace });
    expect(three.events).toMatchObject([{ id: 40042, trace }]);
  });

  it("reports it only to the log if there is no listener", async () => {
    const log = createRecordingLogger();
    const send = () => Promise.reject(new Error("fetch failed"));
    const url = "https://a.example/auth";
    const authenticator = createHttpAuthenticator({ url, fetch: send, testAtStart: false, logger: log });
    await authenticator.authenticate(ALICE);
    const message = "An authentication URL failed and is suspended.";
    expect(log.entries).toStrictEqual([
      { level: "warn", message, details: { url, details: "no response", suspended: 300 } },
    ]);
  });

  it("reports it again when a URL fails after its suspension (8)", async () => {
    const three = createThree();
    setUp([false, true, true]);
    await three.ask();
    three.clock.now += 299_999;
    await three.ask();
    expect([takeOrder(three.order), three.events.length]).toEqual([[0, 1, 1], 1]);
    three.clock.now += 1;
    await three.ask();
    expect([takeOrder(three.order), three.events.length]).toEqual([[0, 1], 2]);
  });

  it("ends a suspension early when the URL responds: the next failure is reported again (4.7, rule 3)", async () => {
    setUp([false, true, true]);
    const url = remotes[0]?.url ?? "";
    const asked = createAsked({ url });
    await asked.ask();
    setUp([true, true, true]);
    expect((await asked.ask()).outcome).toBe("accepted");
    setUp([false, true, true]);
    await asked.ask();
    expect(asked.events).toHaveLength(2);
  });

  it("suspends once when several logins fail at the same time (4.7, rule 3)", async () => {
    const three = createThree();
    setUp([false, true, true]);
    const verdicts = await Promise.all(Array.from({ length: 5 }, () => three.ask()));
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(Array(5).fill("accepted"));
    expect(three.events).toHaveLength(1);
  });

  it("suspends for as long as configured, or never (8)", async () => {
    setUp([false, true, true]);
    const urls = remotes.map(({ url }) => url);
    let now = 0;
    const brief = createAsked({ url: urls, suspendSeconds: 0.5, clock: () => now });
    await brief.ask();
    now += 499;
    await brief.ask();
    now += 1;
    await brief.ask();
    expect(brief.events.map((event) => event.data)).toMatchObject([{ suspended: 0.5 }, { suspended: 0.5 }]);
    const never = createAsked({ url: urls, suspendSeconds: 0 });
    await never.ask();
    await never.ask();
    expect(never.events).toEqual([]);
    const entry = {
      message: "An authentication URL failed.",
      details: { url: urls[0], details: "connection closed early" },
    };
    expect(never.log.entries).toMatchObject([entry, entry]);
  });

  it("shows a URL without its query, which may hold a secret, and no error that may quote it", async () => {
    const quoting: typeof fetch = (input) => Promise.reject(new Error(`error sending request for url (${input})`));
    const asked = createAsked({ url: "https://a.example/auth?key=SECRET", fetch: quoting });
    const verdict = await asked.ask();
    expect(verdict.audit.problems).toEqual(["https://a.example/auth: no response"]);
    expect(JSON.stringify([verdict, asked.events]) + asked.log.text()).not.toContain("SECRET");
  });

  it("survives a log and a sink of events that throw", async () => {
    setUp([false, false, true]);
    const wrong = (): never => {
      throw new Error("full");
    };
    const logger = { info: wrong, warn: wrong, error: wrong };
    const asked = createAsked({ url: remotes.map(({ url }) => url), logger, onEvent: wrong });
    expect((await asked.ask()).outcome).toBe("accepted");
  });
});

describe("createSuspensions", () => {
  it("does not suspend for ever when the clock is put back", () => {
    let now = 1_000_000_000;
    const { suspend, isSuspended } = createSuspensions<string>({ suspendSeconds: 300, clock: () => now });
    expect([suspend("a"), isSuspended("a"), isSuspended("b")]).toEqual([true, true, false]);
    now -= 900_000_000;
    expect(isSuspended("a")).toBe(true);
    now += 300_000;
    expect(isSuspended("a")).toBe(false);
  });
});

describe("askInTurn with createSuspensions", () => {
  it("does what the spec words in every history of failures and time (4.7, rules 2 and 3)", async () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 400 }),
      isUp: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        let now = 0;
        const suspensions = createSuspensions<number>({ suspendSeconds: 300, clock: () => now * 1000 });
        const until = [0, 0, 0];
        for (const { wait, isUp } of steps) {
          now += wait;
          const order: number[] = [];
          const suspended = until.map((end) => end > now);
          await askInOrder(indices, suspensions.isSuspended, async (index) => {
            order.push(index);
            if (isUp[index]) suspensions.lift(index);
            else suspensions.suspend(index);
            return { responded: isUp[index] === true };
          });
          const expected = expectOrder(suspended, isUp);
          expect(order).toEqual(expected.order);
          for (const index of expected.order) {
            if (isUp[index]) until[index] = 0;
            else if (!suspended[index]) until[index] = now + 300;
          }
          expect(indices.map(suspensions.isSuspended)).toEqual(expected.after);
        }
      }),
      { numRuns: 300 },
    );
  });
});
