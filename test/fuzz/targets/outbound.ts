import { toAccount } from "../../../src/account/account.ts";
import { type AccountSettings, PERMISSION_VALUES } from "../../../src/contracts/account.ts";
import { sendRequest } from "../../../src/outbound/send-request.ts";
import { toVerdict } from "../../../src/remote-auth/authenticator/verdict.ts";
import { createOutcomeRecorder } from "../../../src/remote-auth/endpoint/outcome.ts";
import { createRandom, type Random, seedOf } from "../random.ts";
import { asHeaders, decodeStrictly, expect, expectSame, type FuzzTarget, readFields, toBytes } from "../target.ts";
import { varyJson } from "../vary-json.ts";

const URL_OF_ENDPOINT = { href: "https://auth.example/", shown: "https://auth.example/", inClear: false };
/** Stands for the account's name in paths and expressions. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const USER = "${USER}";
const ACCOUNT =
  '{"account":{"home_folder_path":"/srv/home","uuid":"u","email":"a@example.com","create_home_folder":true,"permissions":[["allow-read"],["/in/*","allow-write"]],"virtual_folders":[["/v","/srv/v"]],"home_folder_structure":["a/b"]}}';

/** A line with the status of an authentication endpoint's answer, its fields, an empty line, and its body. */
export const target: FuzzTarget = {
  sources: [
    "outbound/send-request.ts",
    "remote-auth/authenticator/verdict.ts",
    "remote-auth/json-body.ts",
    "remote-auth/endpoint/outcome.ts",
    "http/bounded-json.ts",
    "schemas/account.ts",
    "schemas/remote-auth.ts",
    "account/account.ts",
    "account/permissions.ts",
    "account/path-expression.ts",
    "account/literal-glob.ts",
  ],
  dictionary: [
    "200\ncontent-type: application/json\n\n",
    "204\n\n",
    "401\nwww-authenticate: Basic\n\n",
    "403\ncontent-type: application/json\n\n",
    "503\nretry-after: 1\n\n",
    "0\n\n",
    "content-encoding: gzip\n",
    "content-encoding: identity\n",
    "content-type: application/json; charset=utf-8\n",
    '; charset="latin1"',
    ACCOUNT,
    '"account":{}',
    '"home_folder_path":"/x"',
    '"virtual_folders":[["/a","/b"]]',
    '"home_folder_structure":["a","../b"]',
    '"permissions":[["allow-full-control"],["m/^x(a|b)*$/i","deny-full-control"]]',
    '"g/[a-z]* | !x?/"',
    '"e/(a?){9}/"',
    '"max_file_bytes":1',
    '"allow_links":false',
    '"group":"DEFAULT_GROUP"',
    '{"code":1,"message":"no","extra":{"a":[]},"public_response":{"b":1}}',
    '"extra":{"__proto__":{"a":1}}',
    '"__proto__":{"a":1}',
    '"constructor":1',
    USER,
    "/__svc__",
    "..",
    "\\\\",
    "\\ud800",
    "\\u0000",
    "null",
    "*",
    "(",
    "[",
    "{1000}",
    ",",
  ],
  separators: [",", "\n", "[", "{", '"', "/"],
  maxLength: 256 * 1024,
  run,
  vary,
};

function cutAnswer(input: string): readonly [head: string, body: string] {
  const end = input.indexOf("\n\n");
  return end < 0 ? [input, ""] : [input.slice(0, end), input.slice(end + 2)];
}

async function run(input: string): Promise<string> {
  const [head, body] = cutAnswer(input);
  const status = Number(/^\d{1,3}/.exec(head)?.[0] ?? 200);
  const fields = readFields(head);
  const outcome = await sendRequest(URL_OF_ENDPOINT, new Uint8Array(), {
    fetch: async () => respond(status, fields, body),
    headers: [],
    timeoutSeconds: 60,
  });
  expect(outcome.responded, "an answer is one, whatever it holds");
  const { audit, ...verdict } = toVerdict(outcome);
  const told = JSON.stringify([audit, verdict]);
  expect(!told.includes('"__proto__":'), "no key that changes objects is handed on");
  const expected = { 204: "accepted", 200: "accepted", 401: "unknown" }[status] ?? "rejected";
  expect(verdict.outcome === expected || verdict.outcome === "rejected", `a ${status} is ${expected} or rejected`);
  const message = "message" in verdict ? (verdict.message ?? "") : "";
  expect(message.length <= 1000 && !/\p{Surrogate}/u.test(message), "a message is short, and text");
  if (verdict.outcome === "accepted") expectAccepted(status, fields, body, verdict.account);
  const made = verdict.outcome === "accepted" ? make(verdict.account) : "";
  const problem = audit.problems?.[0]?.split(": ").at(-1) ?? "";
  return `${expected} ${verdict.outcome} ${problem.replace(/\d+/g, "")} ${made}`;
}

/** As a fetch would hand it over, in chunks. */
function respond(status: number, fields: ReadonlyMap<string, string>, body: string): Response {
  const random = createRandom(seedOf(body));
  const bytes = toBytes(body);
  let at = 0;
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      const length = 1 + random.below(bytes.byteLength < 2000 ? 400 : 40_000);
      controller.enqueue(bytes.subarray(at, at + length));
      at += length;
    },
  });
  return { status, headers: asHeaders(fields), body: stream } as unknown as Response;
}

/** Checks that an answer only accepts a user if a simple reader understands all of it. */
function expectAccepted(
  status: number,
  fields: ReadonlyMap<string, string>,
  body: string,
  account: AccountSettings,
): void {
  if (status === 204) {
    expectSame(account, {}, "a 204 has no settings");
    return;
  }
  const codings = (fields.get("content-encoding") ?? "").split(",");
  expect(
    codings.every((coding) => ["", "identity"].includes(coding.trim().toLowerCase())),
    "an encoded answer lets nobody in",
  );
  if (body === "") {
    expectSame(account, {}, "an empty answer has no settings");
    return;
  }
  const type = (fields.get("content-type") ?? "").toLowerCase();
  expect(/^\s*application\/json\s*(;|$)/.test(type), "an answer that lets somebody in is JSON");
  const text = decodeStrictly(toBytes(body));
  expect(text !== undefined && !text.startsWith("\ufeff"), "and UTF-8");
  let hasPrototype = false;
  const root = JSON.parse(text, (key, value) => {
    if (key === "__proto__") hasPrototype = true;
    return value;
  });
  expect(!hasPrototype, "and has no key that changes objects");
  expect(isObject(root) && Object.keys(root).every((key) => key === "account"), "and nothing beside the account");
  expectSame(account, (root as { account?: unknown }).account ?? {}, "whose settings are those of the answer");
  for (const [key, value] of Object.entries(account)) expect(isSetting(key, value), `and ${key} is as it must be`);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What a member may be, in plain words (2.4). */
function isSetting(key: string, value: unknown): boolean {
  const isText = typeof value === "string";
  const isList = (one: unknown): one is unknown[] => Array.isArray(one);
  switch (key) {
    case "home_folder_path":
      return isText && isPath(value, true);
    case "email":
      return isText;
    case "uuid":
    case "group":
    case "create_home_folder_owner":
    case "create_home_folder_group":
      return isText && value !== "";
    case "create_home_folder":
      return typeof value === "boolean";
    case "home_folder_structure":
      return isList(value) && value.every((path) => typeof path === "string" && isPath(path, false));
    case "virtual_folders":
      return (
        isList(value) &&
        value.every((pair) => isList(pair) && pair.length === 2 && pair.every((path) => isPath(path, true)))
      );
    case "permissions":
      return isList(value) && value.every((rule, index) => isList(rule) && isRule(rule, index > 0));
    default:
      return false;
  }
}

function isRule(rule: readonly unknown[], hasPath: boolean): boolean {
  const values = hasPath ? rule.slice(1) : rule;
  const isKnown = values.every((value) => (PERMISSION_VALUES as readonly unknown[]).includes(value));
  return isKnown && (!hasPath || (typeof rule[0] === "string" && values.length > 0));
}

function isPath(path: unknown, isAbsolute: boolean): boolean {
  if (typeof path !== "string" || /[\\\p{Cc}]/u.test(path)) return false;
  if (isAbsolute && path === "/") return true;
  const segments = path.startsWith("/") ? path.slice(1).split("/") : path.split("/");
  return (
    (!isAbsolute || path.startsWith("/")) && !segments.some((name) => name === "" || name === "." || name === "..")
  );
}

/** The account that comes of it, or its refusal; and the same settings on their way from an endpoint of ours. */
function make(settings: AccountSettings): string {
  const { outcomes, toResponse: toAnswer } = createOutcomeRecorder();
  const answer = toAnswer(outcomes.accept(settings));
  if (answer !== undefined && "content" in answer) {
    const sent = {
      responded: true,
      url: URL_OF_ENDPOINT,
      status: 200,
      contentType: "application/json",
      retryAfter: null,
      challenged: false,
    } as const;
    const verdict = toVerdict({ ...sent, body: { bytes: answer.content } });
    expectSame(
      verdict.outcome === "accepted" && verdict.account,
      settings,
      "settings come through an endpoint as they are",
    );
  }
  try {
    const { home, virtualFolders, structure, permissions } = toAccount("al/ice", settings, new Map());
    const paths = [home, ...structure, ...virtualFolders.flatMap(({ virtual, real }) => [virtual, real])];
    const isName = (name: string) => name !== "" && name !== "." && name !== ".." && !/[/\\\p{Cc}]/u.test(name);
    expect(paths.flat().every(isName), "each path of an account has names");
    for (const path of ["/", "/in/a.txt", `/${"a/".repeat(100)}b`]) permissions.allows(path, "read");
    return "account";
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return "no account";
  }
}

function vary(random: Random, input: string, other: string): string {
  const [head, body] = cutAnswer(input);
  return `${head}\n\n${varyJson(random, body, cutAnswer(other)[1])}`;
}
