import { Request as LightRequest } from "@whatwg-node/fetch";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { basic, createTestService, readAnswer } from "../support/service.ts";
import { amount } from "../support/trust.ts";

const RUNS = amount({ short: 600, long: 3000 });

const method = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("GET", "HEAD", "PUT", "POST", "DELETE", "MKCOL", "OPTIONS") },
  {
    weight: 2,
    arbitrary: fc.constantFrom("PATCH", "PROPFIND", "TRACE", "CONNECT", "LOCK", "get", "__proto__", "constructor"),
  },
  { weight: 1, arbitrary: fc.string() },
);

const piece = fc.oneof(
  fc.constantFrom(
    "/",
    "//",
    ".",
    "..",
    "%2e",
    "%2f",
    "%5c",
    "\\",
    "%00",
    "%",
    "%ff",
    "%c0%af",
    "?",
    "#",
    "&",
    "=",
    ";",
  ),
  fc.constantFrom(
    "home",
    "home/",
    "__svc__",
    "login",
    "logout",
    "a",
    "f",
    "f/",
    "missing",
    "*",
    ":",
    "@",
    "http://x",
    " ",
  ),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

const target = fc.oneof(
  fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`),
  fc.array(piece, { maxLength: 8 }).map((pieces) => `/home/${pieces.join("")}`),
  fc.constantFrom(
    "*",
    "",
    "/home/",
    "/home/a",
    "/home/f/",
    "/__svc__/login",
    "/__svc__/logout",
    `/home/${"a/".repeat(5000)}`,
  ),
  fc.string({ unit: "binary" }),
);

const host = fc.oneof(
  fc.constantFrom(
    "files.example",
    "[::1]:80",
    "",
    "a b",
    "[",
    "%",
    "files.example:99999",
    "\u0000",
    "evil/../x",
    "x@y",
  ),
  fc.string({ maxLength: 20 }),
);

const value = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom(
    "*",
    "application/json",
    "text/html",
    "multipart/form-data",
    "application/x-www-form-urlencoded",
    "bytes=0-1",
    "bytes=-",
    "Mon, 06 May 2024 07:08:09 GMT",
    "Mon, 99 May 2024 99:99:99 GMT",
    '"x"',
    'W/"',
    "0",
    "-1",
    "1e9",
    "NaN",
    "null",
    "SVC_HTTP_SESSION=%ff",
    "__proto__=1",
    "session ",
    "Basic Og==",
    ",;=q=",
    "a/b;q=9".repeat(500),
  ),
);

const names = [
  "accept",
  "content-type",
  "content-length",
  "content-range",
  "content-encoding",
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "authorization",
  "cookie",
  "origin",
  "referer",
  "sec-fetch-site",
  "host",
  "expect",
  "x-forwarded-for",
  "constructor",
  "__proto__",
];
const headers = fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 6 });

const body = fc.option(
  fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map((text) => new TextEncoder().encode(text)),
    fc.constant(new TextEncoder().encode('{"commands":[{"command":"delete","target":"a"}]}')),
    fc.constant(new TextEncoder().encode("username=alice&password=secret")),
  ),
);

interface Shot {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | null;
  readonly isLoggedIn: boolean;
}

const shot: fc.Arbitrary<Shot> = fc
  .record({ method, target, host, headers, body, isLoggedIn: fc.boolean(), scheme: fc.constantFrom("http", "https") })
  .map(({ target, host, scheme, ...rest }) => ({ ...rest, url: `${scheme}://${host}${target}` }));

/** Hardly any random request is 200 or 401. */
const DOWNLOAD: Shot = { method: "GET", url: "http://files.test/home/a", headers: {}, body: null, isLoggedIn: true };

function toInit({ method, headers, body, isLoggedIn }: Shot): RequestInit {
  const credentials = isLoggedIn ? { authorization: basic("alice", "secret") } : {};
  const content = body === null || method === "GET" || method === "HEAD" ? {} : { body: body as BodyInit };
  return { method, headers: { ...headers, ...credentials }, ...content };
}

/** Whether a request can be made at all: what the platform refuses never comes to the service. */
function tryRequest(requestClass: typeof Request, sent: Shot): Request | undefined {
  try {
    return new requestClass(sent.url, toInit(sent));
  } catch {
    return undefined;
  }
}

describe.each([
  ["the light Request, whose URL is any text", LightRequest, RUNS],
  ["the platform's Request", Request, RUNS / 2],
] as const)("with %s, whatever is asked", (_what, requestClass, numRuns) => {
  it("gets an answer, never a rejection, and never a 5xx but 501 (SECURITY 11)", async () => {
    const { service, log } = await createTestService({ files: { "/alice/a": "x", "/alice/f/b": "x" } });
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(shot, fc.constantFrom("fetch", "rest", "webdav", "browser"), async (sent, api) => {
        const request = tryRequest(requestClass, sent);
        fc.pre(request !== undefined);
        const answer = await readAnswer(await service[api](request));
        seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
        expect(answer.status < 500 || answer.status === 501).toBe(true);
        expect(answer.header("server")).toMatch(/^fileferry\//);
        // What a server could not write on the wire (RFC 9110 5.5).
        for (const [name, text] of answer.headers) expect(`${name}: ${text}`).toMatch(/^[\t -~]*$/);
        if (request.method === "HEAD") expect(answer.bytes).toHaveLength(0);
        expect(typeof service.handles(request)).toBe("boolean");
      }),
      {
        numRuns,
        maxSkipsPerRun: 1000,
        examples: [
          [DOWNLOAD, "fetch"],
          [{ ...DOWNLOAD, isLoggedIn: false }, "fetch"],
        ],
      },
    );
    expect(log.entries.filter(({ level }) => level === "error")).toEqual([]);
    // The shots are of no use if they all miss.
    expect([...seen.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 501]));
  });
});

describe("an upload that goes wrong at any place", () => {
  it("gets an answer and leaves the former content, or the new one whole (CONTRACT 4.1, SECURITY 11)", async () => {
    const { call, stored } = await createTestService({ files: { "/alice/a": "former" } });
    const upload = fc.record({
      chunks: fc.array(fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 20 }), { maxLength: 6 }),
      isBroken: fc.boolean(),
      announced: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(upload, async ({ chunks, isBroken, announced }) => {
        const former = await stored("/alice/a");
        const whole = chunks.join("");
        const left = chunks.map((chunk) => new TextEncoder().encode(chunk));
        const stream = new ReadableStream<Uint8Array>({
          pull(controller) {
            const chunk = left.shift();
            if (chunk !== undefined) controller.enqueue(chunk);
            else if (isBroken) controller.error(new Error("gone"));
            else controller.close();
          },
        });
        const headers: Record<string, string> = announced === undefined ? {} : { "content-length": String(announced) };
        const isGood = !isBroken && (announced === undefined || announced === whole.length);
        const { status } = await call("PUT", "/home/a", { body: stream, headers });
        expect(status).toBe(isGood ? 201 : 400);
        expect(await stored("/alice/a")).toBe(isGood ? whole : former);
      }),
      { numRuns: amount({ short: 100, long: 500 }) },
    );
  });
});
