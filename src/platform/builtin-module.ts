/** How runtimes with Node's modules provide them without an import (Node 20.16, Deno 2, Bun). */
interface ModuleHost {
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/**
 * Finds a function of the runtime, which is often many times as fast as one in JavaScript; `undefined` if there is
 * none. `isRight` tries it, because some runtimes have the name without a working function.
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
