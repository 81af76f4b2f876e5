import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, resolve, sep } from "node:path";
import type { Plugin } from "esbuild";

const NAME = "THIRD-PARTY-NOTICES.txt";

const VIEWER = `This package contains files of swagger-ui-dist, with which the page of the API (fileferry/api-page) shows the description:
swagger-ui-bundle.js and swagger-ui.css, as texts in a module, without the comments that name their source maps.
They are under the Apache License 2.0, a copy of which is this package's LICENSE.
These are its notice, and those of the works that it is made of:
`;

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const BUNDLE = `The command contains the packages below. Each has the license that stands with its name.
`;

/** Writes the notices of Swagger UI next to the library, as its license requires (Apache-2.0, section 4). */
export function createViewerNotices(): Plugin {
  return {
    name: "viewer-notices",
    setup({ initialOptions, onEnd }) {
      onEnd(async () => write(initialOptions.outdir ?? "dist", await readViewerNotices()));
    },
  };
}

/** Writes the licenses of all packages in a bundle into `folder` of the build. */
export function createBundleNotices(folder: string): Plugin {
  return {
    name: "bundle-notices",
    setup({ initialOptions, onEnd }) {
      initialOptions.metafile = true;
      onEnd(async ({ metafile }) => {
        const folders = new Set(Object.keys(metafile?.inputs ?? {}).flatMap(findPackage));
        const licenses = await Promise.all([...folders].sort().map(readLicense));
        await write(join(initialOptions.outdir ?? "dist", folder), [BUNDLE, ...licenses].join("\n"));
      });
    },
  };
}

async function write(folder: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, NAME), text);
}

/** The folder of the package that a bundled file comes from. */
function findPackage(input: string): readonly string[] {
  const [, folder] = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)/.exec(input) ?? [];
  return folder === undefined ? [] : [resolve(folder)];
}

async function readLicense(folder: string): Promise<string> {
  const { name, version, license, author, repository } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  ) as Manifest;
  const file = (await readdir(folder)).find((each) => /^licen[cs]e/i.test(each));
  const text =
    file === undefined
      ? `Author: ${toText(author)}. Source: ${toText(repository)}\n\n${toStandardText(license)}`
      : await readFile(join(folder, file), "utf8");
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}

/** The text of a license that a package names without a file. */
function toStandardText(license: string): string {
  if (license === "MIT") return MIT;
  throw new Error(`There is no text of the license ${license}.`);
}

/** An author or a repository stands in a manifest as text or as an object. */
type Named = string | { readonly name?: string; readonly url?: string };

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author?: Named;
  readonly repository?: Named;
}

function toText(named: Named = "not stated"): string {
  return typeof named === "string" ? named : (named.name ?? named.url ?? "not stated");
}

async function readViewerNotices(): Promise<string> {
  const folder = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json")) + sep;
  const { version } = JSON.parse(await readFile(`${folder}package.json`, "utf8")) as { readonly version: string };
  const notice = await readFile(`${folder}NOTICE`, "utf8");
  const works = await readFile(`${folder}swagger-ui-bundle.js.LICENSE.txt`, "utf8");
  return `${VIEWER}\nswagger-ui-dist ${version}\n\n${notice.trim()}\n\n${works.trim()}\n`;
}
