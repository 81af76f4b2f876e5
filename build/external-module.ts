import type { Plugin } from "esbuild";

/**
 * Leaves a source module out of a bundle: it is imported from `path`, where another bundle has it. `filter` matches the
 * module as it is imported.
 */
export function createExternalModule(filter: RegExp, path: string): Plugin {
  return {
    name: "external-module",
    setup({ onResolve }) {
      onResolve({ filter }, () => ({ path, external: true }));
    },
  };
}
