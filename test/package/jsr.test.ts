import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, projectFolder } from "../support/built.ts";

describe("the package of the client for JSR", () => {
  beforeAll(ensureBuilt);

  it("is complete: its entry, its types, and each file that they import", async () => {
    const folder = join(await makeFolder(), "jsr");
    await promisify(execFile)(process.execPath, [join(projectFolder, "scripts/jsr.mjs"), folder]);
    const files = await readdir(folder);
    const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
    const manifest = JSON.parse(await read("jsr.json"));
    const { version, license } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ name: "@fileferry/client", version, license, exports: "./client.js" });
    // The folder is one that git ignores.
    expect(manifest.publish).toEqual({ exclude: ["!**"] });
    expect(files).toEqual(expect.arrayContaining(["client.js", "client.d.ts", "LICENSE"]));
    expect(await read("client.js")).toMatch(/^\/\* @ts-self-types="\.\/client\.d\.ts" \*\/\n/);

    const imported = await Promise.all(
      files.filter((name) => /\.(?:js|ts)$/.test(name)).map(async (name) => importsOf(await read(name))),
    );
    const names = imported.flat();
    expect(names.filter((name) => name.startsWith("./")).length).toBeGreaterThan(0);
    for (const name of names) {
      const known = name.startsWith("./") ? files.map((file) => `./${file}`) : Object.keys(manifest.imports);
      expect(known).toContain(name);
    }
    const client = await import(/* @vite-ignore */ pathToFileURL(join(folder, "client.js")).href);
    expect(Object.keys(client).sort()).toEqual(["FileferryError", "createClient"]);
    for (const name of Object.keys(client)) expect(await read("client.d.ts")).toMatch(new RegExp(`\\b${name}\\b`));
  });
});

/** What a file imports, in whatever way. */
function importsOf(text: string): readonly string[] {
  return ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
}
