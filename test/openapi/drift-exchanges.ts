import { FORM_TYPE, type FormEntry, formOf } from "../support/forms.ts";
import { type ApiDocument, type Operation, toOperations } from "../support/openapi/document.ts";
import { basic, byCookie, bySession, type CallOptions, variants } from "../support/service.ts";
import type { Breakage, DriftWorld } from "./drift-world.ts";

type Fields = Readonly<Record<string, string>>;

/** One request. */
interface Ask {
  readonly method: string;
  readonly target: string;
  readonly fields?: Fields;
  readonly body?: string | Uint8Array;
}

const JSON_TYPE = { "content-type": "application/json" };
const FORM_FIELDS = { "content-type": FORM_TYPE };
const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };
/** Every field that a request may bring along, with a value that lets it pass. */
const TRACE = {
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  tracestate: "a=b",
  "accept-language": "de",
};
/** What storages say when they are read, whatever for. */
const READING: readonly Breakage[] = ["denied", "unavailable", "unknown"];
const CREATING: readonly Breakage[] = [
  ...READING,
  "not-found",
  "parent-missing",
  "not-a-folder",
  "bad-name",
  "no-space",
];
const WRITING: readonly Breakage[] = [...CREATING, "not-a-file", "precondition-failed", "incomplete", "too-large"];

/** What storages say when something changes between two looks at it. */
const CHANGED: readonly Breakage[] = ["not-found", "not-a-folder", "not-a-file", "bad-name"];

function readingBreakagesOf({ method, template }: Operation): readonly Breakage[] {
  if (!template.startsWith("/home/") || template.includes("__svc__")) return READING;
  if (method === "GET" || method === "HEAD") return [...READING, ...CHANGED];
  if (method === "DELETE" && template === "/home/") return READING;
  // A folder that is none is what `DELETE` of a file finds.
  if (method === "DELETE")
    return [...READING, ...CHANGED.filter((one) => one !== "not-a-file" || !template.endsWith("/"))];
  const isFolder = method === "POST" && template.endsWith("/");
  return isFolder ? [...READING, "not-found", "bad-name"] : [...READING, "bad-name"];
}

/** What storages say when they are written to, by what is written. */
function writingBreakagesOf({ method, template }: Operation): readonly Breakage[] {
  if (method === "POST") return [...WRITING, "already-exists"];
  if (method === "DELETE") return [...READING, "not-found"];
  if (method === "PUT" && template === "/home/{path}") return WRITING;
  return method === "PUT" || method === "MKCOL" ? [...CREATING, "already-exists"] : [];
}

function commandsOf(...commands: readonly (readonly [string, unknown])[]): Pick<Ask, "fields" | "body"> {
  return {
    fields: JSON_TYPE,
    body: JSON.stringify({ commands: commands.map(([command, target]) => ({ command, target })) }),
  };
}

function form(...entries: readonly FormEntry[]): Pick<Ask, "fields" | "body"> {
  return { fields: FORM_FIELDS, body: formOf(...entries) };
}

/** Requests of an operation that can be served, and ones that cannot; each is sent in every variant, by everybody. */
function asksOf({ method, template }: Operation): readonly Ask[] {
  const targets = TARGETS[template] ?? [template];
  return targets.flatMap((target) => bodiesOf(method, template).map((body) => ({ method, target, ...body })));
}

const TARGETS: Readonly<Record<string, readonly string[]>> = {
  "/home/{path}": [
    "/home/a.txt",
    "/home/f",
    "/home/refused.txt",
    "/home/none.txt",
    "/home/none/a.txt",
    "/home/a.txt/b",
    "/home/%00",
  ],
  "/home/": ["/home/", "/home/?sort=size&order=desc&done=deleted", "/home/?login=basic&return=%2Fhome%2Ff%2F"],
  "/home/{folder}/": [
    "/home/f/",
    "/home/f/?sort=size&order=desc&done=deleted",
    "/home/new/",
    "/home/none/new/",
    "/home/a.txt/",
    "/home/a.txt/b/",
    "/home/%00/",
  ],
  "/__svc__/login": ["/__svc__/login", "/__svc__/login?return=%2Fhome%2Ff%2F"],
  "/__svc__/assets/{name}": ["/__svc__/assets/none.css"],
};

function bodiesOf(method: string, template: string): readonly Pick<Ask, "fields" | "body">[] {
  if (method === "PUT" && template === "/home/{path}") {
    return [
      { body: "new" },
      { body: "new", fields: { "x-labels": "project=a" } },
      { body: "x".repeat(1001) },
      { body: "x", fields: { "content-encoding": "gzip" } },
      { body: "x", fields: { "content-range": "bytes 0-0/1" } },
    ];
  }
  if (method === "PUT" || method === "MKCOL") return [{}, { body: "x" }];
  if (method !== "POST") return [{}];
  if (template === "/__svc__/login") return LOGINS;
  if (template.endsWith("password-update")) return UPDATES;
  return template.startsWith("/home/") && template.endsWith("/") ? FOLDER_BODIES : [{}];
}

const LOGINS = [
  { fields: JSON_TYPE, body: '{"username":"alice","password":"secret"}' },
  { fields: URLENCODED, body: "username=alice&password=secret&return=%2Fhome%2F" },
  { fields: JSON_TYPE, body: '{"username":"carol","password":"secret"}' },
  { fields: JSON_TYPE, body: "{" },
  { fields: JSON_TYPE, body: `"${"x".repeat(20_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
];

const UPDATES = [
  { fields: JSON_TYPE, body: '{"current_password":"secret","new_password":"a brand new password"}' },
  { fields: URLENCODED, body: "current_password=secret&new_password=a+brand+new+password" },
  { fields: JSON_TYPE, body: '{"current_password":"wrong","new_password":"a brand new password"}' },
  { fields: JSON_TYPE, body: "{" },
  { fields: JSON_TYPE, body: `"${"x".repeat(1_100_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
];

const FOLDER_BODIES = [
  commandsOf(["create-folder-if-missing", "new"]),
  form(["action", "download-members"], ["selected-members", "a.txt"]),
  form(["action", "upload-file"], ["upload-file", "refused.txt", "x"]),
  { fields: { ...FORM_FIELDS, "content-encoding": "gzip" }, body: "x" },
  commandsOf(["create-folder-if-missing", "new"], ["publish", ["b.txt"]], ["publish", "b.txt"]),
  commandsOf(["delete", "none"], ["create-folder", "new"]),
  commandsOf(),
  { fields: JSON_TYPE, body: `"${"x".repeat(1_100_000)}"` },
  { fields: { "content-type": "text/plain" }, body: "x" },
  { ...form(["action", "create-folder"], ["new-folder", "new"]) },
  { ...form(["action", "create-folder"], ["new-folder", "b.txt"]) },
  { ...form(["action", "delete-members"], ["selected-members", "none"]) },
  { ...form(["action", "delete-members"], ["selected-members", "b.txt"]) },
  { ...form(["action", "download-members"], ["selected-members", "b.txt"]) },
  { ...form(["action", "publish"], ["selected-members", "b.txt"]) },
  { ...form(["action", "publish"], ["selected-members", "f"]) },
  {
    fields: { ...FORM_FIELDS, "x-labels": "project=a" },
    body: formOf(["action", "upload-file"], ["upload-file", "new.txt", "x"]),
  },
  { ...form(["action", "upload-file"], ["upload-file", "new.txt", "x".repeat(1001)]) },
  {
    fields: { ...FORM_FIELDS, "x-labels": "nobodys=a" },
    body: formOf(["action", "upload-file"], ["upload-file", "new.txt", "x"]),
  },
];

/** Conditions and ranges, those that hold and those that do not. */
function conditionsOf(etag: string): readonly Fields[] {
  const [past, future] = ["Mon, 01 Jan 2001 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"];
  return [
    ...[etag, '"other"', "*"].flatMap((tag) => [{ "if-match": tag }, { "if-none-match": tag }]),
    ...[past, future].flatMap((date) => [{ "if-modified-since": date }, { "if-unmodified-since": date }]),
    { range: "bytes=0-1" },
    { range: "bytes=0-1,4000-4001" },
    { range: "bytes=9999-" },
    { range: "bytes=0-1", "if-range": etag },
  ];
}

/** Asks everything of every operation of a document: whatever is checked on the way, is checked by the service's own hook. */
export async function playEverything(world: DriftWorld, document: ApiDocument): Promise<void> {
  for (const operation of toOperations(document).values()) await playOperation(world, operation);
  await playAssets(world);
  await playThrottle(world);
}

async function playOperation(world: DriftWorld, operation: Operation): Promise<void> {
  const broken = [
    () => world.breakSessions(true),
    () => world.breakViewer(true),
    ...readingBreakagesOf(operation).map((breakage) => () => world.break(breakage)),
    ...writingBreakagesOf(operation).map((breakage) => () => world.break(breakage, true)),
  ];
  for (const ask of asksOf(operation)) {
    for (const accept of [...Object.values(ACCEPTS), "application/zip"]) {
      for (const way of WAYS) await send(world, operation, ask, { ...(await way(world)), accept });
      for (const before of broken) {
        const session = await world.login();
        await send(world, operation, ask, { accept, before });
        await send(world, operation, ask, { accept, before, as: null, headers: bySession(session) });
      }
    }
  }
  if (operation.template.startsWith("/home/")) await playConditions(world, operation);
}

const ACCEPTS = { json: "application/json", webdav: "*/*", html: "text/html" } as const;

/** The fields of requests that are parameters: others say who asks, and what the content is. */
const PARAMETERS = [...Object.keys(TRACE), ...["x-labels", "range", "if-range", "if-match", "if-none-match"]].concat([
  "if-modified-since",
  "if-unmodified-since",
]);

/** Who asks: by each way to log in, with none, with a wrong one, from another site, and who may nothing. */
const WAYS: readonly ((world: DriftWorld) => CallOptions | Promise<CallOptions>)[] = [
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

async function playConditions(world: DriftWorld, operation: Operation): Promise<void> {
  const { method, template } = operation;
  const target = TARGETS[template]?.[0] ?? template;
  await world.reset();
  const etag = (await world.call("HEAD", "/home/a.txt")).header("etag") ?? "";
  for (const variant of variants) {
    for (const fields of conditionsOf(etag)) {
      const body = method === "PUT" && template === "/home/{path}" ? { body: "new" } : {};
      await send(world, operation, { method, target, ...body, fields }, { accept: ACCEPTS[variant] });
    }
  }
}

/** How a request is sent, and what is done before. */
interface SendOptions extends CallOptions {
  readonly accept: string;
  readonly before?: () => void;
}

/** Sends a request with those of its fields, and of its query, that the operation has. */
async function send(world: DriftWorld, operation: Operation, ask: Ask, options: SendOptions): Promise<void> {
  const { accept, before, ...how } = options;
  const { method, target, body } = ask;
  const known = operation.parameters.map(({ name }) => name.toLowerCase());
  const own = Object.entries({ ...ask.fields, ...how.headers }).filter(
    ([name]) => !PARAMETERS.includes(name) || known.includes(name),
  );
  const [path = "", query = ""] = target.split("?");
  const kept = [...new URLSearchParams(query)].filter(([name]) => known.includes(name));
  const asked = kept.length === 0 ? path : `${path}?${new URLSearchParams(kept)}`;
  await world.reset();
  before?.();
  const headers = { accept, ...Object.fromEntries(own) };
  await world.call(method, asked, { ...how, headers, ...(body !== undefined && { body }) });
  world.break(undefined);
  world.breakSessions(false);
  world.breakViewer(false);
}

async function playAssets(world: DriftWorld): Promise<void> {
  const pages = [
    await world.call("GET", "/home/", { variant: "html" }),
    await world.call("GET", "/__svc__/openapi.html", { as: null }),
  ];
  const text = pages.map((page) => page.text).join();
  for (const [, path = ""] of text.matchAll(/"(\/__svc__\/assets\/[^"]+)"/g)) {
    for (const method of ["GET", "HEAD"]) await world.call(method, path, { as: null });
  }
}

/** More failed logins than are heard. */
async function playThrottle(world: DriftWorld): Promise<void> {
  for (let attempt = 0; attempt < 12; attempt++) {
    await world.call("POST", "/__svc__/login", {
      as: null,
      variant: "json",
      headers: JSON_TYPE,
      body: '{"username":"root","password":"wrong"}',
    });
  }
}
