import type { ScriptTexts } from "../../contracts/script-texts.ts";
import { findFile, type Problem, toUrl } from "../requests.ts";
import type { FolderMaker } from "./folder-maker.ts";
import { type FileUpload, findMayPut, type Sending, sendByForm, sendByPut } from "./send.ts";

/** Sends a file to its path, and first creates the missing folders of the path. */
export type Send = (upload: FileUpload, onProgress: (sent: number) => void) => Sending;

export function createSender(folders: FolderMaker, texts: ScriptTexts): Send {
  let mayPut: Promise<boolean | undefined> | undefined;

  /** Asks once, before the first file: many browsers drop the error response to a large request body. */
  async function canPut(): Promise<boolean> {
    mayPut ??= findMayPut();
    const found = await mayPut;
    if (found === undefined) mayPut = undefined;
    return found ?? true;
  }

  return (upload, onProgress) => {
    const { path, mayReplace } = upload;
    let sending: Sending | undefined;
    let isAborted = false;

    async function run(): Promise<Problem | undefined> {
      const problem = await folders.ensure(path.slice(0, -1));
      if (problem !== undefined || isAborted) return problem;
      const isPut = await canPut();
      const existing = isPut || mayReplace ? undefined : await findFile(toUrl(path), texts);
      if (existing !== undefined || isAborted) return existing;
      sending = (isPut ? sendByPut : sendByForm)(upload, onProgress, texts);
      const failure = await sending.finished;
      if (failure?.kind === "refused" && path.length > 1) folders.forget(path.slice(0, 1));
      return failure;
    }

    return {
      finished: run().catch((error: unknown) => ({ kind: "refused", message: String(error) })),
      abort() {
        isAborted = true;
        sending?.abort();
      },
    };
  };
}
