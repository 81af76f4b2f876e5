import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { builtCommand, ensureBuilt } from "../../support/built.ts";

/**
 * The built command with all that it needs in few files, which Node starts in half the time; its path, in a folder that
 * is the caller's to remove.
 */
export async function bundleCommand(): Promise<{ readonly folder: string; readonly command: string }> {
  await ensureBuilt();
  const folder = await mkdtemp(join(tmpdir(), "fileferry-command-"));
  // Some dependencies are CommonJS, which asks for Node's own modules by `require`.
  const js = `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);`;
  await build({
    entryPoints: { command: builtCommand },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // What is loaded when it is asked for stays by itself.
    splitting: true,
    minify: true,
    platform: "node",
    format: "esm",
    banner: { js },
    logLevel: "error",
  });
  return { folder, command: join(folder, "command.mjs") };
}
