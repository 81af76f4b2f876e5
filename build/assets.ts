import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, resolve, sep } from "node:path";
import { build, type Plugin as EsbuildPlugin } from "esbuild";

/**
 * Style and script of the pages as text: `import { text, hash } from "./style.css?asset"` gives the file, bundled and
 * minified for browsers, and the hash of what came out. A file of a package, `"swagger-ui-dist/swagger-ui.css?asset"`,
 * is taken as it is: it is made for browsers already. tsup and vitest share this one way, and nothing generated is
 * kept.
 */
const ASSET = /\?asset$/;

/**
 * What browsers have to know: modules, and the CSS of the same years. Chrome 90 has an error in optional chaining, and
 * code without it is 3 % longer as it travels.
 */
const TARGETS = ["es2020", "chrome91", "firefox90", "safari15"];

interface Asset {
  /** The module that stands for the file. */
  readonly source: string;
  /** All that it was made of, by absolute paths. */
  readonly files: readonly string[];
}

/** Reads one file in the way that is its. */
async function readAsset(path: string): Promise<Asset> {
  if (!path.includes(`${sep}node_modules${sep}`)) return bundle(path);
  return { source: toSource(withoutMapComment(await readFile(path, "utf8"))), files: [path] };
}

/** Browsers would ask for the map, which is not there. */
function withoutMapComment(text: string): string {
  return text.replace(/\s*(?:\/\/# sourceMappingURL=\S+|\/\*# sourceMappingURL=\S+\s*\*\/)\s*$/, "\n");
}

/** Bundles one file. A script becomes a module without imports; a style keeps the URLs that it names. */
async function bundle(path: string): Promise<Asset> {
  const { outputFiles, metafile } = await build({
    entryPoints: [path],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: TARGETS,
    charset: "ascii",
    legalComments: "none",
    logLevel: "silent",
  });
  const files = Object.keys(metafile.inputs).map((input) => resolve(input));
  return { source: toSource(outputFiles[0]?.text ?? ""), files };
}

function toSource(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return `export const text = ${JSON.stringify(text)};\nexport const hash = ${JSON.stringify(hash)};\n`;
}

/**
 * Ends the names of the modules that stand for assets: tsup and Vite have ways of their own with whatever ends in
 * `.css`.
 */
const MODULE = ".asset.js";

/** The name of the module that an import of an asset is for, by its absolute path. */
function toModuleName(specifier: string, importer: string): string {
  const file = specifier.replace(ASSET, "");
  const isOwn = /^\.\.?\//.test(file);
  return (isOwn ? resolve(dirname(importer), file) : createRequire(importer).resolve(file)) + MODULE;
}

/** The file behind such a name. */
function toFile(moduleName: string): string {
  return moduleName.slice(0, -MODULE.length);
}

/** For tsup, which bundles by esbuild. */
export function createEsbuildAssets(): EsbuildPlugin {
  return {
    name: "assets",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: ASSET }, ({ path, importer }) => ({
        path: toModuleName(path, importer),
        namespace: "asset",
      }));
      onLoad({ filter: /./, namespace: "asset" }, async ({ path }) => {
        const { source, files } = await readAsset(toFile(path));
        return { contents: source, loader: "js", watchFiles: [...files] };
      });
    },
  };
}

/** What of a plugin of Vite is used here. */
interface VitePlugin {
  readonly name: string;
  readonly enforce: "pre";
  resolveId(specifier: string, importer: string | undefined): string | undefined;
  load(this: { addWatchFile(path: string): void }, id: string): Promise<string | undefined>;
}

/**
 * For vitest, which leaves to Node what it takes for a file of a package by its name: so names do not show where a file
 * is.
 */
export function createViteAssets(): VitePlugin {
  const prefix = "\0asset:";
  return {
    name: "assets",
    enforce: "pre",
    resolveId(specifier, importer) {
      if (!ASSET.test(specifier) || importer === undefined) return undefined;
      return prefix + Buffer.from(toModuleName(specifier, importer)).toString("base64url");
    },
    async load(id) {
      if (!id.startsWith(prefix)) return undefined;
      const { source, files } = await readAsset(toFile(Buffer.from(id.slice(prefix.length), "base64url").toString()));
      for (const file of files) this.addWatchFile(file);
      return source;
    },
  };
}
