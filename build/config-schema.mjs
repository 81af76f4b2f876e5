// Writes config.schema.json to the folder of a build, from the schema that the command checks a configuration by and
// from the descriptions of its keys in the documentation.

import { readFile, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const [folder = "dist"] = process.argv.slice(2);
const bundle = resolve(folder, "config-schema.tmp.mjs");

try {
  await build({
    entryPoints: [fileURLToPath(new URL("described-schema.ts", import.meta.url))],
    outfile: bundle,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  const { toDescribedSchema } = await import(bundle);
  const schema = toDescribedSchema(await readFile(new URL("../docs/command.md", import.meta.url), "utf8"));
  await writeFile(resolve(folder, "config.schema.json"), `${JSON.stringify(schema, undefined, 1)}\n`);
} finally {
  await rm(bundle, { force: true });
}
