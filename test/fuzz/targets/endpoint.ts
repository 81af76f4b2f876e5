import { inspect } from "node:util";
import { Request } from "@whatwg-node/fetch";
import type { EndpointAuthorization } from "../../../src/remote-auth/endpoint/authorization.ts";
import { type AuthenticationEndpoint, createAuthenticationEndpoint } from "../../../src/remote-auth/endpoint.ts";
import type { AuthenticationRequest } from "../../../src/schemas/remote-auth.ts";
import type { Random } from "../random.ts";
import { cutLine, decodeStrictly, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";
import { varyJson } from "../vary-json.ts";

const STATUSES = [204, 400, 401, 403, 405, 413, 415, 503];
const TYPES = ["password", "ssh-key", "ssl-certificate"];

const reports: unknown[] = [];
let judged: AuthenticationRequest | undefined;
const BASIC = `Basic ${Buffer.from("service:secret").toString("base64")}`;
const byHeader = createEndpoint({ header: "X-Key", value: "let me in" });
const byPassword = createEndpoint({ username: "service", password: "secret" });

function createEndpoint(authorize: EndpointAuthorization): AuthenticationEndpoint {
  return createAuthenticationEndpoint({
    authorize,
    authenticate: (request, { accept, unknown, reject }) => {
      judged = request;
      const { username, content } = request.credentials;
      if (username.startsWith("t")) throw new Error(`The directory is down: ${content}`);
      if (username.startsWith("u")) return unknown(username);
      return username.startsWith("r") ? reject({ message: username }) : accept();
    },
    logger: { info: () => undefined, warn: () => undefined, error: (details) => void reports.push(details) },
  });
}

/**
 * What asks an authentication endpoint of ours: a line with method, key, `Content-Type` and `Content-Encoding`, cut by
 * `|`, and a body.
 */
export const target: FuzzTarget = {
  sources: ["remote-auth/endpoint.ts", "remote-auth/endpoint/authorization.ts", "http/request-body.ts"],
  dictionary: [
    "POST|let me in|application/json|",
    "POST|let me in|application/json; charset=utf-8|identity",
    `POST|${BASIC}|application/json|`,
    "Basic ",
    '{"credentials":{},"server":{}}',
    '"type":"password"',
    '"type":"ssh-key"',
    '"username":""',
    '"username":"unknown"',
    '"username":"rejected"',
    '"username":"thrown"',
    '"content":"x"',
    '"peer":{"address":"::1","port":0,"family":"IPv6","protocol":"TCP"}',
    '"creator":{"uuid":"00000000-0000-0000-0000-000000000000","type":"http"}',
    '"port":65536',
    '"__proto__":{}',
    "\\ud800",
    "null",
    ",",
    "{",
    "}",
    "|",
  ],
  separators: [",", "|", "{", ":", '"'],
  maxLength: 256 * 1024,
  run,
  vary,
};

async function run(input: string): Promise<string> {
  const [line, body] = cutLine(input);
  const [method = "", key = "", type = "", encoding = ""] = line.split("|");
  if (!/^[A-Z]+$/.test(method) || method === "GET" || method === "HEAD") return "no request";
  const isBasic = /^basic/i.test(key);
  const headers = {
    [isBasic ? "authorization" : "x-key"]: key,
    "content-type": type,
    ...(encoding !== "" && { "content-encoding": encoding }),
  };
  reports.length = 0;
  judged = undefined as AuthenticationRequest | undefined;
  const endpoint = isBasic ? byPassword : byHeader;
  const { status } = await endpoint(new Request("http://auth.example/", { method, headers, body: toBytes(body) }));
  expect(STATUSES.includes(status), `a request is judged or refused, not ${status}`);
  if (judged === undefined) {
    expectSame(reports, [], "nothing of a request is a failure of the endpoint");
    expect(![204, 403, 503].includes(status), "what is not judged is not answered so");
  } else {
    const { content } = judged.credentials;
    expect(content.length < 12 || !inspect(reports, { depth: 9 }).includes(content), "no secret is reported");
    expect((status === 204) === /^[^tur]/su.test(judged.credentials.username), "what is judged is answered so");
    expect(method === "POST" && isKey(key), "only who is authorized has anything judged");
    expectJudged(judged, JSON.parse(decodeStrictly(toBytes(body))?.replace(/^\ufeff/, "") ?? ""));
  }
  return `${status}`;
}

function isKey(key: string): boolean {
  return key.trim() === "let me in" || atob(/^basic +([\w+/=]+) *$/i.exec(key)?.[1] ?? "") === "service:secret";
}

/** What comes to be judged has what it must have, as it was sent, and no more. */
function expectJudged(
  { credentials, server }: AuthenticationRequest,
  sent: { readonly credentials: AuthenticationRequest["credentials"] },
): void {
  const { type, username, content, peer, creator } = credentials;
  expect(TYPES.includes(type), "its type is known");
  expect(username !== "" && content !== "" && !/\p{Surrogate}/u.test(username + content), "it has a name and a secret");
  expect(peer.port >= 0 && peer.port <= 65_535 && peer.address !== "", "and a peer");
  expectSame(Object.keys(credentials).sort(), ["content", "creator", "peer", "type", "username"], "and no more");
  expectSame([Object.keys(server), Object.keys(creator).sort()], [["uuid"], ["type", "uuid"]], "nor have its members");
  expectSame(
    [type, username, content],
    [sent.credentials.type, sent.credentials.username, sent.credentials.content],
    "as sent",
  );
}

function vary(random: Random, input: string, other: string): string {
  const [line, body] = cutLine(input);
  return `${line}\n${varyJson(random, body, cutLine(other)[1])}`;
}
