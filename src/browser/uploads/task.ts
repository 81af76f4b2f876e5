import type { Problem } from "../requests.ts";
import type { UploadTask } from "./queue-entries.ts";
import type { Sender } from "./sender.ts";

/** What the task of a file needs besides the file. */
export interface UploadTaskOptions {
  readonly sender: Sender;
  /** What the user has to decide first, because the page shows a file with this name. */
  readonly conflict: Problem | undefined;
  /** Whether no other file waits or is sent. */
  readonly isAlone: () => boolean;
}

/** A folder with more files of one name and a number has them for another reason. */
const MAX_NUMBER = 100;

/** Creates the task for a file. `path` is that below the folder of the page. */
export function createUploadTask(
  chosen: { readonly path: readonly string[]; readonly file: File },
  { sender, conflict, isAlone }: UploadTaskOptions,
): UploadTask {
  const { file } = chosen;
  let { path } = chosen;
  let number = 0;
  const current = () => ({ path, file });
  // The user was asked when the upload that goes on was started.
  const wasAsked = (): boolean => sender.findKept(current())?.mayReplace === true;
  return {
    name: path.join("/"),
    size: file.size,
    conflict: conflict && !wasAsked() ? conflict : undefined,
    get key() {
      return [path, file.size, file.lastModified].join();
    },
    send(mayReplace, onProgress) {
      const isKept = sender.findKept(current()) !== undefined;
      const how = { mayReplace: mayReplace || wasAsked(), isAlone: isAlone(), isGuess: number > 0 && !isKept };
      return sender.send({ ...current(), ...how }, onProgress);
    },
    rename() {
      if (number === MAX_NUMBER) return undefined;
      number += 1;
      path = [...path.slice(0, -1), toNumbered(chosen.path.at(-1) ?? "", number)];
      return path.join("/");
    },
    discard: () => sender.discard(current()),
  };
}

/** Creates a task that fails, for a file that cannot be read, so that the user does not think that it was sent. */
export function toFailedTask(path: readonly string[], message: string): UploadTask {
  const nothing = (): undefined => undefined;
  const failed = { finished: Promise.resolve({ kind: "refused", message } as const), abort: nothing };
  const name = path.join("/");
  return { name, size: 0, conflict: undefined, key: name, send: () => failed, rename: nothing, discard: nothing };
}

/** Adds a number to a name before its extension: `a (1).txt`. A name that begins with its only dot has none. */
export function toNumbered(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  const end = dot > 0 ? dot : name.length;
  return `${name.slice(0, end)} (${number})${name.slice(end)}`;
}
