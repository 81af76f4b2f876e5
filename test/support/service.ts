import { Request as LightRequest } from "@whatwg-node/fetch";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileServiceOptions } from "../../src/config/options.ts";
import type { Connection } from "../../src/contracts/connection.ts";
import type { FileService } from "../../src/contracts/file-service.ts";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import type { Variant } from "../../src/http/negotiate.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createRecordingLogger, type RecordingLogger } from "./logger.ts";
import { createDescribedService } from "./openapi/described-service.ts";
import { noteLinkTokens, noteSecrets, watchSecrets } from "./secrets/secrets.ts";
import { fillStorage } from "./storage.ts";

/** Accounts of every test service: alice's home is `/alice`, bob's the default, root's the storage's own root. */
const accounts = [
  { username: "alice", password: "secret", home_folder_path: "/alice" },
  { username: "bob", password: "hunter2" },
  { username: "root", password: "toor", home_folder_path: "/" },
];
const passwords = new Map(accounts.map(({ username, password }) => [username, password]));

/** How a client asks for a variant, on URLs that have several. */
const acceptOf: Readonly<Record<Variant, string>> = { json: "application/json", webdav: "*/*", html: "text/html" };

/** The three variants, for tables. */
export const variants: readonly Variant[] = ["json", "webdav", "html"];

/** The parts of a request other than its method and target. */
export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts and bytes get a `Content-Length`, as on the wire; streams do not. */
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array> | undefined;
  /** The account whose Basic credentials are sent; `null` for none. Default: alice. */
  readonly as?: "alice" | "bob" | "root" | null;
  /** Sets the `Accept` header. */
  readonly variant?: Variant | undefined;
  readonly scheme?: "http" | "https";
  readonly host?: string;
  readonly connection?: Connection;
  readonly api?: "fetch" | "rest" | "webdav" | "browser";
  readonly signal?: AbortSignal;
  /** Why the service's description does not cover this exchange. It is not compared then. */
  readonly undescribed?: string | undefined;
  /** Whether it may contain something undocumented. It is compared only if it was served. */
  readonly isProbe?: boolean;
}

/** What a client sees of an answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** A header's value; `null` when it is absent. */
  header(name: string): string | null;
  /** The body as JSON; the caller says what it expects. */
  json<T = unknown>(): T;
}

/** A service and its surroundings. */
export interface TestService {
  readonly service: FileService;
  readonly storage: StorageAdapter;
  readonly log: RecordingLogger;
  /** Lets time pass for the service. */
  advance(seconds: number): void;
  request(method: string, target: string, options?: CallOptions): Request;
  /** Sends a request and reads its answer whole. */
  call(method: string, target: string, options?: CallOptions): Promise<Answer>;
  /** Sends a request and leaves the answer's body unread. */
  open(method: string, target: string, options?: CallOptions): Promise<Response>;
  /** Logs in through the JSON API; the session's ID. */
  login(as?: "alice" | "bob" | "root"): Promise<string>;
  /** The content of a file of the storage, by its storage path; `undefined` when there is none. */
  stored(path: string): Promise<string | undefined>;
}

/** What a test service may have of its own. */
export interface TestServiceOptions extends Partial<FileServiceOptions> {
  /** What is there at first, by storage path; folders end in `/`. Parents are made. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The class of the requests. Default: that of the ponyfill, which keeps the target as it is. */
  readonly requestClass?: typeof Request;
  /** Whether its events are searched for secrets. It has listeners then. Default: true. */
  readonly isWatched?: boolean;
  /** Whether requests and answers are compared with its description. Default: true. */
  readonly isDescribed?: boolean;
}

export async function createTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const { files = {}, requestClass = LightRequest, isWatched = true, isDescribed = true, ...own } = options;
  const storage = own.storage ?? createMemoryStorage();
  await fillStorage(storage, { "/alice/": "", ...files });
  const log = createRecordingLogger();
  let passed = 0;
  const service = createFileService({
    authentication: createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }),
    logger: log,
    clock: () => Date.now() + passed,
    ...own,
    storage,
    onEvent: [isWatched ? watchSecrets(log) : [], own.onEvent ?? []].flat(),
  });
  const basePath = own.basePath ?? "";
  const described = createDescribedService(service, own);

  function request(method: string, target: string, options: CallOptions = {}): Request {
    const { scheme = "http", host = "files.example", signal } = options;
    const body = toBody(options.body);
    const headers = { ...defaultHeaders(options, host, body), ...options.headers };
    const init: RequestInit & { duplex?: "half" } = {
      method,
      headers,
      ...(signal !== undefined && { signal }),
      ...(body !== undefined && { body: body as BodyInit, duplex: "half" as const }),
    };
    return new requestClass(`${scheme}://${host}${target}`, init);
  }

  async function send(method: string, target: string, options: CallOptions = {}): Promise<Exchanged> {
    const asked = request(method, target, options);
    noteSecrets(asked.headers);
    noteLinkTokens(target);
    const { api = "fetch", connection } = options;
    const response = await service[api](asked, connection);
    noteSecrets(response.headers);
    return { asked, response };
  }

  async function open(method: string, target: string, options: CallOptions = {}): Promise<Response> {
    const { asked, response } = await send(method, target, options);
    if (isDescribed && options.undescribed === undefined)
      await described.check(asked, toBytes(options.body), response, undefined, options);
    return response;
  }

  async function call(method: string, target: string, options: CallOptions = {}): Promise<Answer> {
    const { asked, response } = await send(method, target, options);
    const answer = await readAnswer(response);
    if (isDescribed && options.undescribed === undefined)
      await described.check(asked, toBytes(options.body), response, answer.bytes, options);
    return answer;
  }

  async function login(as: "alice" | "bob" | "root" = "alice"): Promise<string> {
    const body = JSON.stringify({ username: as, password: passwords.get(as) });
    const headers = { "content-type": "application/json" };
    const answer = await call("POST", `${basePath}/__svc__/login`, { as: null, variant: "json", headers, body });
    return sessionOf(answer);
  }

  async function stored(path: string): Promise<string | undefined> {
    const entry = await storage.stat(path);
    if (entry?.kind !== "file") return undefined;
    const { body } = await storage.read(path);
    return new Response(body).text();
  }

  return {
    service,
    storage,
    log,
    advance: (seconds) => (passed += seconds * 1000),
    request,
    call,
    open,
    login,
    stored,
  };
}

/** Basic credentials as an `Authorization` value. */
export function basic(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** The session's ID that a JSON login answered. */
export function sessionOf(answer: Answer): string {
  const [result] = answer.json<{ results: { session: string }[] }>().results;
  if (result === undefined) throw new Error("The login gave no session.");
  return result.session;
}

/** The `Cookie` value that a browser sends back for a `Set-Cookie`. */
export function cookieOf(answer: Answer): string {
  return answer.header("set-cookie")?.split(";", 1)[0] ?? "";
}

/** The `Authorization` value and other headers of a session. */
export function bySession(id: string): Readonly<Record<string, string>> {
  return { authorization: `session ${id}` };
}

export function byCookie(id: string): Readonly<Record<string, string>> {
  return { cookie: `SVC_HTTP_SESSION=${id}` };
}

/** Reads an answer whole. */
export async function readAnswer(response: Response): Promise<Answer> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder().decode(bytes);
  const { status, headers } = response;
  return {
    status,
    headers,
    bytes,
    text,
    header: (name) => headers.get(name),
    json: <T>() => JSON.parse(text) as T,
  };
}

interface Exchanged {
  readonly asked: Request;
  readonly response: Response;
}

/** The bytes of a request's body; `undefined` if only the service can read it. */
function toBytes(body: CallOptions["body"]): Uint8Array | undefined {
  const bytes = toBody(body);
  return bytes instanceof Uint8Array ? bytes : undefined;
}

function defaultHeaders(options: CallOptions, host: string, body: unknown): Record<string, string> {
  const { as = "alice", variant } = options;
  return {
    host,
    ...(as !== null && { authorization: basic(as, passwords.get(as) ?? "") }),
    ...(variant !== undefined && { accept: acceptOf[variant] }),
    ...(body instanceof Uint8Array && { "content-length": String(body.byteLength) }),
  };
}

/** Converts texts to bytes, because a text would get a `Content-Type` that the test did not ask for. */
function toBody(body: CallOptions["body"]): Exclude<CallOptions["body"], string> {
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}
