import { readdir, readFile, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { builtFolder, ensureBuilt, projectFolder } from "../support/built.ts";

/**
 * Which rooms of `src/` a room may import: those below it, so the order of the rows is the order of the rooms.
 * A row may name one file of a room. The entries of the package, directly in `src/`, are checked on their own.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  contracts: ["platform"],
  http: ["platform", "contracts"],
  schemas: ["contracts"],
  browser: ["contracts"],
  // Types alone.
  client: ["schemas", "http/errors.ts"],
  react: ["client"],
  testing: ["remote-auth", "outbound", "schemas", "contracts"],
  stores: ["contracts"],
  storage: ["http/retry-after.ts", "platform", "contracts"],
  bridges: [
    "storage/file-content.ts",
    "storage/wrappers/folders.ts",
    "storage/wrappers/list-folder.ts",
    "http",
    "platform",
    "contracts",
  ],
  runtimes: ["http", "platform", "contracts"],
  "remote-auth": ["outbound", "events", "schemas", "http", "platform", "contracts"],
  outbound: ["platform", "contracts"],
  sinks: ["outbound", "events", "http", "contracts"],
  metrics: ["events", "http", "contracts"],
  events: ["http", "platform", "contracts"],
  openapi: ["schemas", "http"],
  archive: ["http", "platform", "contracts"],
  views: ["schemas", "http", "platform", "contracts"],
  uploads: ["http", "platform", "contracts"],
  webdav: ["http", "platform", "contracts"],
  sharing: ["schemas", "http", "platform", "contracts"],
  auth: ["sharing", "events", "schemas", "http", "platform", "contracts"],
  account: ["storage/folder-storage.ts", "storage/mount.ts", "http", "platform", "contracts"],
  config: ["auth/passwords/hash.ts", "account", "uploads", "events", "schemas", "http", "contracts"],
  limits: ["config", "http", "platform", "contracts"],
  request: [
    "limits",
    "config",
    "account",
    "auth",
    "sharing",
    "events",
    "openapi",
    "storage/mount.ts",
    "http",
    "contracts",
  ],
  transfers: ["request", "account", "uploads", "http", "platform", "contracts"],
  endpoints: [
    "webdav",
    "transfers",
    "request",
    "config",
    "account",
    "auth",
    "sharing",
    "uploads",
    "archive",
    "views",
    "schemas",
    "http",
    "platform",
    "contracts",
  ],
  service: [
    "endpoints",
    "transfers",
    "request",
    "limits",
    "config",
    "account",
    "auth",
    "sharing",
    "uploads",
    "views",
    "openapi",
    "events",
    "schemas",
    "http",
    "platform",
    "contracts",
    "storage/dry-run.ts",
    "stores/memory.ts",
    "stores/keyv.ts",
  ],
};

/** The command is an application of the package: it may import any room. */
const MAY_IMPORT_ANY: readonly string[] = ["cli"];

/** The command starts Node's server by its public parts, and the published cases are re-exported from their folders. */
const MAY_PASS_DOORS: readonly string[] = ["cli", "testing"];

/** Who may import a package: a room, or one file. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@whatwg-node/fetch": ["runtimes/node/request.ts"],
  re2js: ["account"],
  // The sum that stores want of a list of removals.
  "@noble/hashes": ["platform", "auth", "sinks/webhook-signature.ts", "storage/s3/remove.ts"],
  // Optional, for Redis alone.
  redis: ["cli/shared-store.ts"],
  "openid-client": ["auth/oidc/provider.ts", "cli/doctor/describe-accounts.ts"],
  "@aws-sdk/credential-provider-node": ["cli/config/storage/s3-provider-chain.ts"],
  // Optional, for spans alone.
  "@opentelemetry/api": ["service/trace-service.ts"],
  // Tokens of others, and those of links.
  jose: ["auth/jwt.ts", "auth/jwt/keys.ts", "auth/jwt/options.ts", "sharing/seal.ts"],
  // Optional, for the hooks alone.
  react: ["react"],
  "@remix-run/html-template": ["http", "views"],
  "@rgrove/parse-xml": ["storage/object-store/http/xml.ts", "webdav"],
  aws4fetch: ["storage/s3/client.ts"],
  commander: ["cli"],
  "content-disposition": ["http"],
  cookie: ["http"],
  "ipaddr.js": ["http"],
  // Optional, for the bridges alone.
  "files-sdk": ["bridges"],
  flydrive: ["bridges"],
  mime: ["http/media-types/by-name.ts"],
  negotiator: ["http"],
  picocolors: ["cli"],
  "structured-headers": ["http/digests/digest-headers.ts", "http/uploads/structured-fields.ts"],
  "js-yaml": ["openapi", "cli/config/read/config-text.ts"],
  leven: ["contracts"],
  uqr: ["views", "cli/terminal-qr-code.ts"],
  zod: ["schemas", "http", "sharing", "auth", "cli", "remote-auth", "openapi"],
  // As text, which is built into the package.
  "swagger-ui-dist": ["views/swagger-ui.ts"],
};

/** What is bundled into a text when the package is built (`build/assets.ts`). */
const ASSET = "?asset";

const MAY_IMPORT_NODE = /^(?:bridges\/flydrive\.ts$|runtimes\/node|storage\/disk|cli\/|node\.ts$)|-node\.ts$/;
const PLATFORM_CLASSES =
  "Request|Response|Headers|ReadableStream|WritableStream|TransformStream|Blob|File|FormData|URL|URLSearchParams|AbortSignal";

const source = join(projectFolder, "src");
let graph: ModuleGraph;
let texts: ReadonlyMap<string, string>;

beforeAll(async () => {
  graph = await readModuleGraph(source, ".ts");
  const read = async (file: string) => [file, await readFile(join(source, file), "utf8")] as const;
  texts = new Map(await Promise.all([...graph.keys()].map(read)));
});

describe("imports inside src/", () => {
  it("has found the sources", () => {
    expect(graph.has("index.ts")).toBe(true);
    expect(graph.get("index.ts")?.files).toContain("service/service.ts");
  });

  it("go only from a room to the rooms below it", () => {
    const wrong = edges().filter(([from, to]) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      if (room === target || isEntry(from) || MAY_IMPORT_ANY.includes(room) || to.endsWith(ASSET)) return false;
      const allowed = MAY_IMPORT[room] ?? [];
      return !allowed.includes(target) && !allowed.includes(to);
    });
    expect(wrong).toEqual([]);
  });

  it("find every room in the table, and no room that is not there", () => {
    const rooms = new Set([...graph.keys()].filter((file) => !isEntry(file)).map(roomOf));
    expect([...rooms].sort()).toEqual([...Object.keys(MAY_IMPORT), ...MAY_IMPORT_ANY].sort());
  });

  it("leave the folder src/ to the entries of the package, which only re-export", () => {
    const declaring = /^(?:export )?(?:async )?(?:function|const|let|class|interface|type) +\w/m;
    const entries = [...graph.keys()].filter(isEntry);
    expect(entries.filter((file) => declaring.test(texts.get(file) ?? ""))).toEqual([]);
  });

  it("reach the files behind a door through the door alone", () => {
    const doors = [...graph.keys()].filter((file) => !isEntry(file) && isDoor(file));
    expect(doors).toContain("storage/disk.ts");
    const wrong = edges().filter(([from, to]) => {
      const door = `${dirname(to)}.ts`;
      if (to.endsWith(ASSET) || !doors.includes(door) || from === door) return false;
      return !from.startsWith(`${dirname(to)}/`) && !isEntry(from) && !MAY_PASS_DOORS.includes(roomOf(from));
    });
    expect(wrong).toEqual([]);
  });

  it("stay inside src/ and name files that exist", async () => {
    const unknown = edges().filter(([, to]) => !graph.has(to));
    const takers = ["views/assets.ts", "views/swagger-ui.ts"];
    const assets = unknown.filter(([from, to]) => takers.includes(from) && to.endsWith(ASSET));
    expect(unknown).toEqual(assets);
    for (const [, to] of assets) expect((await stat(join(source, to.slice(0, -ASSET.length)))).isFile()).toBe(true);
  });

  it("bring the browser's scripts into nothing that runs elsewhere, but as text", () => {
    const runs = edges().filter(
      ([from, to]) => roomOf(from) !== "browser" && roomOf(to) === "browser" && !to.endsWith(ASSET),
    );
    expect(runs).toEqual([]);
  });

  it("make no cycle, type imports counted", () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  it("never go through a barrel", () => {
    expect(
      edges().filter(([, to]) => to.endsWith("index.ts") || /^(?:bun|client|deno|node|react|workers)\.ts$/.test(to)),
    ).toEqual([]);
  });

  it("take a package only where it belongs", () => {
    const wrong = packageImports().filter(([file, name]) => {
      if (isBuiltin(name)) return !MAY_IMPORT_NODE.test(file);
      const users = PACKAGES[packageOf(name)] ?? [];
      return !users.includes(file) && !users.includes(roomOf(file));
    });
    expect(wrong).toEqual([]);
  });

  it("take nothing but text of the viewer, which is no dependency of whoever installs the package", () => {
    const files = packageImports().filter(([, name]) => packageOf(name) === "swagger-ui-dist");
    expect(files.map(([, name]) => name.endsWith(ASSET))).toEqual([true, true, true, true]);
  });

  it("take no package that is not a dependency, and every dependency is taken", async () => {
    const { dependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
      await readFile(join(projectFolder, "package.json"), "utf8"),
    );
    const taken = packageImports().flatMap(([, name]) => (name.endsWith(ASSET) ? [] : [name]));
    const packages = new Set(taken.filter((name) => !isBuiltin(name)).map(packageOf));
    expect([...packages].sort()).toEqual(Object.keys({ ...dependencies, ...peerDependencies }).sort());
    for (const name of Object.keys(peerDependencies)) expect(peerDependenciesMeta[name]).toEqual({ optional: true });
  });
});

describe("the storage (SECURITY 19)", () => {
  const beyondAccountFiles = /^(?:endpoints|transfers|request|views|uploads|service\/routes\.ts)/;

  it("is not reached by an endpoint but through AccountFiles", () => {
    const named = filesWith(/\bStorageAdapter\b|\bcreate(?:Memory|Disk|Folder)Storage\b|\bmountStorage\b|\.storage\b/);
    expect(named.filter((file) => beyondAccountFiles.test(file))).toEqual([]);
    const taken = filesWith(/[{,]\s*storage\s*[,:}]/).filter((file) => beyondAccountFiles.test(file));
    expect(taken).toEqual([]);
  });

  it("is not in what an endpoint is given", () => {
    const exchange = texts.get("request/context.ts") ?? "";
    expect(exchange).toMatch(/readonly files: AccountFiles;/);
    expect(exchange).toMatch(/readonly config: Omit<ServiceConfig, "storage">;/);
  });

  it("goes from service.ts to the opening of accounts alone, and from there to AccountFiles and the making of homes", () => {
    expect(filesWith(/\bconfig\.storage\b/)).toEqual(["service/service.ts"]);
    const [given] = [...(texts.get("service/service.ts") ?? "").matchAll(/(\w+)\([^()]*\bconfig\.storage\b/g)];
    expect(given?.[1]).toBe("createStorageAccounts");
    const uses = [
      ...(texts.get("service/storage-accounts.ts") ?? "").matchAll(
        /(\w+)\([^()]*\b(?:storage|used)(?:, scheduling, own|, options)?\)/g,
      ),
    ];
    expect(uses.map(([, taker]) => taker).sort()).toEqual([
      "createAccountFiles",
      "createOpener",
      "prepareHome",
      "storage",
    ]);
  });
});

describe("platform classes in src/", () => {
  it("are never asked for by instanceof: there may be two of them", () => {
    const pattern = new RegExp(`\\binstanceof\\s+(?:globalThis\\.)?(?:${PLATFORM_CLASSES})\\b`);
    // In a browser there is one of each.
    expect(filesWith(pattern).filter((file) => roomOf(file) !== "browser")).toEqual([]);
  });

  it("are made of replies in two places, and of Node's requests in one", () => {
    const pattern = (name: string) =>
      new RegExp(`\\bnew (?:globalThis\\.)?${name}\\(|(?<![\\w.])${name}\\.(?:json|error|redirect)\\(`);
    // The client is no part of the service: it has the classes of its platform. What `jose` reads is no reply, nor is
    // what a Durable Object sends to its Worker.
    const others = ["auth/jwt/keys.ts", "stores/durable-object/object.ts"];
    const isOther = (file: string) => roomOf(file) === "client" || others.includes(file);
    const made = (name: string) => filesWith(pattern(name)).filter((file) => !isOther(file));
    expect(made("Response").sort()).toEqual(["http/reply-handler.ts", "runtimes/web/handler.ts"]);
    expect(made("Request")).toEqual(["runtimes/node/request.ts"]);
  });
});

describe("the built entries that run without Node", () => {
  let chunks: ModuleGraph;

  beforeAll(async () => {
    await ensureBuilt();
    chunks = await readModuleGraph(builtFolder, ".js");
  }, 300_000);

  it.each([
    "index.js",
    "api-page.js",
    "auth/jwt.js",
    "auth/oidc.js",
    "bun.js",
    "client.js",
    "deno.js",
    "react.js",
    "workers.js",
    "storage.js",
    "storage/azure.js",
    "storage/memory.js",
    "storage/s3.js",
    "stores/durable-object.js",
    "stores/memory.js",
    "stores/redis.js",
    "stores/sqlite.js",
    "testing/index.js",
  ])("import no node: module from %s, whatever chunks it shares with others", (entry) => {
    const files = reachable(chunks, entry);
    expect(files.filter((file) => !chunks.has(file))).toEqual([]);
    const imports = files.flatMap((file) => chunks.get(file)?.packages ?? []);
    expect(imports.filter((name) => isBuiltin(name))).toEqual([]);
  });

  it("have a client that is one file and imports nothing", () => {
    expect(reachable(chunks, "client.js")).toEqual(["client.js"]);
    expect(chunks.get("client.js")?.packages).toEqual([]);
  });

  it("have hooks for React that take the client's error from the client, and are marked for Next.js", async () => {
    expect(reachable(chunks, "react.js")).toEqual(["react.js", "client.js"]);
    expect(new Set(chunks.get("react.js")?.packages)).toEqual(new Set(["react"]));
    expect(await readFile(join(builtFolder, "react.js"), "utf8")).toMatch(/^"use client";\n/);
  });

  it("hold nothing of the viewer but where the page of the API is asked for, and there in a file that is imported by itself", async () => {
    const has = async (file: string) => (await readFile(join(builtFolder, file), "utf8")).includes("SwaggerUIBundle=");
    const holders: string[] = [];
    for (const file of chunks.keys()) if (await has(file)) holders.push(file);
    expect(holders).toHaveLength(1);
    const entries = [...chunks.keys()].filter(
      (file) => !/(?:^|\/)(?:(?:chunk|program|swagger-ui)-|swagger-ui\.js$)/.test(file),
    );
    const reaching = entries.filter((entry) => holders.some((file) => reachable(chunks, entry).includes(file)));
    expect(reaching.sort()).toEqual(["api-page.js"]);
    const importing: string[] = [];
    for (const file of chunks.keys()) {
      const text = await readFile(join(builtFolder, file), "utf8");
      expect(text).not.toMatch(new RegExp(`(?:from|import) *"[^"]*${holders[0]?.replace(/\.js$/, "")}`));
      if (text.includes('import("../parts/swagger-ui.js")')) importing.push(file);
    }
    // The command is one bundle, which takes this file from the library.
    expect(importing).toEqual([expect.stringMatching(/^cli\/program-/)]);
  });

  it("are told from Node's own, which does import them", () => {
    const imports = reachable(chunks, "node.js").flatMap((file) => chunks.get(file)?.packages ?? []);
    expect(imports).toContain("node:http");
  });
});

function edges(): [from: string, to: string][] {
  return [...graph].flatMap(([from, { files }]) => files.map((to): [string, string] => [from, to]));
}

function packageImports(): [file: string, name: string][] {
  return [...graph].flatMap(([file, { packages }]) => packages.map((name): [string, string] => [file, name]));
}

/** Whether a file is an entry of the package: it lies directly in `src/`. */
function isEntry(file: string): boolean {
  return !file.includes("/");
}

/** Whether a file is the door of a folder of its name: `storage/disk.ts` of `storage/disk/`. */
function isDoor(file: string): boolean {
  const folder = `${file.slice(0, -".ts".length)}/`;
  return [...graph.keys()].some((other) => other.startsWith(folder));
}

function roomOf(file: string): string {
  return file.split("/", 1)[0] ?? "";
}

function packageOf(name: string): string {
  return name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
}

function filesWith(pattern: RegExp): string[] {
  return [...texts].filter(([, text]) => pattern.test(text)).map(([file]) => file);
}

/** The imports of each file, by the file's path from the folder; type imports count, and re-exports. */
type ModuleGraph = ReadonlyMap<string, ModuleImports>;

/** What one file imports. */
interface ModuleImports {
  /** Files of the same folder, by their paths from it; what lies outside begins with `..`. */
  readonly files: readonly string[];
  /** Packages and `node:` modules as written. */
  readonly packages: readonly string[];
}

/** Reads the imports of all files below a folder whose names end with `extension`. */
async function readModuleGraph(folder: string, extension: string): Promise<ModuleGraph> {
  const names = await readdir(folder, { recursive: true });
  const files = names.filter((name) => name.endsWith(extension)).sort();
  return new Map(await Promise.all(files.map(async (file) => [file, await readImports(folder, file)] as const)));
}

async function readImports(folder: string, file: string): Promise<ModuleImports> {
  const { importedFiles } = ts.preProcessFile(await readFile(join(folder, file), "utf8"), true, true);
  const names = importedFiles.map(({ fileName }) => fileName);
  return {
    files: names.filter(isRelative).map((name) => relative(folder, join(folder, dirname(file), name))),
    packages: names.filter((name) => !isRelative(name)),
  };
}

function isRelative(name: string): boolean {
  return /^\.\.?\//.test(name);
}

/** The files that a file reaches, itself included. */
function reachable(graph: ModuleGraph, from: string): readonly string[] {
  const found = new Set([from]);
  for (const file of found) for (const next of graph.get(file)?.files ?? []) found.add(next);
  return [...found];
}

/** A cycle of imports, as the files on it; `undefined` when there is none. */
function findCycle(graph: ModuleGraph): readonly string[] | undefined {
  const done = new Set<string>();

  function visit(file: string, way: readonly string[]): readonly string[] | undefined {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of graph.get(file)?.files ?? []) {
      const cycle = visit(next, [...way, file]);
      if (cycle !== undefined) return cycle;
    }
    done.add(file);
    return undefined;
  }

  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
