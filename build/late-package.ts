import type { Plugin } from "esbuild";

/**
 * Leaves a package out of a bundle for Node: it is loaded when a static member of its class is used first. The package
 * has to be installed, and to have a form for `require`.
 */
export function createLatePackage(name: string, className: string): Plugin {
  const filter = new RegExp(`^${name}$`);
  const namespace = "late-package";
  const contents = `export const ${className} = new Proxy({}, { get: (_, key) => require("${name}").${className}[key] });`;
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter }, ({ kind }) =>
        kind === "require-call" ? { path: name, external: true } : { path: name, namespace },
      );
      onLoad({ filter, namespace }, () => ({ contents }));
    },
  };
}
