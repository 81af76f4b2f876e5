import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { type StorageAdapter, StorageError, type StoredFile } from "../../src/contracts/storage-adapter.ts";
import { EVENT_MESSAGES } from "../../src/events/catalog.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { createHttpAuthenticator } from "../../src/remote-auth/http-authenticator.ts";
import { closeNodeServer, createNodeServer } from "../../src/runtimes/node/server.ts";
import { fileEventSchema } from "../../src/schemas/events.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { createMemoryKeys } from "../spec/keys/memory-keys.ts";
import { LINK_SECRET } from "../support/links.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { fillStorage, overrideStorage } from "../support/storage.ts";
import { connectWire, eventually } from "./node/raw-client.ts";

const TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const server = { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" };
const component = { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635" };
const MEBIBYTE = 1_048_576;
const secrets = new Set<string>();

const metrics = createMetrics();
const logger = createRecordingLogger();
const all: FileEvent[] = [];
let events: FileEvent[] = [];
let http: Server;
let port: number;
let passed = 0;

beforeAll(async () => {
  const memory = createMemoryStorage();
  const versioned = createVersionsStorage(withFailures(memory));
  const storage = createTrashStorage(versioned);
  await fillStorage(memory, {
    "/alice/a.txt": "hello",
    "/alice/large.bin": new Uint8Array(8 * MEBIBYTE),
    "/alice/fails.bin": new Uint8Array(100),
    "/alice/folder/b.txt": "b",
    "/alice/odd/fails.bin": new Uint8Array(100),
    "/alice/unlisted/x": "",
  });
  const onEvent = (event: FileEvent): void => {
    events.push(event);
    all.push(event);
    metrics.onEvent(event);
  };
  const account = { uuid: "u-1", email: "a@example.org", home_folder_path: "/alice" };
  const accounts = [{ username: "alice", password: "secret-of-alice", ...account }];
  const service = createFileService({
    storage,
    trash: storage.trash,
    versions: versioned.versions,
    authentication: [
      {
        ...createAccountsAuthenticator({ accounts, passwordHasher: quickHasher, logger }),
        keys: createMemoryKeys({ alice: account }),
      },
      // Nothing listens there.
      createHttpAuthenticator({ url: "http://127.0.0.1:9/", testAtStart: false, fetch: refuse, logger, onEvent }),
    ],
    // Each request is a login.
    basicCacheSeconds: 0,
    webdav: {},
    links: { secret: LINK_SECRET, store: createMemoryKeyValueStore(), passwordHasher: quickHasher },
    metadataFields: "X-Labels",
    triggers: { publish: {} },
    server,
    component,
    onEvent,
    logger,
    clock: () => Date.now() + passed,
  });
  http = createNodeServer(service) as Server;
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  ({ port } = http.address() as AddressInfo);
});

afterAll(async () => {
  http.closeAllConnections();
  await closeNodeServer(http);
});

const refuse: typeof fetch = async () => {
  throw Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error(), { code: "ECONNREFUSED" }) });
};

/** Some paths fail as storages do. */
function withFailures(base: StorageAdapter): StorageAdapter {
  return overrideStorage(base, {
    async read(path, range): Promise<StoredFile> {
      const file = await base.read(path, range);
      if (!path.endsWith("fails.bin")) return file;
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            controller.enqueue(new Uint8Array(10));
          },
          pull() {
            throw new StorageError("unavailable", "the disk is gone");
          },
        },
        { highWaterMark: 0 },
      );
      return { entry: file.entry, body };
    },
    async *list(path) {
      yield* base.list(path);
      if (path.endsWith("/unlisted")) throw new StorageError("unavailable", "the disk is gone");
    },
    async write(path, content, options) {
      if (!path.endsWith("/full.bin")) return base.write(path, content, options);
      for await (const _chunk of content) throw new StorageError("no-space");
      throw new StorageError("no-space");
    },
    async createFolder(path, options) {
      if (path.endsWith("/defect")) throw new Error("/var/lib/secret/path is broken");
      await base.createFolder(path, options);
    },
  });
}

interface Ask {
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request on a connection of its own, and reads the answer, or as much of it as comes. */
async function ask(
  method: string,
  path: string,
  { accept = "application/json", headers = {}, body }: Ask = {},
): Promise<string> {
  const authorization = headers.Authorization ?? `Basic ${btoa("alice:secret-of-alice")}`;
  secrets.add(authorization).add(authorization.split(" ")[1] as string);
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { Accept: accept, Authorization: authorization, ...headers },
      redirect: "manual",
      ...(body !== undefined && { body }),
    });
    return `${response.status} ${await response.text()}`;
  } catch {
    return "broken off";
  }
}

/** Copies or moves a file of the root folder, which is created unless it is `never.txt`, over the same new path. */
async function copyOrMove(command: "copy" | "move", target: string): Promise<void> {
  if (target !== "never.txt") await ask("PUT", `/home/${target}`, { body: "x" });
  const commands = [{ command, target, destination: "folder/moved.txt", overwrite: true }];
  await ask("POST", "/home/", {
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ commands }),
  });
}

/** Sets some properties of a file. */
async function setProperties(name: string, count: number): Promise<void> {
  const properties = Array.from({ length: count }, (_, index) => `<x${index} xmlns="urn:x"/>`).join("");
  const body = `<p:propertyupdate xmlns:p="DAV:"><p:set><p:prop>${properties}</p:prop></p:set></p:propertyupdate>`;
  await ask("PROPPATCH", `/home/${name}`, { headers: { "Content-Type": "application/xml" }, body });
}

let lockToken = "";

/** Locks a file. The tests of locks need each other: the second one fails, and the last one ends the lock. */
async function lockFile(): Promise<void> {
  const type = "<d:lockscope><d:exclusive/></d:lockscope><d:locktype><d:write/></d:locktype>";
  const body = `<d:lockinfo xmlns:d="DAV:">${type}</d:lockinfo>`;
  const text = await ask("LOCK", "/home/a.txt", { headers: { "Content-Type": "application/xml" }, body });
  lockToken = /opaquelocktoken:[0-9a-f-]+/.exec(text)?.[0] ?? lockToken;
}

/** Unlocks the file, so that other events can happen. */
async function unlockFile(): Promise<void> {
  await ask("UNLOCK", "/home/a.txt", { headers: { "Lock-Token": `<${lockToken}>` } });
}

/** Makes a link to a file, with a password; returns its URL for its owner, and that for others. */
async function makeLink(): Promise<{ readonly own: string; readonly shared: string }> {
  const body = JSON.stringify({ path: "/a.txt", password: "password-of-the-link", label: "for Bob" });
  const text = await ask("POST", "/home/__svc__/links", { headers: { "Content-Type": "application/json" }, body });
  const [, id = ""] = /"id":"([0-9a-f]{32})"/.exec(text) ?? [];
  const [, shared = "", token = ""] = /"url":"http:\/\/[^/"]+(\/__svc__\/share\/([^/"]+)\/)"/.exec(text) ?? [];
  secrets.add("password-of-the-link").add(token);
  return { own: `/home/__svc__/links/${id}`, shared };
}

/** Opens a link that was withdrawn. */
async function openWithdrawn(): Promise<void> {
  const { own, shared } = await makeLink();
  await ask("DELETE", own);
  await ask("GET", shared);
}

/** Makes an API key; returns its URL. */
async function makeKey(): Promise<string> {
  const body = JSON.stringify({ label: "backup", permissions: ["allow-read"] });
  const text = await ask("POST", "/home/__svc__/keys", { headers: { "Content-Type": "application/json" }, body });
  const [, id = ""] = /"id":"([0-9a-f]{16})"/.exec(text) ?? [];
  const [, key = ""] = /"key":"(ff_[0-9a-f_]+)"/.exec(text) ?? [];
  secrets.add(key);
  return `/home/__svc__/keys/${id}`;
}

async function login(): Promise<string> {
  const body = JSON.stringify({ username: "alice", password: "secret-of-alice" });
  const text = await ask("POST", "/__svc__/login", { headers: { "Content-Type": "application/json" }, body });
  const id = /[0-9a-f]{32}/.exec(text)?.[0] ?? "";
  secrets.add(id);
  return id;
}

async function cutDownload(): Promise<void> {
  const client = await connectWire(port);
  client.send(
    `GET /home/large.bin HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${btoa("alice:secret-of-alice")}\r\n\r\n`,
  );
  await client.until("\r\n\r\n");
  client.socket.destroy();
}

/** Removes a file, and then runs a command on it in the trash. */
async function runInTrash(command: "restore" | "purge", name: string): Promise<void> {
  await ask("PUT", `/home/${name}`, { body: "x" });
  await ask("DELETE", `/home/${name}`);
  await eventually(() => events.some(({ id }) => id === 40012));
  const removed = events.find((event) => event.id === 40012);
  await ask("POST", "/home/__svc__/trash", {
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ commands: [{ command, target: removed?.data.trash }] }),
  });
}

/** Replaces a file, and then removes the version that it has of it. */
async function purgeVersion(name: string): Promise<void> {
  for (const body of ["x", "y"]) await ask("PUT", `/home/${name}`, { body });
  const url = `/home/__svc__/versions?path=%2F${name}`;
  const { content } = JSON.parse((await ask("GET", url)).slice("200 ".length)) as {
    content: readonly { id: string }[];
  };
  const commands = content.map(({ id }) => ({ command: "purge", target: id }));
  const headers = { "Content-Type": "application/json" };
  await ask("POST", url, { headers, body: JSON.stringify({ commands }) });
}

/** What causes each event, the first of them with what is in it beside what all have. */
const causes: Readonly<Record<FileEvent["id"], readonly [cause: () => Promise<unknown>, data: object]>> = {
  40000: [
    () => ask("GET", "/home/a.txt", { headers: { Authorization: `Basic ${btoa("alice:wrong-password")}` } }),
    { credentials: { type: "password" }, reason: "credentials", verdicts: expect.any(Array) },
  ],
  40004: [() => ask("GET", "/home/a.txt"), { path: "/a.txt", real_path: "/alice/a.txt" }],
  40006: [() => ask("GET", "/home/folder/"), { path: "/folder", real_path: "/alice/folder" }],
  40007: [() => ask("GET", "/home/a.txt"), { session: false, credentials: { type: "password" } }],
  40010: [() => ask("PUT", "/home/made/"), { path: "/made", real_path: "/alice/made" }],
  40011: [() => ask("PUT", "/home/none/made/"), { path: "/none/made", details: "The parent folder does not exist." }],
  40012: [
    async () => {
      await ask("PUT", "/home/gone.txt", { body: "x" });
      await ask("DELETE", "/home/gone.txt");
    },
    { path: "/gone.txt", real_path: "/alice/gone.txt", trash: expect.any(String) },
  ],
  40013: [() => ask("DELETE", "/home/never.txt"), { path: "/never.txt", details: "Not found." }],
  40014: [() => ask("GET", "/home/unlisted/"), { path: "/unlisted", details: "The storage is not available." }],
  40015: [
    async () => {
      const id = await login();
      passed += 2000 * 1000;
      await ask("GET", "/home/a.txt", { headers: { Authorization: `session ${id}` } });
    },
    { duration: expect.closeTo(2000, 0) },
  ],
  40016: [() => ask("GET", "/home/folder/", { accept: "application/zip" }), { path: "/folder" }],
  40017: [
    () => ask("PUT", "/home/new.txt", { body: "12345", headers: { "X-Labels": 'project=a,"project=b, c"' } }),
    { path: "/new.txt", real_path: "/alice/new.txt", total_write: 5, metadata: { project: ["a", "b, c"] } },
  ],
  40018: [cutDownload, { path: "/large.bin", details: "The client disconnected." }],
  40019: [
    () => ask("PUT", "/home/new.txt?x=secret", { body: "1", headers: { "If-Match": "odd" } }),
    { method: "PUT", path: "/home/new.txt", details: "The if-match header is not a list of entity-tags." },
  ],
  40021: [() => ask("PUT", "/home/new.txt", { body: "12345" }), { path: "/new.txt", real_path: "/alice/new.txt" }],
  40022: [
    () => ask("PUT", "/home/full.bin", { body: "12345", headers: { "X-Labels": "a=b" } }),
    { path: "/full.bin", details: "The storage is full.", metadata: { a: ["b"] } },
  ],
  40023: [
    () => ask("PUT", "/home/defect/"),
    { method: "PUT", path: "/home/defect/", details: expect.stringMatching(/^Internal error [\da-f-]{36}\.$/) },
  ],
  40025: [() => ask("GET", "/home/folder/", { accept: "application/zip" }), { total_read: expect.any(Number) }],
  40026: [
    async () => {
      await ask("PUT", "/home/passing/");
      await ask("DELETE", "/home/passing/");
    },
    { path: "/passing", real_path: "/alice/passing" },
  ],
  40027: [() => ask("DELETE", "/home/never/"), { path: "/never", details: "Not found." }],
  40030: [
    () => ask("PUT", "/home/folder/"),
    { path: "/folder", details: "A file or folder with that name already exists." },
  ],
  40034: [
    () => ask("GET", "/home/folder/", { accept: "text/html" }),
    { path: "/folder", total_read: expect.any(Number) },
  ],
  40035: [() => ask("GET", "/home/never.txt"), { path: "/never.txt", details: "Not found." }],
  40037: [
    async () => ask("POST", "/__svc__/logout", { headers: { Authorization: `session ${await login()}` } }),
    { duration: expect.any(Number) },
  ],
  40039: [() => ask("GET", "/home/a.txt"), { path: "/a.txt", total_read: 5 }],
  40040: [
    () => ask("GET", "/home/fails.bin"),
    { path: "/fails.bin", details: "The storage is not available.", total_read: 10 },
  ],
  40041: [
    () => ask("GET", "/home/odd/", { accept: "application/zip" }),
    { path: "/odd", details: "The storage is not available." },
  ],
  40042: [
    () => ask("GET", "/home/a.txt", { headers: { Authorization: `Basic ${btoa("nobody:and their guess")}` } }),
    { url: "http://127.0.0.1:9/", suspended: 300 },
  ],
  40043: [
    () =>
      ask("POST", "/home/", {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ commands: [{ command: "publish", target: "a.txt" }] }),
      }),
    { trigger: "publish", path: "/a.txt", details: null },
  ],
  40055: [
    () => copyOrMove("move", "moved-from.txt"),
    { path: "/moved-from.txt", destination: "/folder/moved.txt", replaced: false },
  ],
  40056: [() => copyOrMove("move", "never.txt"), { path: "/never.txt", details: "Not found." }],
  49001: [
    () => copyOrMove("copy", "moved-from.txt"),
    { path: "/moved-from.txt", destination: "/folder/moved.txt", replaced: true },
  ],
  49111: [
    () => runInTrash("restore", "restored.txt"),
    { path: "/restored.txt", real_path: "/alice/restored.txt", trash: expect.any(String) },
  ],
  49112: [
    () => runInTrash("purge", "purged.txt"),
    { path: "/purged.txt", real_path: "/alice/purged.txt", trash: expect.any(String), reason: "account" },
  ],
  49113: [
    () => purgeVersion("replaced.txt"),
    { path: "/replaced.txt", real_path: "/alice/replaced.txt", version: expect.any(String) },
  ],
  49003: [() => lockFile(), { path: "/a.txt", scope: "exclusive", depth: "0", seconds: 3600 }],
  49004: [
    () => lockFile(),
    { path: "/a.txt", scope: "exclusive", depth: "0", details: "Somebody else has a lock on this." },
  ],
  49005: [() => unlockFile(), { path: "/a.txt", real_path: "/alice/a.txt", scope: "exclusive", depth: "0" }],
  49006: [() => setProperties("a.txt", 1), { path: "/a.txt", real_path: "/alice/a.txt" }],
  49007: [() => setProperties("a.txt", 101), { path: "/a.txt", details: "The storage is full." }],
  49101: [
    () => makeLink(),
    {
      path: "/a.txt",
      real_path: "/alice/a.txt",
      permissions: ["allow-read"],
      expires: expect.any(Number),
      has_password: true,
      max_uses: null,
    },
  ],
  49121: [() => makeKey(), { permissions: ["allow-read"], path: "/", expires: null }],
  49122: [async () => ask("DELETE", await makeKey()), { path: "/" }],
  49102: [async () => ask("DELETE", (await makeLink()).own), { path: "/a.txt" }],
  49103: [() => openWithdrawn(), { reason: "withdrawn" }],
  49002: [() => copyOrMove("copy", "never.txt"), { path: "/never.txt", details: "Not found." }],
};

describe("events over the wire (6, CONTRACT 8)", () => {
  it.each(Object.keys(causes).map(Number) as FileEvent["id"][])("%i", async (id) => {
    events = [];
    const [cause, data] = causes[id];
    await cause();
    const find = (): FileEvent | undefined => events.find((event) => event.id === id);
    await eventually(() => find() !== undefined, `event ${id}`);
    const event = find() as FileEvent;
    expect(fileEventSchema.parse(event)).toEqual(event);
    expect(event).toMatchObject({ message: EVENT_MESSAGES[id], server, data });
    for (const each of events) expect(fileEventSchema.safeParse(each).error?.issues).toBeUndefined();
  });

  it("hold no password, session or authorization that was used, nor do the log and the metrics", () => {
    const told = [JSON.stringify(all), logger.text(), metrics.render()].join("\n");
    expect(secrets.size).toBeGreaterThan(6);
    expect([...secrets].filter((secret) => told.includes(secret))).toEqual([]);
    expect(told).not.toMatch(/secret-of-alice|wrong-password|x=secret/);
  });

  it("carry the account and its peer, the component, and the trace of the request", async () => {
    events = [];
    await ask("GET", "/home/a.txt", { headers: { traceparent: TRACEPARENT, tracestate: "a=b" } });
    await eventually(() => events.length === 3);
    const peer = { address: "127.0.0.1", port: expect.any(Number), family: "IPv4", protocol: "TCP" };
    for (const event of events) {
      expect(event).toMatchObject({
        account: { uuid: "u-1", name: "alice", email: "a@example.org", peer },
        component: { ...component, type: "http" },
        server,
        trace: { traceparent: TRACEPARENT, tracestate: "a=b" },
      });
    }
    expect(events.map(({ id }) => id)).toEqual([40007, 40004, 40039]);
  });
});
