import { isHttpError } from "../../../src/http/http-error.ts";
import { parseDepth } from "../../../src/webdav/depth.ts";
import { parseDestination } from "../../../src/webdav/destination.ts";
import {
  evaluateIf,
  type IfCondition,
  type IfList,
  parseIf,
  resourcesOf,
  tokensOf,
} from "../../../src/webdav/if-header.ts";
import { isStateToken, parseLockToken } from "../../../src/webdav/lock-token.ts";
import { parseOcMtime } from "../../../src/webdav/oc-mtime.ts";
import { mayOverwrite } from "../../../src/webdav/overwrite.ts";
import { parseReference } from "../../../src/webdav/reference.ts";
import { parseTimeout } from "../../../src/webdav/timeout.ts";
import { asHeaders, expect, expectSame, type FuzzTarget, readFields } from "../target.ts";

const OWN = { host: "files.example:8080", publicOrigin: "https://public.example" };
const OWN_NAMES = ["files.example", "public.example"];
const MAX_SECONDS = 3600;

/** Lines of the fields of WebDAV. */
export const target: FuzzTarget = {
  sources: [
    "webdav/if-header.ts",
    "webdav/lock-token.ts",
    "webdav/reference.ts",
    "webdav/destination.ts",
    "webdav/timeout.ts",
    "webdav/oc-mtime.ts",
    "webdav/depth.ts",
    "webdav/overwrite.ts",
  ],
  dictionary: [
    "If: ",
    "(<opaquelocktoken:1>)",
    "(Not <DAV:no-lock>)",
    '(["a-1"])',
    '([W/"a-1"])',
    "</home/a> (<urn:1>)",
    "<http://files.example/home/a> ",
    "Not ",
    "NOT",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    '"',
    "Destination: ",
    "https://public.example/home/a",
    "http://files.example:8080/",
    "http://alice@files.example/",
    "//files.example/",
    "/home/%2e%2e/",
    "/../",
    "[::1]",
    "?",
    "#",
    "\\",
    "Lock-Token: <opaquelocktoken:1>",
    "Timeout: Second-600",
    "Infinite",
    ", ",
    "X-OC-Mtime: 1778000000.5",
    "Depth: infinity",
    "Overwrite: F",
  ],
  separators: ["(", ")", "<", ">", " ", "\n", ",", "/"],
  maxLength: 16 * 1024,
  run,
};

function run(input: string): string {
  const headers = asHeaders(readFields(input));
  const readers = [conditions, destination, lockToken, timeout, modified, depth, overwrite];
  return readers.map((read) => orRefusal(() => read(headers))).join();
}

/** What a reader found, or the code of its refusal. */
function orRefusal(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (!isHttpError(error)) throw error;
    expect(error.code !== error.failure, "a refusal has a code of its own");
    return error.code;
  }
}

function conditions(headers: Headers): string {
  const lists = parseIf(headers);
  if (lists === undefined) return "none";
  const value = headers.get("if") ?? "";
  const all = lists.flatMap((list) => list.conditions);
  expect(all.length > 0 && all.length <= 100 && value.length <= 8192, "there are some conditions, and not too many");
  expect(
    lists.every((list) => list.conditions.length > 0),
    "a list has a condition",
  );
  expect(
    lists.every((list) => (list.resource === undefined) === (lists[0]?.resource === undefined)),
    "tags are on all lists, or on none",
  );
  for (const token of tokensOf(lists)) expect(isStateToken(token) && value.includes(`<${token}>`), "a token is one");
  for (const resource of resourcesOf(lists)) {
    if (resource === undefined) continue;
    expect(value.includes(`<${resource}>`), "a tag is there as it is");
    parseReference(resource, OWN);
  }
  expectSame(
    parseIf(asHeaders(new Map([["if", lists.map(write).join("")]]))),
    lists,
    "what is written again is the same",
  );
  const negated = lists.some((list) => list.conditions.every((one) => one.isNegated));
  expect(evaluateIf(lists, () => undefined) === negated, "nothing has a state where nothing is");
  expect(!evaluateIf(lists, () => "elsewhere"), "nothing holds elsewhere");
  const holds = evaluateIf(lists, () => ({ tokens: tokensOf(lists), etag: '"a-1"' }));
  return `${Math.min(lists.length, 5)} ${Math.min(all.length, 9)} ${negated} ${holds}`;
}

/** Without a blank that is not needed. */
function write({ resource, conditions }: IfList): string {
  const tag = resource === undefined ? "" : `<${resource}>`;
  return `${tag}(${conditions.map(writeCondition).join("")})`;
}

function writeCondition({ kind, value, isNegated }: IfCondition): string {
  return `${isNegated ? "Not" : ""}${kind === "token" ? `<${value}>` : `[${value}]`}`;
}

function destination(headers: Headers): string {
  const { path, query, isMalformed } = parseDestination(headers, OWN);
  expect(path.startsWith("/") && query === "" && !isMalformed, "a destination is a path");
  expect(!path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)), "which leads nowhere else");
  const value = headers.get("destination") ?? "";
  expect(value.endsWith(path) || path === "/", "and stands in the header");
  if (/^https?:/i.test(value)) expect(OWN_NAMES.includes(new URL(value).hostname), "on a host of the service");
  return `to ${path.split("/").length}`;
}

function lockToken(headers: Headers): string {
  const token = parseLockToken(headers);
  if (token === undefined) return "no token";
  expect(isStateToken(token) && !/[<>\s]/.test(token), "a token is a URI");
  return "token";
}

function timeout(headers: Headers): string {
  const seconds = parseTimeout(headers, MAX_SECONDS);
  expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= MAX_SECONDS, "a lock has a time");
  return seconds === MAX_SECONDS ? "longest" : "shorter";
}

function modified(headers: Headers): string {
  const date = parseOcMtime(headers);
  if (date === undefined) return "no time";
  expect(/^\w{3}, \d{2} \w{3} \d{4} /.test(date.toUTCString()), "a time can be sent");
  return "time";
}

function depth(headers: Headers): string {
  const found = [parseDepth("PROPFIND", headers), orRefusal(() => parseDepth("COPY", headers))];
  expect(["0", "1", "infinity"].includes(found[0] ?? ""), "a depth is one of three");
  return found.join(" ");
}

function overwrite(headers: Headers): string {
  return String(mayOverwrite(headers));
}
