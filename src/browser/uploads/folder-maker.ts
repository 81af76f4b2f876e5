import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { fill } from "../format.ts";
import { checkFree, type Problem, runCommands, toUrl } from "../requests.ts";

/** Creates the missing folders of uploads. */
export interface FolderMaker {
  /** Creates folders. No path may come before its parent. Returns the problems. */
  makeAll(paths: readonly (readonly string[])[]): Promise<Problem[]>;
  /** Creates a folder and its parents unless it was already done. Returns the problem if that fails. */
  ensure(path: readonly string[]): Promise<Problem | undefined>;
  /** Assumes that a folder and everything below it is missing again, because another client may have removed it. */
  forget(path: readonly string[]): void;
}

export function createFolderMaker(texts: ScriptTexts): FolderMaker {
  const made = new Set<string>();
  const toKey = (path: readonly string[]): string => path.join("/");

  async function make(parent: readonly string[], names: readonly string[]): Promise<Problem | undefined> {
    const { outcomes, problem } = await runCommands(parent, "create-folder-if-missing", names, texts);
    let failure = problem;
    for (const { target, message } of outcomes) {
      const path = [...parent, target];
      // Who may not create folders may upload to those that are there.
      const isThere = message === null || (await checkFree(toUrl(path, "/"), texts))?.kind === "exists";
      if (isThere) made.add(toKey(path));
      else failure ??= { kind: "refused", message: fill(texts.folderFailed, { name: target, message }) };
    }
    return failure;
  }

  return {
    async makeAll(paths) {
      const byParent = new Map<string, { parent: readonly string[]; names: string[] }>();
      for (const path of paths) {
        const parent = path.slice(0, -1);
        const name = path.at(-1) ?? "";
        const group = byParent.get(toKey(parent)) ?? { parent, names: [] };
        group.names.push(name);
        byParent.set(toKey(parent), group);
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
      for (const key of made) if (`${key}/`.startsWith(`${toKey(path)}/`)) made.delete(key);
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
