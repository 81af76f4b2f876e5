import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Application } from "typedoc";

/**
 * What is written down of a platform's own interfaces, so far as they are used: its names are explained where they come
 * from.
 */
const PLATFORMS = [
  ...["head", "get", "list", "createMultipartUpload"].map((name) => `fileferry/storage/r2.R2Bucket.${name}`),
  ...["uploadPart", "abort", "complete"].map((name) => `fileferry/storage/r2.R2MultipartUpload.${name}`),
  ...["get", "put", "delete"].map((name) => `fileferry/stores/cloudflare-kv.CloudflareKvNamespace.${name}`),
  ...["get", "set", "del", "eval", "evalSha"].map((name) => `fileferry/stores/redis.RedisClient.${name}`),
  ...["idFromName", "get"].map((name) => `fileferry/stores/durable-object.DurableObjectNamespace.${name}`),
  ...["getAlarm", "setAlarm"].map((name) => `fileferry/stores/durable-object.DurableObjectStorage.${name}`),
  "fileferry/stores/durable-object.DurableObjectStub.fetch",
  "fileferry/stores/durable-object.SqlStorage.exec",
  "fileferry/stores/durable-object.SqlCursor.toArray",
  ...["exec", "prepare"].map((name) => `fileferry/stores/sqlite.SqliteDatabase.${name}`),
  "fileferry/bun.BunServer.requestIP",
  "fileferry/workers.WorkersContext.waitUntil",
  "fileferry/workers.WorkersHandler.fetch",
];

/**
 * The entries of the package with their sources, as `package.json` and the build name them.
 *
 * @param {string} project the repository's folder
 * @returns {Promise<{ name: string; source: string }[]>}
 */
export async function readEntries(project) {
  const { name, exports } = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
  return Object.entries(exports)
    .filter(([, target]) => typeof target === "object")
    .map(([entry, target]) => ({
      name: `${name}${entry.slice(1)}`,
      source: target.default.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts"),
    }));
}

/**
 * Writes the reference of every entry as Markdown. Rejects when something public has no comment, is not exported, or
 * links to nothing: what typedoc only warns of.
 *
 * @param {string} project the repository's folder
 * @param {string} folder where the pages go
 */
export async function writeReference(project, folder) {
  const entries = await readEntries(project);
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown"],
    name: "API reference",
    outputs: [{ name: "markdown", path: folder }],
    logLevel: "Warn",
    entryPoints: entries.map(({ source }) => join(project, source)),
    tsconfig: join(project, "site/tsconfig.json"),
    readme: "none",
    disableGit: true,
    disableSources: true,
    excludeInternal: true,
    validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true, notDocumented: true },
    requiredToBeDocumented: ["Function", "Class", "Interface", "TypeAlias", "Variable", "Enum"],
    intentionallyNotDocumented: PLATFORMS,
    // Of typedoc-plugin-markdown.
    entryFileName: "index",
    hidePageHeader: true,
    hideBreadcrumbs: false,
    useCodeBlocks: true,
    sanitizeComments: true,
    parametersFormat: "table",
    indexFormat: "table",
  });
  const reference = await app.convert();
  if (reference !== undefined) {
    for (const module of reference.children ?? []) {
      const source = `src/${module.name}.ts`;
      const entry = entries.find((each) => each.source === source || each.source === `src/${module.name}/index.ts`);
      if (entry !== undefined) module.name = entry.name;
    }
    app.validate(reference);
    if (!app.logger.hasErrors() && !app.logger.hasWarnings()) await app.generateOutputs(reference);
  }
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error("typedoc has found the faults above");
}
