#!/usr/bin/env node
// Makes the package of the client for JSR, of what `npm run build` has made: JSR takes no bundler.
// Usage: node scripts/jsr.mjs [folder], by default dist-jsr/. What the folder has is removed.

import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const [folder = `${root}dist-jsr`] = process.argv.slice(2);
const { version, license, description } = JSON.parse(await readFile(`${root}package.json`, "utf8"));

await rm(folder, { recursive: true, force: true });
await mkdir(folder);
const script = await readFile(`${root}dist/client.js`, "utf8");
await writeFile(`${folder}/client.js`, `/* @ts-self-types="./client.d.ts" */\n${script}`);

/** Copies a file of types, and those that it imports by a relative path. */
async function copyTypes(name) {
  const text = await readFile(`${root}dist/${name}`, "utf8");
  await writeFile(
    `${folder}/${name}`,
    text.replace(/(from '\.\/[^']+)\.js'/g, "$1.d.ts'").replace(/import 'zod';\n/g, ""),
  );
  for (const [, imported] of text.matchAll(/from '\.\/([^']+)\.js'/g)) await copyTypes(`${imported}.d.ts`);
}

await copyTypes("client.d.ts");
await cp(`${root}LICENSE`, `${folder}/LICENSE`);
const imports = { zod: "npm:zod@^4" };
const manifest = {
  name: "@fileferry/client",
  version,
  license,
  description: `The client: ${description}`,
  exports: "./client.js",
  imports,
  // Otherwise what git ignores is left out, as this folder is.
  publish: { exclude: ["!**"] },
};
await writeFile(`${folder}/jsr.json`, `${JSON.stringify(manifest, undefined, 2)}\n`);
