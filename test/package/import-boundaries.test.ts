import { readdir, readFile, stat } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { builtFolder, ensureBuilt, projectFolder } from "../support/built.ts";

/** Which rooms of `src/` a room may import from, beside itself. A file directly in `src/` is a room of its own. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  // The texts of the script are texts of the pages: a type.
  contracts: ["browser"],
  // The script of the pages: it runs in browsers, and knows nothing of the service.
  browser: [],
  // The permission values are the contract's.
  wire: ["contracts"],
  // What bodies are read from.
  http: ["contracts"],
  account: ["contracts", "http"],
  auth: ["contracts", "events", "http", "wire", "process-mark-node.ts"],
  uploads: ["account", "contracts", "http"],
  archive: ["contracts", "http"],
  // The envelope of events: one maker for all who tell of something.
  events: ["contracts"],
  // Requests of the service's own to others: for what asks, and for what tells.
  outbound: ["contracts"],
  sinks: ["contracts", "events", "http", "outbound"],
  "remote-auth": ["contracts", "events", "wire", "http", "outbound"],
  // The script and its style come in as text.
  views: ["contracts", "wire", "http", "browser"],
  openapi: ["wire", "http"],
  // Groups are checked, and their permissions compiled, when the service is made.
  config: ["contracts", "uploads", "http", "account", "wire", "events"],
  endpoints: [
    "config",
    "account",
    "auth",
    "uploads",
    "archive",
    "views",
    "openapi",
    "events",
    "wire",
    "http",
    "contracts",
  ],
  "routes.ts": ["endpoints", "openapi", "config", "account", "auth", "views", "http", "contracts"],
  // The store of sessions where the options name none.
  "service.ts": [
    "routes.ts",
    "open-account.ts",
    "answers.ts",
    "endpoints",
    "config",
    "account",
    "auth",
    "events",
    "http",
    "views",
    "descriptions.ts",
    "contracts",
    "stores",
  ],
  // What all answers have, failures among them.
  "answers.ts": ["routes.ts", "endpoints", "config", "account", "auth", "http", "views"],
  // What the rows of the URL space, the options and the actions of forms say of the service.
  "descriptions.ts": ["routes.ts", "endpoints", "openapi", "config", "uploads"],
  "open-account.ts": ["config", "account", "wire", "http", "contracts"],
  "index.ts": [
    "service.ts",
    "open-account.ts",
    "remote-auth",
    "sinks",
    "uploads",
    // Types of the bodies that integrators meet.
    "wire",
    "routes.ts",
    "endpoints",
    "config",
    "account",
    "auth",
    "views",
    "http",
    "contracts",
  ],
  // Buffers, which uploads are gathered in.
  storage: ["contracts", "transfer", "process-mark-node.ts"],
  // Whose an unfinished file is.
  "process-mark-node.ts": [],
  stores: ["contracts"],
  // The checks of an authentication endpoint judge as the method itself does.
  testing: ["contracts", "outbound", "remote-auth", "wire"],
  transfer: [],
  runtimes: ["service.ts", "contracts", "http", "transfer"],
  // What the page of the API loads: the viewer, and a script and a style of ours, as text.
  "api-page": ["browser", "contracts", "views"],
  "api-page.ts": ["api-page", "contracts"],
  // The public names of the Node part; re-exports only.
  "node.ts": ["runtimes", "auth", "sinks"],
  // Those of the other runtimes, likewise.
  "bun.ts": ["runtimes"],
  "deno.ts": ["runtimes"],
  "workers.ts": ["runtimes"],
  cli: [
    // The command has the page always.
    "api-page.ts",
    "service.ts",
    "config",
    "account",
    "contracts",
    "auth",
    "wire",
    "storage",
    "stores",
    "runtimes",
    "remote-auth",
    "sinks",
    "testing",
    "transfer",
    "uploads",
  ],
};

/** Who may import a package: a room, or one file. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  "@whatwg-node/fetch": ["http/fetch.ts"],
  re2js: ["account"],
  // The sum that stores want of a list of removals.
  "@noble/hashes": ["auth", "storage/s3-remove.ts"],
  // Optional, for Redis alone.
  "@keyv/redis": ["cli/session-store.ts"],
  keyv: ["cli/session-store.ts"],
  "@remix-run/html-template": ["http", "views"],
  "@rgrove/parse-xml": ["storage/s3-xml.ts"],
  aws4fetch: ["storage/s3-client.ts"],
  commander: ["cli"],
  "content-disposition": ["http"],
  cookie: ["http"],
  mime: ["endpoints"],
  negotiator: ["http"],
  picocolors: ["cli"],
  standardwebhooks: ["sinks"],
  yaml: ["openapi"],
  zod: ["wire", "http", "auth", "cli", "remote-auth", "openapi"],
  // As text, which is built into the package.
  "swagger-ui-dist": ["api-page/viewer.ts"],
};

/** What is bundled into a text when the package is built (`build/assets.ts`). */
const ASSET = "?asset";

const MAY_IMPORT_NODE = /^(?:runtimes\/node|sinks\/node|storage\/disk|cli\/|node\.ts$)|-node\.ts$/;
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
    expect(graph.get("index.ts")?.files).toContain("service.ts");
  });

  it("go only downwards, from each room to those that it may know", () => {
    const wrong = edges().filter(([from, to]) => {
      const [room, target] = [roomOf(from), roomOf(to)];
      return room !== target && !MAY_IMPORT[room]?.includes(target);
    });
    expect(wrong).toEqual([]);
  });

  it("stay inside src/ and name files that exist", async () => {
    const unknown = edges().filter(([, to]) => !graph.has(to));
    const takers = ["views/assets.ts", "api-page/viewer.ts"];
    const assets = unknown.filter(([from, to]) => takers.includes(from) && to.endsWith(ASSET));
    expect(unknown).toEqual(assets);
    for (const [, to] of assets) expect((await stat(join(source, to.slice(0, -ASSET.length)))).isFile()).toBe(true);
  });

  it("bring the browser's script into nothing that runs elsewhere but as text and types", () => {
    const runs = edges().filter(
      ([from, to]) => roomOf(from) !== "browser" && roomOf(to) === "browser" && !to.endsWith(ASSET),
    );
    expect(runs).toEqual([["contracts/texts.ts", "browser/script-texts.ts"]]);
    expect(texts.get("contracts/texts.ts")).toContain('import type { ScriptTexts } from "../browser/script-texts.ts"');
    expect(texts.get("browser/script-texts.ts")).not.toMatch(/^export (?!interface)/m);
  });

  it("make no cycle, type imports counted", () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  it("never go through a barrel", () => {
    expect(edges().filter(([, to]) => to.endsWith("index.ts") || /^(?:bun|deno|node|workers)\.ts$/.test(to))).toEqual(
      [],
    );
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
  const beyondAccountFiles = /^(?:endpoints|views|uploads|routes\.ts)/;

  it("is not reached by an endpoint but through AccountFiles", () => {
    const named = filesWith(/\bStorageAdapter\b|\bcreate(?:Memory|Disk|Folder)Storage\b|\bmountStorage\b|\.storage\b/);
    expect(named.filter((file) => beyondAccountFiles.test(file))).toEqual([]);
    const taken = filesWith(/[{,]\s*storage\s*[,:}]/).filter((file) => beyondAccountFiles.test(file));
    expect(taken).toEqual([]);
  });

  it("is not in what an endpoint is given", () => {
    const exchange = texts.get("endpoints/endpoint.ts") ?? "";
    expect(exchange).toMatch(/readonly files: AccountFiles;/);
    expect(exchange).toMatch(/readonly config: Omit<ServiceConfig, "storage">;/);
  });

  it("goes from service.ts to the opening of accounts alone, and from there to AccountFiles and the making of homes", () => {
    expect(filesWith(/\bconfig\.storage\b/)).toEqual(["service.ts"]);
    const [given] = [...(texts.get("service.ts") ?? "").matchAll(/(\w+)\([^()]*\bconfig\.storage\b/g)];
    expect(given?.[1]).toBe("createAccountAdmission");
    const uses = [...(texts.get("open-account.ts") ?? "").matchAll(/(\w+)\([^()]*\bstorage\)/g)];
    expect(uses.map(([, taker]) => taker).sort()).toEqual(["createAccountFiles", "prepareHome"]);
  });
});

describe("platform classes in src/", () => {
  it("are never asked for by instanceof: there may be two of them", () => {
    const pattern = new RegExp(`\\binstanceof\\s+(?:globalThis\\.)?(?:${PLATFORM_CLASSES})\\b`);
    // In a browser there is one of each.
    expect(filesWith(pattern).filter((file) => roomOf(file) !== "browser")).toEqual([]);
  });

  it("are built from http/fetch.ts, and from the globals only where a framework wants them", () => {
    const wrong = ["Request", "Response", "Headers"].flatMap((name) => {
      const imported = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "[^"]*/fetch\\.ts"`);
      const made = new RegExp(`\\bnew (?:globalThis\\.)?${name}\\(|(?<![\\w.])${name}\\.(?:json|error|redirect)\\(`);
      return filesWith(made).filter((file) => !imported.test(texts.get(file) ?? ""));
    });
    expect([...new Set(wrong)]).toEqual(["runtimes/node-fetch.ts"]);
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
    "bun.js",
    "deno.js",
    "workers.js",
    "storage/memory.js",
    "storage/s3.js",
    "stores/memory.js",
    "testing/index.js",
  ])("import no node: module from %s, whatever chunks it shares with others", (entry) => {
    const files = reachable(chunks, entry);
    expect(files.filter((file) => !chunks.has(file))).toEqual([]);
    const imports = files.flatMap((file) => chunks.get(file)?.packages ?? []);
    expect(imports.filter((name) => isBuiltin(name))).toEqual([]);
  });

  it("hold nothing of the viewer but where the page of the API is asked for, and there in a file that is imported by itself", async () => {
    const has = async (file: string) => (await readFile(join(builtFolder, file), "utf8")).includes("SwaggerUIBundle=");
    const holders: string[] = [];
    for (const file of chunks.keys()) if (await has(file)) holders.push(file);
    expect(holders).toHaveLength(1);
    const entries = [...chunks.keys()].filter((file) => !/(?:^|\/)(?:chunk|program|viewer)-/.test(file));
    const reaching = entries.filter((entry) => holders.some((file) => reachable(chunks, entry).includes(file)));
    expect(reaching.sort()).toEqual(["api-page.js", "cli/main.js"]);
    for (const file of chunks.keys()) {
      const text = await readFile(join(builtFolder, file), "utf8");
      expect(text).not.toMatch(new RegExp(`(?:from|import) *"[^"]*${holders[0]?.replace(/\.js$/, "")}`));
    }
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
