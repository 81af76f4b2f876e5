import type { BuildOptions } from "esbuild";
import { builtFolder } from "../built.ts";

/** How an application for Workers is bundled: this module, with what it imports from the built package. */
export function toWorkerBundle(contents: string) {
  return {
    stdin: { contents, resolveDir: builtFolder, sourcefile: "worker.js" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["browser", "module", "main"],
    logLevel: "silent",
  } as const satisfies BuildOptions;
}
