import { execFile } from "node:child_process";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { builtCommand, builtFolder, ensureBuilt, projectFolder } from "../support/built.ts";

interface Manifest {
  readonly version: string;
  readonly sideEffects: boolean;
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/**
 * What each public entry exports at run time. A name that goes or comes is a change for the users: to be made
 * knowingly.
 */
const PUBLIC_NAMES: Readonly<Record<string, readonly string[]>> = {
  ".": [
    "KEY_PERMISSIONS",
    "LINK_PERMISSIONS",
    "LINK_REFUSALS",
    "OPERATIONS",
    "PERMISSION_VALUES",
    "HttpError",
    "NIL_UUID",
    "OptionError",
    "StorageError",
    "VERSION",
    "createAccountOpener",
    "createAccountsAuthenticator",
    "createApiKey",
    "createAuthenticationChain",
    "createAuthenticationEndpoint",
    "createFileService",
    "createHttpAuthenticator",
    "createMetrics",
    "createPasswordHasher",
    "createTotp",
    "createWebhookSink",
    "explainPermission",
    "isHttpError",
    "isStorageError",
    "mountStorage",
    "mountTrash",
    "mountVersions",
  ],
  "./api-page": ["createApiPage"],
  "./auth/jwt": ["createJwtIdentifier"],
  "./auth/oidc": ["createOidcAuthenticator"],
  "./bridges/files-sdk": ["toFilesSdkAdapter"],
  "./bridges/flydrive": ["toFlydriveDriver"],
  "./bun": ["toBunHandler", "toBunServeOptions"],
  "./client": ["FileferryError", "createClient"],
  "./deno": ["toDenoHandler"],
  "./node": [
    "closeNodeServer",
    "createAccountsFileAuthenticator",
    "createClamdGuard",
    "createNdjsonSink",
    "createNodePasswordHasher",
    "createNodeServer",
    "prepareNodeServer",
    "toFetchHandler",
    "toNodeConnection",
    "toNodeListener",
    "toNodeMiddleware",
  ],
  "./react": ["useFolder", "useUploads"],
  "./storage": [
    "StorageError",
    "compareNames",
    "isStorageError",
    "toByteSource",
    "toByteStream",
    "toMembers",
    "toPathSegments",
    "toStoredFile",
    "copyByReading",
    "moveByCopying",
  ],
  "./storage/azure": ["createAzureStorage"],
  "./storage/disk": ["createDiskStorage"],
  "./storage/memory": ["createMemoryStorage"],
  "./storage/quota": ["createQuotaStorage"],
  "./storage/trash": ["createTrashStorage"],
  "./storage/versions": ["createVersionsStorage"],
  "./storage/r2": ["createR2Storage"],
  "./stores/cloudflare-kv": ["createCloudflareKvStore"],
  "./storage/s3": ["createS3Storage"],
  "./stores/durable-object": ["FileferryStore", "createDurableObjectStore"],
  "./stores/memory": ["createMemoryKeyValueStore"],
  "./stores/redis": ["createRedisStore"],
  "./stores/sqlite": ["createSqliteStore", "shareSqliteDatabase"],
  "./workers": ["toWorkerHandler"],
  "./tracing": ["traceService"],
  "./testing": [
    "atomicStoreCases",
    "authenticatorCases",
    "createFaultyStorage",
    "endpointCases",
    "isPlayable",
    "lookupCases",
    "storageCases",
    "storeCases",
    "uploadCases",
  ],
};

/** A mark of a clause in a comment, such as `(6)` or `(4.1, 4.2)`. A size such as `(128 MiB)` is none. */
const CLAUSE = /\b(?:CONTRACT|SECURITY|DESIGN|HOUSE)\b|\(\d+\.\d+[),]|\(\d{1,2}\)/;

let manifest: Manifest;

beforeAll(async () => {
  await ensureBuilt();
  manifest = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
}, 300_000);

describe("the built package", () => {
  it("is loaded without Node's own fetch API, which takes 2 MB", async () => {
    const entries = ["index.js", "node.js"].map((name) => pathToFileURL(join(builtFolder, name)).href);
    const imports = entries.map((entry) => `import "${entry}";`).join("");
    const program = `${imports} console.log(process.moduleLoadList.filter((name) => name.includes("undici")).length);`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
    expect(stdout.trim()).toBe("0");
  });

  it("has the public entries, with their types, and no others", async () => {
    const entries = Object.keys(manifest.exports).filter((entry) => !entry.endsWith(".json"));
    expect(entries.sort()).toEqual(Object.keys(PUBLIC_NAMES).sort());
    for (const entry of entries) {
      expect((await stat(join(projectFolder, targetOf(entry, "types")))).isFile()).toBe(true);
    }
  });

  it.each(Object.keys(PUBLIC_NAMES))("exports from %s the names it promises", async (entry) => {
    const names = Object.keys(await importEntry(entry));
    expect(names.sort()).toEqual([...(PUBLIC_NAMES[entry] ?? [])].sort());
  });

  it("exports the version of its package.json", async () => {
    expect((await importEntry(".")).VERSION).toBe(manifest.version);
  });

  it("does nothing on import, as sideEffects says", async () => {
    expect(manifest.sideEffects).toBe(false);
    const script = `${Object.keys(PUBLIC_NAMES)
      .map((entry) => `await import(${JSON.stringify(entryUrl(entry))});`)
      .join("")}process.stdout.write("done");`;
    const { stdout, stderr } = await runNode(["--input-type=module", "--eval", script]);
    expect({ stdout, stderr }).toEqual({ stdout: "done", stderr: "" });
  });

  it("names no clause of the papers that it was built after, in the types that users see on hover", async () => {
    const types = (await readdir(builtFolder, { recursive: true })).filter((name) => name.endsWith(".d.ts"));
    const marked: string[] = [];
    for (const name of types) {
      const lines = (await readFile(join(builtFolder, name), "utf8")).split("\n");
      marked.push(...lines.filter((line) => CLAUSE.test(line)));
    }
    expect(types).toContain("index.d.ts");
    expect(marked).toEqual([]);
  });

  it("has a command that the system can run by its first line", async () => {
    expect(join(projectFolder, manifest.bin.fileferry ?? "")).toBe(builtCommand);
    expect(await readFile(builtCommand, "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});

describe("npm pack", () => {
  let packed: readonly string[];

  beforeAll(async () => {
    const { stdout } = await promisify(execFile)("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: projectFolder,
    });
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    packed = files.map(({ path }) => path);
  }, 60_000);

  it("takes the build and the papers, no source and no test", () => {
    const notices = ["dist/THIRD-PARTY-NOTICES.txt", "dist/cli/THIRD-PARTY-NOTICES.txt"];
    const papers = ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "dist/config.schema.json", ...notices];
    expect(packed).toEqual(expect.arrayContaining(papers));
    const others = packed.filter((path) => !papers.includes(path) && !/^dist\/.*\.(?:d\.ts|js)$/.test(path));
    expect(others).toEqual([]);
    expect(packed.filter((path) => /test\.|\/test\//.test(path))).toEqual([]);
  });

  it("takes the notices of whose work is built into it, and says under which license (Apache-2.0, section 4)", async () => {
    const notices = await readFile(join(builtFolder, "THIRD-PARTY-NOTICES.txt"), "utf8");
    expect(notices).toMatch(/swagger-ui-dist \d+\.\d+\.\d+/);
    expect(notices).toContain("SmartBear Software Inc.");
    expect(notices).toContain("The MIT License");
    expect(await readFile(join(projectFolder, "LICENSE"), "utf8")).toContain("Apache License");
  });

  it("takes the licenses of all packages that the command contains", async () => {
    const notices = await readFile(join(builtFolder, "cli/THIRD-PARTY-NOTICES.txt"), "utf8");
    const sections = notices.split(/^={80}$/m).slice(1);
    const names = sections.map((section) => section.trim().split(" ")[0]);
    expect(names).toEqual(expect.arrayContaining(["commander", "js-yaml", "zod"]));
    for (const section of sections) expect(section).toMatch(/permission|unlicense/i);
    const { dependencies } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    const missing = Object.keys(dependencies).filter((name) => !names.includes(name));
    // The classes of the first are in `@whatwg-node/node-fetch`; the second is loaded when it is needed.
    expect(missing).toEqual(["@whatwg-node/fetch", "re2js"]);
    expect(names).toContain("@whatwg-node/node-fetch");
  });

  it("takes every file that the manifest names and all of the build", async () => {
    const targets = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === "string" ? [entry] : Object.values(entry),
    );
    const named = [...targets, ...Object.values(manifest.bin)].map((path) => path.replace(/^\.\//, ""));
    const built = (await readdir(builtFolder, { recursive: true })).filter((name) => name.endsWith(".js"));
    const expected = [...named, ...built.map((name) => `dist/${name}`)];
    expect(expected.filter((path) => !packed.includes(path))).toEqual([]);
  });
});

function targetOf(entry: string, condition: "types" | "default"): string {
  const target = manifest.exports[entry];
  return (typeof target === "string" ? target : target?.[condition]) ?? "";
}

function entryUrl(entry: string): string {
  return pathToFileURL(join(projectFolder, targetOf(entry, "default"))).href;
}

function importEntry(entry: string): Promise<Record<string, unknown>> {
  return import(/* @vite-ignore */ entryUrl(entry));
}

function runNode(args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [...args], { cwd: projectFolder });
}
