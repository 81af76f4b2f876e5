import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { type CommandRun, makeFolder, startServer } from "../support/built.ts";
import { FORM_TYPE, formOf, uploadsOf } from "../support/forms.ts";
import { AUTHORIZATION } from "../support/served.ts";
import { mountSmallDisk, type SmallDiskOptions, unmount } from "../support/small-disk.ts";

/** The command at work, and whom it is asked by. */
export interface Machine {
  readonly run: CommandRun;
  /** Its origin, with a trailing slash. */
  readonly url: string;
  /** The folder of the configuration. */
  readonly folder: string;
}

/** A request to {@link Machine}. */
export interface Ask {
  readonly method: string;
  /** Below the origin, without a leading slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** What came back. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The three ways of asking (CONTRACT 1). */
const VARIANTS = {
  json: { Accept: "application/json" },
  webdav: { Accept: "*/*" },
  html: { Accept: "text/html" },
} as const;

/** What no answer may contain: error codes of the system, and where files are. */
const INNARDS = /E[A-Z]{4,}|\/tmp\/|fileferry-full|errno| {4}at /;

/** Mounts a disk for the test, which is skipped, and says so, where none can be. */
export function diskOfTest(skip: (note: string) => never, options?: SmallDiskOptions): string {
  const disk = mountSmallDisk(options) ?? skip("no small disk can be mounted here");
  // Gone after the command, which was started later.
  onTestFinished(() => unmount(disk));
  return disk;
}

/** Starts the command on a root, by default a folder `files` beside its configuration. */
export async function startMachine(
  config: Readonly<Record<string, unknown>> = {},
  by: readonly string[] = [],
): Promise<Machine> {
  const folder = await makeFolder();
  await mkdir(join(folder, "files"));
  const file = join(folder, "fileferry.json");
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
  await writeFile(
    file,
    JSON.stringify({
      listen: { port: 0 },
      storage: { type: "disk", root: "./files" },
      authentication: [{ type: "accounts", accounts }],
      ...config,
    }),
  );
  const { url, ...run } = await startServer(["serve", "--config", file, "--quiet"], by);
  return { run, url, folder };
}

/** Sends one request as the one account, unless the headers say otherwise. */
export async function ask({ url }: Machine, { method, path, headers, body }: Ask): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: "manual",
    headers: { Accept: "application/json", Authorization: AUTHORIZATION, ...headers },
    ...(body !== undefined && { body: body as BodyInit, duplex: "half" }),
  } as RequestInit);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** An upload. */
export function put(machine: Machine, path: string, body: NonNullable<Ask["body"]>): Promise<Reply> {
  return ask(machine, { method: "PUT", path: `home/${path}`, body });
}

/** The text of a file, which must be there. */
export async function contentOf(machine: Machine, path: string): Promise<string> {
  const { status, text } = await ask(machine, { method: "GET", path: `home/${path}` });
  expect(status, text).toBe(200);
  return text;
}

/**
 * Asks in each of the three ways, and wants one refusal of all: its status, and a body that says nothing of the
 * machine.
 */
export async function expectRefused(machine: Machine, request: Ask, status: number): Promise<void> {
  for (const [variant, accept] of Object.entries(VARIANTS)) {
    const reply = await ask(machine, { ...request, headers: { ...accept, ...request.headers } });
    // A client without a preference sees a folder as a page.
    const isHtml = variant === "html" || (variant === "webdav" && /\/$/.test(request.path) && request.method === "GET");
    expectRefusal(reply, status, isHtml, `${variant}: ${request.method} /${request.path}`);
  }
}

/**
 * Uploads files by a form, none of which can be stored. JSON has the outcome of each file, and the page has the status
 * that they share.
 */
export async function expectFormRefused(
  machine: Machine,
  path: string,
  files: Readonly<Record<string, string | Uint8Array>>,
  status: number,
  message: string,
): Promise<void> {
  const form = toForm(path, files);
  const asJson = await ask(machine, form);
  const errors = Object.keys(files).map((target) => ({ target, message }));
  expect([asJson.status, JSON.parse(asJson.text)]).toEqual([422, { errors }]);
  const asPage = await ask(machine, { ...form, headers: { ...form.headers, Accept: "text/html" } });
  expectRefusal(asPage, status, true, "a form");
  expect(asPage.text).toContain(message);
}

/** A form that uploads these files, for a folder. */
export function toForm(path: string, files: Readonly<Record<string, string | Uint8Array>>): Ask {
  const body = formOf(["action", "upload-file"], ...uploadsOf(files));
  return { method: "POST", path: `home/${path}`, headers: { "Content-Type": FORM_TYPE }, body };
}

/** Looks at one refusal. */
export function expectRefusal({ status, headers, text }: Reply, expected: number, isHtml: boolean, what: string): void {
  expect(status, `${what}: ${text}`).toBe(expected);
  expect(text, what).not.toMatch(INNARDS);
  expect(headers.get("retry-after"), what).toEqual(expected === 503 ? expect.stringMatching(/^\d+$/) : null);
  if (isHtml) return void expect(headers.get("content-type"), what).toMatch(/^text\/html/);
  const { errors } = JSON.parse(text);
  expect(errors.length, what).toBeGreaterThan(0);
  for (const { message } of errors) expect(message, what).toMatch(/\w/);
}

/** A session of the account. */
export async function logIn(machine: Machine, username = "alice", password = "secret"): Promise<string> {
  const reply = await ask(machine, {
    method: "POST",
    path: "__svc__/login",
    headers: { "Content-Type": "application/json", Authorization: "" },
    body: JSON.stringify({ username, password }),
  });
  expect(reply.status, reply.text).toBe(200);
  return JSON.parse(reply.text).results[0].session;
}

/** Sends one request over the connection of an agent. */
export async function askBy(agent: Agent, { url }: Machine, { method, path, headers, body }: Ask): Promise<Reply> {
  const sent = { Accept: "application/json", Authorization: AUTHORIZATION, ...headers };
  const request = httpRequest(`${url}${path}`, { agent, method, headers: sent });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  const fields = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string]);
  return { status: response.statusCode ?? 0, headers: new Headers(fields), text };
}

/** Fills a disk to its last page, with a file of this path and one beside it. */
export function fill(file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(4_000_000));
  } catch {
    // As it should.
  }
  try {
    for (;;) writeFileSync(`${file}-end`, Buffer.alloc(4096), { flag: "a" });
  } catch {
    // So it is full to the last page.
  }
}

/** Takes those away again. */
export async function unfill(file: string): Promise<void> {
  for (const path of [file, `${file}-end`]) await rm(path, { force: true });
}

/** What a folder of the machine has, at any depth. */
export async function namesBelow(folder: string): Promise<readonly string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}
