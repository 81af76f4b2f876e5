import { isIP } from "node:net";
import { parseAuthorization } from "../../../src/http/authorization.ts";
import { createSessionCookie, DEFAULT_COOKIE_NAME } from "../../../src/http/cookie.ts";
import { readForwardedClient } from "../../../src/http/forwarded.ts";
import { isSameOrigin } from "../../../src/http/origins/same-origin.ts";
import { readTrace } from "../../../src/http/trace-context.ts";
import type { Random } from "../random.ts";
import { asHeaders, decodeStrictly, expect, expectSame, type FuzzTarget, readFields } from "../target.ts";

const COOKIE = "SVC_HTTP_SESSION";
const PUBLIC = "https://files.example";
const ACCEPTED = "https://app.example";

/** Lines of the fields that say who asks, and from where. */
export const target: FuzzTarget = {
  sources: [
    "http/authorization.ts",
    "http/cookie.ts",
    "http/forwarded.ts",
    "http/origins/same-origin.ts",
    "http/trace-context.ts",
  ],
  dictionary: [
    "Authorization: Basic YWxpY2U6c2VjcmV0",
    "Authorization: session ",
    "Basic ",
    "session",
    "bearer",
    "YTpi",
    "Og==",
    "=",
    `Cookie: ${COOKIE}=`,
    `${COOKIE}=`,
    "; ",
    ";",
    "%",
    "Forwarded: for=",
    'for="[2001:db8::1]:443"',
    "for=192.0.2.1",
    "X-Forwarded-For: ",
    "192.0.2.43:8080",
    "[::1]",
    "::ffff:192.0.2.1",
    "2001:DB8:0:0::1",
    "unknown",
    "_hidden",
    "Origin: ",
    "Referer: ",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Site: cross-site",
    "Host: files.example",
    "http://files.example",
    PUBLIC,
    ACCEPTED,
    "https://evil.example",
    "@",
    ":443",
    "null",
    "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate: a=b",
    '"',
    "\\",
  ],
  separators: ["\n", ";", ",", ":", " ", "=", "."],
  maxLength: 16 * 1024,
  run,
  vary,
};

function run(input: string): string {
  const fields = readFields(input);
  const headers = asHeaders(fields);
  const session = createSessionCookie(DEFAULT_COOKIE_NAME, "/").read(headers);
  expect(session === plainCookie(fields.get("cookie") ?? ""), "a session is the only cookie of its name");
  const clients = ["forwarded", "x-forwarded-for"].map((name) => expectClient(headers, name));
  const trace = readTrace(headers);
  if (trace !== undefined) expect(/^[!-~]+$/.test(trace.traceparent), "a trace goes into a header as it is");
  return [
    authorize(fields.get("authorization")),
    session !== undefined,
    ...clients,
    origin(fields),
    trace !== undefined,
  ].join();
}

function authorize(value: string | undefined): string {
  const found = parseAuthorization(value ?? null);
  if (found === undefined) return "none";
  if (found.scheme === "session") {
    expect(/^[!-~]+$/.test(found.id) && value?.includes(found.id) === true, "a session's ID stands in its field");
  }
  if (found.scheme !== "basic") return found.scheme;
  const { username, password } = found;
  expect(!username.includes(":") && !hasControl(username + password), "names and passwords have no control characters");
  const token = /^\S+ +(\S+) *$/.exec(value ?? "")?.[1] ?? "";
  const text = decodeStrictly(Buffer.from(token, "base64"));
  expect(text === `${username}:${password}`, "a second reader finds the same name and password");
  const again = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  expectSame(parseAuthorization(again), found, "what is written again is the same");
  return `basic ${username === ""} ${password === ""}`;
}

/** By RFC 7617 2; those of C1 are none of ASCII. */
function hasControl(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\x7f");
}

/** The value of the only cookie of the name, unless it is empty. */
function plainCookie(header: string): string | undefined {
  const values: string[] = [];
  for (const pair of header.split(";")) {
    const mark = pair.indexOf("=");
    if (mark >= 0 && trim(pair.slice(0, mark)) === COOKIE) values.push(trim(pair.slice(mark + 1)));
  }
  const [value] = values;
  return values.length === 1 && value !== undefined ? (decode(value) ?? value) || undefined : undefined;
}

/** Without the blanks that HTTP knows. */
function trim(text: string): string {
  return text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** An address is one, and in a spelling that is its only one. */
function expectClient(headers: Headers, name: string): string {
  const client = readForwardedClient(headers, name);
  if (client === undefined) return "no client";
  const { address, port, family } = client;
  expect(isIP(address) === (family === "IPv4" ? 4 : 6), "a client has an address");
  expect(Number.isInteger(port) && port >= 0 && port <= 65_535, "and a port");
  const node = family === "IPv4" ? `${address}:${port}` : `[${address}]:${port}`;
  const again = readForwardedClient(asHeaders(new Map([["x-forwarded-for", node]])), "X-Forwarded-For");
  expectSame(again, client, "which is the same written again");
  return `${family} ${port > 0}`;
}

/** Checks that no page of another site counts as one of ours. */
function origin(fields: ReadonlyMap<string, string>): string {
  const headers = asHeaders(fields);
  const request = { url: "http://files.example/home/", headers } as unknown as Request;
  const found = ["", PUBLIC].map((publicOrigin) =>
    isSameOrigin({ request, connection: {} }, { acceptedOrigins: [ACCEPTED], publicOrigin }),
  );
  const [source, site] = [fields.get("origin"), fields.get("sec-fetch-site")];
  if (found.includes(true) && source !== ACCEPTED) {
    expect(site === undefined || site === "same-origin" || site === "none", "another site is none of ours");
  }
  if (source !== undefined && source !== ACCEPTED && site === undefined && found[1]) {
    expect(new URL(source).origin === PUBLIC, "an origin is compared whole");
  }
  return found.join();
}

/** Changes what stands in Base64, which changes of its letters hardly do. */
function vary(random: Random, input: string): string {
  return input.replace(/(?<=Basic )[\w+/=]+/i, (token) => {
    const text = Buffer.from(token, "base64").toString("latin1");
    const at = random.below(text.length + 1);
    const piece = random.pick([":", "\0", "\n", "\xc3\xa4", "\xff", "\x7f", "", "a", "::", "\xef\xbb\xbf"]);
    return Buffer.from(text.slice(0, at) + piece + text.slice(at + random.below(3)), "latin1").toString("base64");
  });
}
