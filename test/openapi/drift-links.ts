import type { NewLink } from "../../src/contracts/links.ts";
import { FORM_TYPE, formOf } from "../support/forms.ts";
import type { Operation } from "../support/openapi/document.ts";
import { basic, byCookie, bySession, type CallOptions } from "../support/service.ts";
import { type Ask, asksOf, type Fields, JSON_TYPE } from "./drift-asks.ts";
import { readingBreakagesOf, writingBreakagesOf } from "./drift-breakages.ts";
import type { DriftEnvironment } from "./drift-environment.ts";
import { conditionsOf, send, TRACE } from "./drift-exchanges.ts";

const SHARE = "/__svc__/share/{token}";
const LINKS = "/home/__svc__/links";
const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };
const ACCEPTS = ["application/json", "*/*", "text/html", "application/zip"];
const ALL = [
  "allow-read",
  "allow-list",
  "allow-write",
  "allow-create-folder",
  "allow-delete-file",
  "allow-delete-folder",
] as const;

/** Whether an operation is one of links, or below the URL of a link. */
export function isOfLinks({ template }: Operation): boolean {
  return template.startsWith(SHARE) || template.startsWith(LINKS);
}

/** Links of alice, by what is special about them. Each is the path of its URL. */
async function makeLinks({ service, reset }: DriftEnvironment) {
  await reset();
  const make = async (wanted: Partial<NewLink>): Promise<string> =>
    (await service.links.create({ username: "alice", path: "/", permissions: ALL, ...wanted })).urlPath;
  const gone = await service.links.create({ username: "alice", path: "/" });
  await service.links.revoke(gone.id);
  return {
    open: await make({}),
    drop: await make({ permissions: ["allow-write", "allow-create-folder"] }),
    asking: await make({ askName: true }),
    locked: await make({ password: "open sesame" }),
    throttled: await make({ password: "another" }),
    file: await make({ path: "/a.txt", permissions: ["allow-read", "allow-write"] }),
    used: await make({ maxUses: 1 }),
    gone: gone.urlPath,
    none: "/__svc__/share/none/",
  };
}

/** Gives wrong passwords, more than are heard. */
async function throttle({ call }: DriftEnvironment, url: string): Promise<void> {
  const headers = { authorization: basic("any", "wrong") };
  for (let attempt = 0; attempt < 12; attempt++) await call("GET", url, { as: null, variant: "json", headers });
}

/** The cookie that keeps a link open. */
async function unlock({ call }: DriftEnvironment, url: string): Promise<Fields> {
  const headers = { ...URLENCODED };
  const opened = await call("POST", url, { as: null, variant: "html", headers, body: "password=open+sesame" });
  return { cookie: opened.header("set-cookie")?.split(";")[0] ?? "" };
}

/** A request, and by whom. */
interface Sent extends Ask {
  readonly how?: CallOptions;
  readonly before?: () => void;
}

/** Asks everything of the operations of links. What is checked on the way is checked by the service's own hook. */
export async function playLinks(environment: DriftEnvironment, operations: Iterable<Operation>): Promise<void> {
  for (const operation of operations) {
    const sent = operation.template.startsWith(SHARE)
      ? await asksBelow(environment, operation)
      : await asksOfOwner(environment, operation);
    for (const { how, before, ...ask } of sent) {
      for (const accept of ACCEPTS)
        await send(environment, operation, ask, { ...how, accept, ...(before && { before }) });
    }
  }
}

async function asksBelow(environment: DriftEnvironment, operation: Operation): Promise<readonly Sent[]> {
  const { method, template } = operation;
  const links = await makeLinks(environment);
  const visitor = { as: null } as const;
  if (template === SHARE)
    return Object.values(links).map((url) => ({ method, target: url.slice(0, -1), how: visitor }));
  const ofHome = { ...operation, template: template.replace(SHARE, "/home") };
  // Below a link the field that passes over the trash means nothing.
  const meant = asksOf(ofHome).filter(({ fields }) => fields?.["x-permanent"] === undefined);
  const asks = meant.map((ask) => ({ ...ask, how: visitor }));
  const at = (url: string, ask: Sent): Sent => ({ ...ask, target: ask.target.replace("/home/", url) });
  const [first] = asks;
  if (first === undefined) return [];
  const simple = Object.values(links).flatMap((url) => [
    at(url, first),
    at(url, { ...first, fields: { ...first.fields, "x-sender": "Ann" } }),
    at(url, { ...first, fields: { ...first.fields, authorization: basic("any", "open sesame") } }),
    at(url, { ...first, fields: { ...first.fields, origin: "https://evil.example" } }),
  ]);
  const zip = at(links.open, { ...first, target: `${first.target}?zip=` });
  const breaks = [
    ...readingBreakagesOf(ofHome).map((breakage) => () => environment.break(breakage)),
    ...writingBreakagesOf(ofHome).map((breakage) => () => environment.break(breakage, true)),
  ];
  const broken = breaks.map((before) => ({ ...at(links.open, first), before }));
  await throttle(environment, links.throttled);
  const file = await environment.call("HEAD", `${links.open}a.txt`, { as: null });
  const added = [...conditionsOf(file.header("etag") ?? ""), TRACE];
  const fields = [
    ...added.map((one) => at(links.open, { ...first, fields: { ...first.fields, ...one } })),
    // A folder is created once.
    at(links.open, { ...first, target: first.target.replace("/f/", "/new/"), fields: { ...first.fields, ...TRACE } }),
    at(links.locked, { ...first, fields: { ...first.fields, ...(await unlock(environment, links.locked)) } }),
  ];
  const form = { fields: { ...URLENCODED, accept: "text/html" }, body: "password=open+sesame" };
  return [
    ...asks.map((ask) => at(links.open, ask)),
    ...simple,
    ...(operation.parameters.some(({ name }) => name === "zip") ? [zip] : []),
    ...broken,
    ...fields,
    ...(method === "POST" ? [at(links.locked, { ...first, ...form }), at(links.asking, SENDING)] : []),
  ];
}

/** A form that has the name of its sender. */
const SENDING: Sent = {
  method: "POST",
  target: "/home/",
  how: { as: null },
  fields: { "content-type": FORM_TYPE },
  body: formOf(["action", "upload-file"], ["sender", "Ann"], ["upload-file", "new.txt", "x"]),
};

async function asksOfOwner(environment: DriftEnvironment, operation: Operation): Promise<readonly Sent[]> {
  const { method, template } = operation;
  await environment.reset();
  const { id } = await environment.service.links.create({ username: "alice", path: "/a.txt" });
  const targets =
    template === `${LINKS}/new`
      ? [`${template}?path=/a.txt&permissions=allow-read`, `${template}?path=/none`, template]
      : [template.replace("{id}", id), template.replace("{id}", "0".repeat(32))];
  const bodies = method === "POST" ? (template === LINKS ? NEW_LINKS : WITHDRAWALS) : [{}];
  const asks = targets.flatMap((target) => bodies.map((body) => ({ method, target, ...body })));
  const ways: readonly CallOptions[] = [
    {},
    { as: null },
    { as: "bob" },
    { headers: { origin: "https://evil.example" } },
    { headers: TRACE },
    { as: null, headers: bySession(await environment.login()) },
    { as: null, headers: { ...byCookie(await environment.login()) } },
    { as: null, headers: { authorization: basic("root", "wrong") } },
  ];
  const page = await environment.service.links.create({ username: "alice", path: "/a.txt" });
  const withdrawal = { ...WITHDRAWALS.at(-1), fields: { ...URLENCODED, accept: "text/html" } };
  const withdrawals =
    template === `${LINKS}/{id}` && method === "POST" ? [{ method, target: `${LINKS}/${page.id}`, ...withdrawal }] : [];
  const [first] = asks;
  return [...asks, ...withdrawals, ...(first === undefined ? [] : ways.map((how) => ({ ...first, how })))];
}

const NEW_LINKS: readonly Pick<Ask, "fields" | "body">[] = [
  { fields: JSON_TYPE, body: '{"path":"/a.txt"}' },
  {
    fields: JSON_TYPE,
    body: JSON.stringify({
      ...{ path: "/f", permissions: ["allow-read", "allow-write"], expires_in: 60, password: "open sesame" },
      ...{ max_uses: 2, max_file_bytes: 10, ask_name: true, label: "for Bob" },
    }),
  },
  { fields: JSON_TYPE, body: '{"path":"/none"}' },
  { fields: JSON_TYPE, body: '{"path":"/a.txt","expires_in":1000000000}' },
  { fields: JSON_TYPE, body: "{" },
  { fields: { ...JSON_TYPE, "content-encoding": "gzip" }, body: "x" },
  { fields: JSON_TYPE, body: `"${"x".repeat(70_000)}"` },
  {
    fields: URLENCODED,
    body: "path=/f&permissions=allow-read&expires_in=60&password=p&max_uses=2&max_file_bytes=9&ask_name=on&label=x",
  },
  { fields: URLENCODED, body: "action=withdraw-all" },
  { fields: { "content-type": "text/plain" }, body: "x" },
];

const WITHDRAWALS: readonly Pick<Ask, "fields" | "body">[] = [
  { fields: { "content-type": "text/plain" }, body: "x" },
  { fields: URLENCODED, body: "action=never" },
  { fields: URLENCODED, body: "action=withdraw" },
];
