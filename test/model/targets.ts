import { type Asked, hasParent, type State, toPlace, withNode, withoutTree } from "./model.ts";
import type { Command, User } from "./operations.ts";

/** What has to come of one target of several. */
export interface TargetPrediction {
  readonly isDone: boolean;
  /** While others change the same it may be the reverse, and then it changes nothing. */
  readonly isUnsure?: boolean;
  readonly state: State;
}

/** What has to come of one of several targets, in a state. */
export function predictTarget(state: State, asked: Asked, index: number): TargetPrediction {
  const { act, user } = asked.operation;
  if (act.kind === "commands") {
    const command = act.commands[index];
    if (command !== undefined) return predictCommand(state, user, act.path, command);
  }
  const file = act.kind === "upload" ? act.files[index] : undefined;
  const content = asked.contents[index];
  if (act.kind !== "upload" || file === undefined || content === undefined)
    throw new Error(`There is no target ${index}.`);
  const { path, may } = toPlace(user, `${act.path}/${file.name}`);
  const isDone = may("write") && state.tree.get(path)?.kind !== "folder" && hasParent(state, path);
  return { isDone, state: isDone ? withNode(state, path, { kind: "file", ...content }) : state };
}

function predictCommand(state: State, user: User, folder: string, { command, target }: Command): TargetPrediction {
  const { path, may, isMount } = toPlace(user, `${folder}/${target}`);
  const node = state.tree.get(path);
  if (command === "delete") {
    const isDone = node !== undefined && !isMount && may(node.kind === "folder" ? "delete-folder" : "delete-file");
    return { isDone, isUnsure: node === undefined, state: isDone ? withoutTree(state, path) : state };
  }
  if (!may("create-folder")) return { isDone: false, state };
  // It finds one there, and by the time it looks what it is, it may have gone.
  if (command === "create-folder-if-missing" && node?.kind === "folder") return { isDone: true, isUnsure: true, state };
  const isDone = node === undefined && hasParent(state, path);
  const isUnsure = command === "create-folder-if-missing";
  return { isDone, isUnsure, state: isDone ? withNode(state, path, { kind: "folder" }) : state };
}
