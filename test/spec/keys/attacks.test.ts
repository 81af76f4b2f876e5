import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { NewApiKey } from "../../../src/auth/keys/create-api-key.ts";
import type { Credentials } from "../../../src/contracts/authenticator.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { basic, type CallOptions, createTestService, type TestServiceOptions } from "../../support/service.ts";
import { createMemoryKeys } from "./memory-keys.ts";

const INSIDE = { "/alice/reports/q1.csv": "1", "/alice/reports/old/q0.csv": "0" };
const OUTSIDE = { "/alice/a.txt": "a", "/alice/secret/plan.txt": "plan", "/alice/secret/deep/x.txt": "x" };
const LINKS = { secret: "x".repeat(32) };

/** A service with everything that it can have, whose account alice has keys. */
async function open(files: Readonly<Record<string, string>>, options: TestServiceOptions = {}) {
  const own = { home_folder_path: "/alice" };
  const keys = createMemoryKeys({ alice: own });
  const accounts = [{ username: "alice", password: "secret", ...own }];
  const authentication = { ...createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }), keys };
  const withVersions = createVersionsStorage(createMemoryStorage());
  const storage = createTrashStorage(withVersions);
  const test = await createTestService({
    authentication,
    storage,
    trash: storage.trash,
    versions: withVersions.versions,
    files,
    webdav: {},
    links: LINKS,
    isDescribed: false,
    ...options,
  });

  function make(wanted?: NewApiKey) {
    const { key, text } = keys.make("alice", wanted);
    const send = (method: string, target: string, more: CallOptions = {}) =>
      test.call(method, target, {
        variant: "json",
        ...more,
        as: null,
        headers: { authorization: `Bearer ${text}`, ...more.headers },
      });
    return { key, send };
  }
  return { ...test, keys, make };
}

const LOCK = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;
const PATCH = `<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><x xmlns="urn:x">1</x></D:prop></D:set></D:propertyupdate>`;
const TUS = { "tus-resumable": "1.0.0", "upload-length": "3", "upload-metadata": `filename ${btoa("n.txt")}` };
const origin = "http://files.example";
const FORM = { variant: "html", headers: { "content-type": "application/x-www-form-urlencoded", origin } } as const;
const JSON_BODY = { "content-type": "application/json" };
const MULTIPART = { variant: "html", headers: { "content-type": "multipart/form-data; boundary=b", origin } } as const;
const PARTS = `--b\r\ncontent-disposition: form-data; name="files"; filename="n.txt"\r\n\r\nx\r\n--b--\r\n`;
const at = (path: string) => ({ destination: `http://files.example/home${path}` });
const run = (...commands: readonly object[]) => ({ headers: JSON_BODY, body: JSON.stringify({ commands }) });

type Ask = readonly [method: string, target: string, options?: CallOptions];

/** Everything that a client may ask of one path outside. */
function asksOf(path: string): readonly Ask[] {
  const url = `/home${path}`;
  const name = path.split("/").filter(Boolean).at(-1) ?? "a.txt";
  const folder = `/home${path.replace(/[^/]*\/?$/, "") || "/"}`;
  return [
    ...["GET", "HEAD", "DELETE", "MKCOL", "PROPFIND"].map((method): Ask => [method, url]),
    ["GET", `${url}?inline`],
    ["GET", `${url}?q=a`],
    ["GET", `${url}?zip`],
    ["GET", url, { headers: { range: "bytes=0-0" } }],
    ["GET", url, { headers: { "if-none-match": "*" } }],
    ["GET", url, { variant: "html" }],
    ["GET", url, { headers: { accept: "application/zip" } }],
    ["PROPFIND", url, { headers: { depth: "1" } }],
    ["PUT", url, { body: "x" }],
    ["PUT", url, { body: "x", headers: { "if-none-match": "*" } }],
    ["PUT", url, { body: "x", headers: { "if-match": "*" } }],
    ["PUT", url, { body: "x", headers: { "upload-complete": "?0", "upload-draft-interop-version": "8" } }],
    ["PROPPATCH", url, { body: PATCH }],
    ["LOCK", url, { body: LOCK }],
    ["LOCK", url, { headers: { if: "(<opaquelocktoken:1>)" } }],
    ["UNLOCK", url, { headers: { "lock-token": "<opaquelocktoken:1>" } }],
    ["COPY", url, { headers: at("/reports/got") }],
    ["MOVE", url, { headers: at("/reports/got") }],
    ["COPY", "/home/reports/q1.csv", { headers: at(path) }],
    ["MOVE", "/home/reports/q1.csv", { headers: at(path) }],
    ["COPY", "/home/reports/q1.csv", { headers: { ...at(path), overwrite: "F" } }],
    ["COPY", "/home/reports/old/", { headers: at(path) }],
    ["MOVE", "/home/reports/old/", { headers: at(path) }],
    ["POST", folder, run({ command: "delete", target: name })],
    ["POST", folder, run({ command: "purge", target: name })],
    ["POST", folder, run({ command: "create-folder", target: name })],
    ["POST", folder, run({ command: "create-folder-if-missing", target: name })],
    ["POST", folder, run({ command: "copy", target: name, destination: "/reports/got" })],
    ["POST", folder, run({ command: "move", target: name, destination: "/reports/" })],
    ["POST", folder, run({ command: "create-link", target: name })],
    ["POST", "/home/reports/", run({ command: "copy", target: "q1.csv", destination: path })],
    ["POST", "/home/reports/", run({ command: "move", target: "q1.csv", destination: path })],
    ["POST", "/home/reports/", run({ command: "copy", target: "q1.csv", destination: path, overwrite: true })],
    ["POST", "/home/reports/", run({ command: "copy", target: "old", destination: `..${path}` })],
    ["POST", folder, { ...FORM, body: `action=delete-members&selected-members=${name}` }],
    ["POST", folder, { ...FORM, body: `action=download-members&selected-members=${name}` }],
    ["POST", folder, { ...FORM, body: `action=move-members&selected-members=${name}&destination=%2Freports%2F` }],
    ["POST", "/home/reports/", { ...FORM, body: `action=copy-members&selected-members=q1.csv&destination=${path}` }],
    ["POST", folder, { ...MULTIPART, body: PARTS }],
    ["POST", folder, { headers: TUS }],
    ["POST", folder, { headers: { ...TUS, "upload-concat": "partial" } }],
    ["POST", url, { headers: { "upload-complete": "?0", "upload-draft-interop-version": "8" }, body: "x" }],
    ["GET", `/home/__svc__/versions?path=${path}`],
    ["GET", `/home/__svc__/versions/1?path=${path}`],
    ["POST", `/home/__svc__/versions?path=${path}`, run({ command: "restore", target: "1" })],
    ["POST", `/home/__svc__/versions?path=${path}`, run({ command: "purge", target: "1" })],
  ];
}

const PATHS = ["/a.txt", "/secret", "/secret/", "/secret/plan.txt", "/secret/deep/", "/", "/reports2"];

describe("a key with a path", () => {
  it("changes and tells nothing outside, whether something is there or not", async () => {
    const full = await open({ ...INSIDE, ...OUTSIDE });
    const bare = await open(INSIDE);
    const [one, other] = [full.make({ path: "/reports" }), bare.make({ path: "/reports" })];
    const told: string[] = [];
    for (const [method, target, options] of PATHS.flatMap(asksOf)) {
      const asked = `${method} ${target} ${JSON.stringify(options ?? {})}`;
      const [got, same] = [await one.send(method, target, options), await other.send(method, target, options)];
      // Pages show times.
      const [shown, hidden] = [got, same].map(({ status, header, text }) =>
        options?.variant === "html" ? `${status} ${header("error-code")}` : `${status} ${text}`,
      );
      if (shown !== hidden) told.push(`${asked}: ${shown} or ${hidden}`);
      if (got.status < 400) told.push(`${asked}: ${shown}`);
    }
    expect(told).toEqual([]);
    for (const [path, content] of Object.entries({ ...INSIDE, ...OUTSIDE })) {
      expect([path, await full.stored(path)]).toEqual([path, content]);
    }
  });
});

describe("a key that is for less than its account", () => {
  it.each([
    ["permissions", { permissions: ["allow-read", "allow-list"] }, "/reports/q1.csv", "0"],
    ["a path", { path: "/reports/old" }, "/reports/", "infinity"],
  ] as const)("because of %s ends and keeps no lock that reaches further", async (_what, wanted, path, depth) => {
    const { make, call } = await open(INSIDE);
    const { send } = make(wanted);
    const locked = await call("LOCK", `/home${path}`, { body: LOCK, headers: { depth } });
    expect(locked.status).toBe(200);
    const token = locked.header("lock-token") ?? "";
    const at = "path" in wanted ? "/home/reports/old/" : "/home/reports/q1.csv";
    expect((await send("UNLOCK", at, { headers: { "lock-token": token } })).status).toBe(403);
    expect((await send("LOCK", at, { headers: { if: `(${token})`, timeout: "Second-9" } })).status).toBe(403);
    expect((await call("PUT", "/home/reports/old/new.csv", { body: "x" })).status).toBe(depth === "0" ? 201 : 423);
    expect((await call("UNLOCK", `/home${path}`, { headers: { "lock-token": token } })).status).toBe(204);
  });

  it("ends its own lock", async () => {
    const { send } = (await open(INSIDE)).make({ path: "/reports/old" });
    const locked = await send("LOCK", "/home/reports/old/q0.csv", { body: LOCK });
    const headers = { "lock-token": locked.header("lock-token") ?? "" };
    expect((await send("UNLOCK", "/home/reports/old/q0.csv", { headers })).status).toBe(204);
  });

  it("adds nothing to the unfinished uploads that its account may have", async () => {
    const { make, call } = await open(INSIDE, { limits: { uploadsPerAccount: 16 } });
    let begun = 0;
    for (let count = 0; count < 20; count += 1) {
      const { send } = make({ path: "/reports" });
      if ((await send("POST", "/home/reports/", { headers: TUS })).status === 201) begun += 1;
    }
    expect(begun).toBe(16);
    expect((await call("POST", "/home/reports/", { headers: TUS })).status).toBe(507);
  });

  it("adds nothing to the answers that are kept for its account", async () => {
    const { make } = await open(INSIDE, { idempotency: { store: createMemoryKeyValueStore() } });
    const commands = Array.from({ length: 300 }, (_, index) => ({
      command: "delete",
      target: `${"y".repeat(100)}${index}`,
    }));
    const asked = run(...commands);
    const headers = { ...asked.headers, "idempotency-key": "once" };
    let kept = 0;
    for (let count = 0; count < 40; count += 1) {
      const { send } = make();
      await send("POST", "/home/reports/", { ...asked, headers });
      const again = await send("POST", "/home/reports/", { ...asked, headers });
      if (again.header("idempotency-replayed") === "true") kept += 1;
    }
    expect(kept).toBeGreaterThan(10);
    expect(kept).toBeLessThan(35);
  });
});

const PEER = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;

describe("an API key in the wrong place", () => {
  it("as the user name gets to no method, and its secret to no event and no log", async () => {
    const asked: string[] = [];
    const accounts = createAccountsAuthenticator({ accounts: [], logger: createRecordingLogger() });
    const authentication = {
      ...accounts,
      authenticate: async (credentials: Credentials) => {
        asked.push(credentials.username);
        return accounts.authenticate(credentials);
      },
    };
    const events: FileEvent[] = [];
    const onEvent = (event: FileEvent) => void events.push(event);
    const { call, log } = await createTestService({ authentication, onEvent });
    const { key, text } = createMemoryKeys({ alice: {} }).make("alice");
    const headers = { authorization: basic(` ${text}`, "") };
    expect((await call("GET", "/home/", { as: null, variant: "json", headers })).status).toBe(401);
    const body = JSON.stringify({ username: text, password: "x" });
    expect((await call("POST", "/__svc__/login", { as: null, variant: "json", headers: JSON_BODY, body })).status).toBe(
      401,
    );
    expect(asked).toEqual([]);
    expect(events.map(({ account }) => account)).toEqual(
      Array.from({ length: 2 }, () => expect.objectContaining({ name: `ff_${key.id}`, uuid: `ff_${key.id}` })),
    );
    expect(JSON.stringify(events) + log.text()).not.toContain(text);
  });

  it("and unknown ones are counted by their network alone: they push no name out of the store", async () => {
    const store = createMemoryKeyValueStore();
    const keysSet = new Set<string>();
    const loginStore = {
      ...store,
      set: async (key: string, value: unknown, ttl: number) => {
        keysSet.add(key);
        return store.set(key, value, ttl);
      },
    };
    const { call } = await open({}, { limits: { loginStore } });
    for (let count = 0; count < 8; count += 1) {
      const { text } = createMemoryKeys({ alice: {} }).make("alice");
      const headers = { authorization: `Bearer ${text}` };
      const options = { as: null, variant: "json", headers, connection: { peer: PEER } } as const;
      expect((await call("GET", "/home/", options)).status).toBe(401);
    }
    expect(keysSet.size).toBe(1);
  });
});
