import { Request } from "@whatwg-node/fetch";
import { toPathSegments } from "../../../src/contracts/storage-path.ts";
import { createFuzzEnvironment } from "../environment.ts";
import type { Random } from "../random.ts";
import { cutLine, decodeStrictly, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";
import { varyJson } from "../vary-json.ts";

const environment = createFuzzEnvironment();
const BASIC = `Basic ${Buffer.from("alice:secret").toString("base64")}`;
const COMMANDS = "POST /home/f/";
const PLACES = ["/__svc__/login", "/home/__svc__/password-update"];
/** What the folder has at the beginning of each input: names, and whether each is a folder's. */
const MEMBERS: ReadonlyMap<string, boolean> = new Map([
  ["a.txt", false],
  ["sub", true],
  ["b c", true],
]);

/** A line with method, path and content type, and a body of JSON or of a form. */
export const target: FuzzTarget = {
  sources: [
    "endpoints/folders/post-commands.ts",
    "endpoints/folders/member-outcomes.ts",
    "endpoints/folders/run-trigger.ts",
    "endpoints/login/login.ts",
    "endpoints/login/password-update.ts",
    "http/request-body.ts",
    "schemas/commands.ts",
    "schemas/login.ts",
    "schemas/password-update.ts",
  ],
  dictionary: [
    `${COMMANDS} application/json`,
    "POST /home/missing/ application/json",
    "POST /__svc__/login application/json",
    "POST /__svc__/login application/x-www-form-urlencoded",
    "POST /home/__svc__/password-update application/json",
    "POST /home/__svc__/password-update application/x-www-form-urlencoded",
    '{"commands":[]}',
    '{"command":"delete","target":"a.txt"}',
    '{"command":"create-folder","target":"new"}',
    '{"command":"create-folder-if-missing","target":"sub"}',
    '{"command":"approve","target":["a.txt","sub"]}',
    '{"command":"refuse","target":"a.txt"}',
    '"commands"',
    '"target"',
    '"__proto__":',
    '"constructor"',
    "username=alice&password=secret",
    '{"username":"alice","password":"secret"}',
    '{"current_password":"secret","new_password":"x"}',
    "&return=/home/a",
    "&",
    "{",
    "[",
    "]",
    "}",
    ",",
    ":",
    "null",
    "1e400",
    '"\\ud800"',
    '"\\u0000"',
    '"..\\/b"',
    '\\"',
    "\\\\",
    " ",
  ],
  separators: [",", "{", "[", '"', "&", "\n"],
  maxLength: 256 * 1024,
  run,
  vary,
};

let session: Promise<string> | undefined;

async function run(input: string): Promise<string> {
  await environment.reset();
  session ??= logIn();
  const [line, body] = cutLine(input);
  const [method = "", path = "", type = ""] = line.split(" ");
  const bytes = toBytes(body);
  const isUpdate = path.endsWith("/password-update");
  const answer = await ask(method, path, type, bytes, isUpdate ? `session ${await session}` : BASIC);
  if (answer === undefined) return "no request";
  const text = await answer.text();
  expect(answer.status < 500 || answer.status === 501, `it is answered, not ${answer.status}`);
  expectSame(environment.failures().length, 0, "nothing is reported");
  if (`${method} ${path}` === COMMANDS && isJson(type))
    return `commands ${answer.status} ${await expectCommands(body, answer.status, text)}`;
  await expectUntouched();
  if (path === "/__svc__/login" && (answer.status === 200 || answer.status === 302)) expectLogin(body);
  return `${PLACES.includes(path)} ${answer.status}`;
}

/** Media types ignore case (RFC 9110 8.3.1). */
function isJson(type: string): boolean {
  return /^application\/json(?:;|$)/i.test(type);
}

async function logIn(): Promise<string> {
  const body = toBytes('{"username":"alice","password":"secret"}');
  const answer = await ask("POST", "/__svc__/login", "application/json", body, undefined);
  const { results } = JSON.parse((await answer?.text()) ?? "") as { results: [{ session: string }] };
  return results[0].session;
}

/** `undefined` for what no client can send. */
async function ask(
  method: string,
  path: string,
  type: string,
  body: Uint8Array<ArrayBuffer>,
  authorization: string | undefined,
): Promise<Response | undefined> {
  if (!/^[A-Z]+$/.test(method) || method === "GET" || method === "HEAD" || !path.startsWith("/")) return undefined;
  const headers = {
    host: "files.example",
    accept: "application/json",
    "content-type": type,
    "content-length": String(body.byteLength),
    ...(authorization !== undefined && { authorization }),
  };
  return environment.service.fetch(new Request(`http://files.example${path}`, { method, headers, body }));
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** All of the commands do what a plain reader of them expects, or none of them anything. */
async function expectCommands(body: string, status: number, text: string): Promise<string> {
  const commands = plainCommands(body);
  if (status !== 200 && status !== 422) {
    // A member twice counts twice for the limits, and once for JSON.
    expect(commands === undefined || body.split(",").length > 1000, "commands that are right are obeyed");
    await expectUntouched();
    return "refused";
  }
  expect(commands !== undefined, "nothing but commands is obeyed");
  const members = new Map(MEMBERS);
  const expected = commands.map(([command, name]) => [name, obey(members, command, name)]);
  const { results, errors } = JSON.parse(text) as { results?: Outcome[]; errors?: Outcome[] };
  const outcomes = (results ?? errors ?? []).map(({ target, message }) => [target, message === null]);
  expectSame(outcomes, expected, "each target fares as its command says");
  expect((status === 200) === expected.every(([, isDone]) => isDone), "and the status says whether all did");
  const there: string[] = [];
  for await (const { name } of environment.storage().list("/alice/f")) there.push(name);
  expectSame(there.sort(), [...members.keys()].sort(), "the folder has what they have made of it");
  await expectOthers();
  return `${results === undefined} ${Math.min(outcomes.length, 3)}`;
}

interface Outcome {
  readonly target: string;
  readonly message: string | null;
}

/** What a command does to the members of a folder; whether it succeeds. */
function obey(members: Map<string, boolean>, command: string, name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  const isName = name !== "" && name !== "." && name !== ".." && !/[/\\\u0000-\u001f\u007f-\u009f\p{Cs}]/u.test(name);
  if (!isName || Buffer.byteLength(name) > 255) return false;
  const there = members.get(name);
  if (command === "delete" || command === "purge") return members.delete(name);
  if (command === "approve") return there !== undefined;
  if (command === "refuse") return false;
  if (there === undefined) members.set(name, true);
  return there === undefined || (there && command === "create-folder-if-missing");
}

/** The commands of a body with a target each; `undefined` where any of it is wrong. */
function plainCommands(body: string): readonly (readonly [command: string, target: string])[] | undefined {
  const text = decodeStrictly(toBytes(body))?.replace(/^\ufeff/, "");
  const list = membersOf(parse(text ?? "")?.value, ["commands"])?.[0];
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const commands = list.map((item) => {
    const [command, named] = membersOf(item, ["command", "target"]) ?? [];
    const isTrigger = command === "approve" || command === "refuse";
    const names = isTrigger && Array.isArray(named) && named.length > 0 ? named : [named];
    const isKnown =
      isTrigger || ["delete", "purge", "create-folder", "create-folder-if-missing"].includes(command as string);
    return isKnown && names.every((name) => typeof name === "string")
      ? names.map((name) => [command, name])
      : undefined;
  });
  if (commands.includes(undefined)) return undefined;
  const flat = commands.flat() as [string, string][];
  return flat.length <= 1000 ? flat : undefined;
}

/** The values of an object that has these members and no others. */
function membersOf(value: unknown, names: readonly string[]): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const members = new Map(Object.entries(value));
  return members.size === names.length && names.every((name) => members.has(name))
    ? names.map((name) => members.get(name))
    : undefined;
}

async function expectUntouched(): Promise<void> {
  const there: string[] = [];
  for await (const { name } of environment.storage().list("/alice/f")) there.push(name);
  expectSame(there.sort(), [...MEMBERS.keys()].sort(), "what is refused changes nothing");
}

/** Nothing happens beside the folder that is addressed. */
async function expectOthers(): Promise<void> {
  for (const path of ["/bob/secret.txt", "/alice/big.bin"]) {
    expect(toPathSegments(path).length > 0 && (await environment.storage().stat(path)) !== undefined, `${path} stays`);
  }
}

/** Only her own name and password log her in. */
function expectLogin(body: string): void {
  const json = parse(body)?.value as { username?: unknown; password?: unknown } | undefined;
  const form = new URLSearchParams(body);
  const names = [json?.username, json?.password, form.get("username"), form.get("password")];
  expect(names.includes("alice") && names.includes("secret"), "only a name with its password logs in");
}

function vary(random: Random, input: string, other: string): string {
  const [line, body] = cutLine(input);
  return `${line}\n${varyJson(random, body, cutLine(other)[1])}`;
}
