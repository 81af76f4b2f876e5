import { type ApiDocument, type Operation, toOperations } from "../support/openapi/document.ts";
import { basic, byCookie, bySession, type CallOptions, variants } from "../support/service.ts";
import { amount } from "../support/trust.ts";
import { type Ask, asksOf, type Fields, JSON_TYPE, TARGETS } from "./drift-asks.ts";
import { readingBreakagesOf, writingBreakagesOf } from "./drift-breakages.ts";
import type { DriftEnvironment } from "./drift-environment.ts";

/** Every field that a request may bring along, with a value that lets it pass. */
export const TRACE = {
  "x-requested-with": "fetch",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "a=b",
  "accept-language": "de",
};
/** Conditions and ranges, those that hold and those that do not. */
export function conditionsOf(etag: string): readonly Fields[] {
  const [past, future] = ["Mon, 01 Jan 2001 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"];
  return [
    ...[etag, '"other"', "*"].flatMap((tag) => [{ "if-match": tag }, { "if-none-match": tag }]),
    ...[past, future].flatMap((date) => [{ "if-modified-since": date }, { "if-unmodified-since": date }]),
    { range: "bytes=0-1" },
    { range: "bytes=0-1,4000-4001" },
    { range: "bytes=9999-" },
    { range: "bytes=0-1", "if-range": etag },
    { prefer: "order=name" },
  ];
}

/**
 * Asks everything of every operation of a document: whatever is checked on the way, is checked by the service's own
 * hook.
 */
export async function playEverything(environment: DriftEnvironment, document: ApiDocument): Promise<void> {
  for (const operation of toOperations(document).values()) await playOperation(environment, operation);
  await playAssets(environment);
  await playThrottle(environment);
}

async function playOperation(environment: DriftEnvironment, operation: Operation): Promise<void> {
  const broken = [
    () => environment.breakSessions(true),
    () => environment.breakViewer(true),
    ...readingBreakagesOf(operation).map((breakage) => () => environment.break(breakage)),
    ...writingBreakagesOf(operation).map((breakage) => () => environment.break(breakage, true)),
  ];
  const accepts = [...Object.values(ACCEPTS), "application/zip"];
  const asks = asksOf(operation);
  const stride = strideOf(asks);
  for (const [number, ask] of asks.entries()) {
    for (const [at, accept] of accepts.entries()) {
      const isTurnOf = (index: number): boolean => (index + number + at) % stride === 0;
      for (const way of WAYS.filter((_, index) => isTurnOf(index))) {
        await send(environment, operation, ask, { ...(await way(environment)), accept });
      }
      for (const before of broken.filter((_, index) => isTurnOf(index))) {
        environment.forgetSessions();
        const session = await environment.login();
        await send(environment, operation, ask, { accept, before });
        await send(environment, operation, ask, { accept, before, as: null, headers: bySession(session) });
      }
    }
  }
  if (operation.template.startsWith("/home/")) await playConditions(environment, operation);
}

const ACCEPTS = { json: "application/json", webdav: "*/*", html: "text/html" } as const;

/** A request is tried with one of this many ways to log in, and failures: others of the operation try the rest. */
function strideOf({ length }: readonly Ask[]): number {
  const few = Math.min(3, length);
  return length > 50 ? amount({ short: 17, ci: 7, long: 1 }) : amount({ short: few, long: 1 });
}

/** The fields of requests that are parameters: others say who asks, and what the content is. */
const PARAMETERS = [
  ...Object.keys(TRACE),
  ...["x-labels", "x-sender", "range", "if-range", "if-match", "if-none-match", "prefer"],
].concat(["if-modified-since", "if-unmodified-since"]);

/** Who asks: by each way to log in, with none, with a wrong one, from another site, and who may nothing. */
const WAYS: readonly ((environment: DriftEnvironment) => CallOptions | Promise<CallOptions>)[] = [
  () => ({}),
  async ({ login }) => ({ as: null, headers: bySession(await login()) }),
  async ({ login }) => ({ as: null, headers: byCookie(await login()) }),
  () => ({ as: null }),
  () => ({ as: null, headers: { authorization: basic("root", "wrong") } }),
  () => ({ as: null, headers: bySession("0".repeat(32)) }),
  () => ({ headers: { origin: "https://evil.example" } }),
  async ({ login }) => ({ as: null, headers: { ...byCookie(await login()), origin: "https://evil.example" } }),
  () => ({ as: "bob" }),
  async ({ login }) => ({ as: null, headers: bySession(await login("bob")) }),
  () => ({ headers: TRACE }),
  async ({ login }) => ({ as: null, headers: { ...TRACE, ...byCookie(await login()) } }),
];

async function playConditions(environment: DriftEnvironment, operation: Operation): Promise<void> {
  const { method, template } = operation;
  const target = TARGETS[template]?.[0] ?? template;
  await environment.reset();
  const etag = (await environment.call("HEAD", "/home/a.txt")).header("etag") ?? "";
  for (const variant of variants) {
    for (const fields of conditionsOf(etag)) {
      const body = method === "PUT" && template === "/home/{path}" ? { body: "new" } : {};
      await send(environment, operation, { method, target, ...body, fields }, { accept: ACCEPTS[variant] });
    }
  }
}

/** How a request is sent, and what is done before. */
interface SendOptions extends CallOptions {
  readonly accept: string;
  readonly before?: () => void;
}

/** The fields that an operation takes, whatever its document says: one that is left out there is missed. */
function takenBy({ method, template, security }: Operation): readonly string[] {
  const everywhere = security.length === 0 ? [] : Object.keys(TRACE);
  const isOfFile = template === "/home/{path}" && ["GET", "HEAD", "PUT", "DELETE"].includes(method);
  const isConditional = isOfFile || (template === "/home/{folder}/" && method === "DELETE");
  const conditions = isConditional ? ["if-match", "if-none-match", "if-unmodified-since"] : [];
  return [...everywhere, ...conditions, ...(isOfFile && method === "GET" ? ["range", "if-range"] : [])];
}

/** The templates of requests that may end a session, or start one over the limit. */
const ENDS_SESSIONS = /^\/__svc__\/(?:login|logout)|\/password-update$/;

/** Sends a request with those of its fields, and of its query, that the operation has, or should have. */
export async function send(
  environment: DriftEnvironment,
  operation: Operation,
  ask: Ask,
  options: SendOptions,
): Promise<void> {
  const { accept, before, ...how } = options;
  const { method, target, body } = ask;
  const known = [...operation.parameters.map(({ name }) => name.toLowerCase()), ...takenBy(operation)];
  const own = Object.entries({ ...ask.fields, ...how.headers }).filter(
    ([name]) => !PARAMETERS.includes(name) || known.includes(name),
  );
  const [path = "", query = ""] = target.split("?");
  const kept = [...new URLSearchParams(query)].filter(([name]) => known.includes(name));
  const asked = kept.length === 0 ? path : `${path}?${new URLSearchParams(kept)}`;
  await environment.reset();
  before?.();
  const headers = { accept, ...Object.fromEntries(own) };
  await environment.call(method, asked, { ...how, isProbe: true, headers, ...(body !== undefined && { body }) });
  if (ENDS_SESSIONS.test(operation.template)) environment.forgetSessions();
  environment.break(undefined);
  environment.breakSessions(false);
  environment.breakViewer(false);
}

async function playAssets(environment: DriftEnvironment): Promise<void> {
  const pages = [
    await environment.call("GET", "/home/", { variant: "html" }),
    await environment.call("GET", "/__svc__/openapi.html", { as: null }),
  ];
  await environment.call("GET", "/__svc__/health", { as: null });
  const text = pages.map((page) => page.text).join();
  for (const [, path = ""] of text.matchAll(/"(\/__svc__\/assets\/[^"]+)"/g)) {
    for (const method of ["GET", "HEAD"]) {
      await environment.call(method, path, { as: null });
      await environment.call(method, path, { as: null, headers: { "accept-encoding": "gzip" } });
    }
  }
}

/** More failed logins than are heard. */
async function playThrottle(environment: DriftEnvironment): Promise<void> {
  for (let attempt = 0; attempt < 12; attempt++) {
    await environment.call("POST", "/__svc__/login", {
      as: null,
      variant: "json",
      headers: JSON_TYPE,
      body: '{"username":"root","password":"wrong"}',
    });
  }
  const headers = { authorization: basic("root", "wrong") };
  await environment.call("GET", "/home/a.txt", { as: null, variant: "json", headers });
}
