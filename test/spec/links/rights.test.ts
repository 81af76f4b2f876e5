import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { explainPermission } from "../../../src/account/explain.ts";
import { toLinkOperations } from "../../../src/account/links/link-account.ts";
import type { AccountSettings, Operation } from "../../../src/contracts/account.ts";
import { LINK_PERMISSIONS, type LinkPermission } from "../../../src/contracts/links.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { fillStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";

const FILES = {
  "/alice/a.txt": "above",
  "/alice/sub/": "",
  "/alice/sub/a.txt": "a",
  "/alice/sub/b.txt": "b",
  "/alice/sub/deep/a.txt": "deep",
  "/alice/sub/deep/secret/a.txt": "secret",
  "/alice/other/a.txt": "other",
  "/shared/a.txt": "shared",
};

/** Names that requests use: those that are there, new ones, and ways out. */
const NAMES = ["a.txt", "b.txt", "new", "deep", "secret", "shared", "sub", "other", "__svc__", "..", "%2e%2e"];
const VALUES = ["allow-full-control", ...LINK_PERMISSIONS, "allow-rename", "allow-set-attributes"];
const EXPRESSIONS = ["/sub/deep/*", "**/secret/**", "/sub/*.txt", "/shared/**", "**/new", "/sub"];

const valuesOf = fc.oneof(
  fc.constant(["allow-full-control"]),
  fc.subarray(VALUES, { minLength: 1 }),
  fc.constant(["deny-full-control"]),
);

const accountOf = fc
  .record({ general: valuesOf, rules: fc.array(fc.tuple(fc.constantFrom(...EXPRESSIONS), valuesOf), { maxLength: 3 }) })
  .map(
    ({ general, rules }): AccountSettings => ({
      home_folder_path: "/alice",
      virtual_folders: [["/sub/shared", "/shared"]],
      permissions: [general, ...rules.map(([expression, values]) => [expression, ...values])],
    }),
  );

const PATHS = [
  "a.txt",
  "b.txt",
  "new",
  "new/",
  "deep/",
  "deep/a.txt",
  "sub/a.txt",
  "sub/new",
  "secret/",
  "shared/a.txt",
];
const pathOf = fc.oneof(
  fc.constantFrom(...PATHS),
  fc.constantFrom(...PATHS),
  fc
    .tuple(fc.array(fc.constantFrom(...NAMES), { maxLength: 4 }), fc.boolean())
    .map(([names, isFolder]) => (names.length === 0 ? "" : `${names.join("/")}${isFolder ? "/" : ""}`)),
);

const requestOf = fc.record({
  method: fc.constantFrom(
    "GET",
    "GET",
    "GET",
    "HEAD",
    "PUT",
    "DELETE",
    "MKCOL",
    "COPY",
    "MOVE",
    "PROPFIND",
    "zip",
    "command",
  ),
  path: pathOf,
  to: pathOf,
  command: fc.constantFrom("delete", "create-folder", "create-folder-if-missing", "copy", "move", "rename"),
});

type Snapshot = ReadonlyMap<string, string | undefined>;

/** Everything in a storage: contents by path, `undefined` for folders. */
async function snapshot(storage: StorageAdapter, folder = "/"): Promise<Map<string, string | undefined>> {
  const found = new Map<string, string | undefined>();
  for await (const { name, kind } of storage.list(folder)) {
    const path = `${folder === "/" ? "" : folder}/${name}`;
    found.set(path, kind === "file" ? await new Response((await storage.read(path)).body).text() : undefined);
    if (kind === "folder") for (const [below, content] of await snapshot(storage, path)) found.set(below, content);
  }
  return found;
}

/** The path of the account that a path of the storage has; `undefined` for what it does not reach. */
function toVirtual(real: string): string | undefined {
  if (real === "/shared" || real.startsWith("/shared/")) return `/sub${real}`;
  return real.startsWith("/alice/") ? real.slice("/alice".length) : undefined;
}

/** What a path without a file or folder has. */
const NOTHING = Symbol("nothing");

/** The operations that explain a change of one path. */
function findOperations(
  before: string | undefined | typeof NOTHING,
  after: string | undefined | typeof NOTHING,
): readonly Operation[] {
  if (before === NOTHING) return after === undefined ? ["create-folder"] : ["write"];
  if (after === NOTHING) return before === undefined ? ["delete-folder"] : ["delete-file"];
  return ["write", "delete-file"];
}

interface LinkRequest {
  readonly method: string;
  readonly path: string;
  readonly to: string;
  readonly command: string;
}

async function send(call: TestService["call"], url: string, { method, path, to, command }: LinkRequest) {
  const by = { as: null, variant: "json" } as const;
  switch (method) {
    case "zip":
      return call("GET", `${url}${path}?zip`, by);
    case "PUT":
      return call("PUT", url + path, path.endsWith("/") || path === "" ? by : { ...by, body: "new content" });
    case "COPY":
    case "MOVE":
      return call(method, url + path, { ...by, headers: { destination: url + to, overwrite: "T" } });
    case "command": {
      const destination = command === "copy" || command === "move" ? { destination: to } : {};
      const body = JSON.stringify({
        commands: [{ command, target: path.replace(/\/$/, "") || "a.txt", ...destination }],
      });
      return call("POST", url, { ...by, headers: { "content-type": "application/json" }, body });
    }
    default:
      return call(method, url + path, by);
  }
}

/** A link to `root`, whose account has lost some of its rights since. */
async function createLink(settings: AccountSettings, permissions: readonly LinkPermission[], root: string) {
  const storage = createMemoryStorage();
  await fillStorage(storage, FILES);
  let account: AccountSettings = { ...settings, permissions: [["allow-full-control"]] };
  const { service, call } = await createTestService({
    storage,
    authentication: {
      name: "changing",
      authenticate: async () => ({ outcome: "unknown" }),
      lookup: async () => ({ outcome: "found", account }),
    },
    links: { secret: "x".repeat(32), store: createMemoryKeyValueStore() },
    webdav: {},
    isDescribed: false,
  });
  const { urlPath } = await service.links.create({ username: "alice", path: root, permissions });
  account = settings;
  const granted = toLinkOperations(permissions);
  const may = (path: string, operation: Operation): boolean =>
    granted.has(operation) && explainPermission({ username: "alice", settings }, path, operation).granted;
  return { storage, send: (request: LinkRequest) => send(call, urlPath, request), may };
}

const seen = { changes: 0, reads: 0 };

/** Requests that are permitted where everything is: those of random sequences may all be refused. */
const PERMITTED = ["sub/deep/a.txt", "sub/shared/a.txt", "other/a.txt"].flatMap((path) =>
  ["GET", "PUT", "DELETE"].map((method): LinkRequest => ({ method, path, to: "", command: "delete" })),
);

/** Expects that a link may do what has changed in the storage. */
function expectPermitted(
  before: Snapshot,
  after: Snapshot,
  root: string,
  may: (path: string, operation: Operation) => boolean,
): void {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const [old, next] = [before, after].map((all) => (all.has(path) ? all.get(path) : NOTHING));
    if (old === next) continue;
    seen.changes += 1;
    const virtual = toVirtual(path) ?? "outside of the account";
    expect(virtual.startsWith(root), virtual).toBe(true);
    for (const operation of findOperations(old, next)) expect(may(virtual, operation), operation + virtual).toBe(true);
  }
}

describe("a sequence of requests by a link (SHARING 5.1, 12)", () => {
  it("does nothing that the permissions of the account, or those of the link, refuse", async () => {
    async function run(
      settings: AccountSettings,
      values: readonly LinkPermission[],
      path: string,
      requests: readonly LinkRequest[],
    ): Promise<void> {
      const removes = values.some((value) => value.startsWith("allow-delete"));
      const link = await createLink(settings, removes ? [...values, "allow-list"] : values, path);
      const root = path === "/" ? "/" : `${path}/`;
      for (const request of requests) {
        const before = await snapshot(link.storage);
        const answer = await link.send(request);
        expect(answer.status).not.toBe(500);
        expectPermitted(before, await snapshot(link.storage), root, link.may);
        if (answer.status !== 200 || request.method !== "GET" || /(?:^|\/)$/.test(request.path)) continue;
        seen.reads += 1;
        expect(link.may(root + request.path, "read"), root + request.path).toBe(true);
      }
    }

    await fc.assert(
      fc.asyncProperty(
        accountOf,
        fc.oneof(fc.constant([...LINK_PERMISSIONS]), fc.subarray([...LINK_PERMISSIONS], { minLength: 1 })),
        fc.constantFrom("/", "/sub", "/sub/deep", "/sub/shared"),
        fc.array(requestOf, { minLength: 1, maxLength: 12 }),
        run,
      ),
      {
        numRuns: amount({ short: 80, long: 1000 }),
        examples: [
          [
            {
              home_folder_path: "/alice",
              virtual_folders: [["/sub/shared", "/shared"]],
              permissions: [["allow-full-control"]],
            },
            [...LINK_PERMISSIONS],
            "/",
            PERMITTED,
          ],
        ],
      },
    );
    expect(seen.changes).toBeGreaterThan(5);
    expect(seen.reads).toBeGreaterThan(2);
  }, 60_000);
});
