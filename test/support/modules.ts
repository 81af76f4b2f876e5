let imports = 0;

/** Imports a module of `src/` once more, with a state of its own. `T` is its type. */
export async function importAgain<T>(name: string): Promise<T> {
  imports++;
  return (await import(/* @vite-ignore */ `../../src/${name}?import=${imports}`)) as T;
}
