import type { ScriptTexts } from "../../contracts/script-texts.ts";
import { fill } from "../format.ts";
import { type Problem, runCommands } from "../requests.ts";

/** Makes the folders that uploads go into, where they are missing. */
export interface FolderMaker {
  /** Makes folders, given in an order in which none comes before its parent; what went wrong. */
  makeAll(paths: readonly (readonly string[])[]): Promise<Problem[]>;
  /** Makes a folder with its parents, if that has not been done; says why it could not. */
  ensure(path: readonly string[]): Promise<Problem | undefined>;
  /** Takes a folder, and all below it, for missing again: somebody may have removed it. */
  forget(path: readonly string[]): void;
}

export function createFolderMaker(texts: ScriptTexts): FolderMaker {
  const made = new Set<string>();
  const toKey = (path: readonly string[]): string => path.join("/");

  async function make(parent: readonly string[], names: readonly string[]): Promise<Problem | undefined> {
    const { outcomes, problem } = await runCommands(parent, "create-folder-if-missing", names, texts);
    let failure = problem;
    for (const { target, message } of outcomes) {
      if (message === null) made.add(toKey([...parent, target]));
      else failure ??= { kind: "refused", message: fill(texts.folderFailed, { name: target, message }) };
    }
    return failure;
  }

  return {
    async makeAll(paths) {
      const byParent = new Map<string, { parent: readonly string[]; names: string[] }>();
      for (const path of paths) {
        const parent = path.slice(0, -1);
        const name = path[path.length - 1] ?? "";
        const group = byParent.get(toKey(parent));
        if (group === undefined) byParent.set(toKey(parent), { parent, names: [name] });
        else group.names.push(name);
      }
      const problems: Problem[] = [];
      for (const { parent, names } of byParent.values()) {
        const problem = await make(parent, names);
        if (problem === undefined) continue;
        problems.push(problem);
        if (problem.kind !== "refused") break;
      }
      return problems;
    },
    forget(path) {
      for (const key of made) if (key === toKey(path) || key.startsWith(`${toKey(path)}/`)) made.delete(key);
    },
    async ensure(path): Promise<Problem | undefined> {
      for (let depth = 1; depth <= path.length; depth++) {
        if (made.has(toKey(path.slice(0, depth)))) continue;
        const problem = await make(path.slice(0, depth - 1), path.slice(depth - 1, depth));
        if (problem !== undefined) return problem;
      }
      return undefined;
    },
  };
}
