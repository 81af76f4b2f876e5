import { build } from "esbuild";
import { Miniflare, type MiniflareOptions } from "miniflare";
import { projectFolder } from "../built.ts";

/** What a Worker can reach, such as buckets. */
type Bindings = Partial<Pick<MiniflareOptions, "durableObjects" | "r2Buckets">>;

/** Runs a module in workerd, without `nodejs_compat`. It imports the sources by their paths from the project's root. */
export async function startSourceWorker(contents: string, bindings: Bindings = {}): Promise<Miniflare> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: projectFolder, sourcefile: "worker.js" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
  });
  const worker = new Miniflare({
    modules: [{ type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" }],
    compatibilityDate: "2026-04-01",
    cf: false,
    ...bindings,
  });
  await worker.ready;
  return worker;
}
