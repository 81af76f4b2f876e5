/** Where a runtime that has Node's modules hands them out without an import (Node 20.16, Deno 2, Bun). */
interface ModuleHost {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/**
 * A function of the runtime's own, mostly many times as fast as one in JavaScript; `undefined` where there is none. `isRight` tries it: some runtimes have
 * the name without the function behind it.
 */
export function findRuntimeFunction<T>(
  moduleName: string,
  name: string,
  isRight: (found: T) => boolean,
): T | undefined {
  try {
    const host = globalThis as ModuleHost;
    const module = host.process?.getBuiltinModule?.(moduleName) as Readonly<Record<string, T>> | undefined;
    const found = module?.[name];
    return typeof found === "function" && isRight(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
