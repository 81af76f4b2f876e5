import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { checkFree, type Problem, toUrl } from "../requests.ts";
import { ASSUMED, findFeatures, type ServiceFeatures } from "./features.ts";
import type { FolderMaker } from "./folder-maker.ts";
import { endUploads } from "./protocols.ts";
import type { RememberedUpload, RememberedUploads, UploadIdentity } from "./remembered-uploads.ts";
import { type FileUpload, type OnProgress, type Sending, sendByForm, sendByPut } from "./send.ts";
import { sendResumably } from "./send-resumably.ts";

/** Files of this size and more are sent in several requests, so that they can be resumed. */
const RESUMABLE_BYTES = 16 * 1024 ** 2;
/** Files of this size and more are sent in parts: many networks limit the speed of each connection. */
const PARTS_BYTES = 64 * 1024 ** 2;
const PARTS = 3;

/** A file to send. */
export interface QueuedUpload extends FileUpload {
  /** Whether no other file is sent meanwhile. */
  readonly isAlone: boolean;
  /** Whether its name is a guess, so that it costs less to ask whether it is free than to send the file. */
  readonly isGuess: boolean;
}

/** Sends files to their paths. */
export interface Sender {
  /** Sends a file, and first creates the missing folders of its path. */
  send(upload: QueuedUpload, onProgress: OnProgress): Sending;
  /** The unfinished upload of a file. */
  findKept(file: Pick<FileUpload, "file" | "path">): RememberedUpload | undefined;
  /** Ends the unfinished upload of a file. */
  discard(file: Pick<FileUpload, "file" | "path">): void;
}

/** `account`: the name of the account that the page is for. */
export function createSender(
  folders: FolderMaker,
  remembered: RememberedUploads,
  account: string,
  texts: ScriptTexts,
): Sender {
  let features: Promise<ServiceFeatures> | undefined;

  /** Asks once, before the first file: many browsers drop the error response to a large request body. */
  function getFeatures(): Promise<ServiceFeatures> {
    features ??= findFeatures().catch(() => {
      features = undefined;
      return ASSUMED;
    });
    return features;
  }

  function toIdentity({ file, path }: Pick<FileUpload, "file" | "path">): UploadIdentity {
    const { size, lastModified } = file;
    return { account, folder: toFolder(path.slice(0, -1)), name: path.at(-1) ?? "", size, modified: lastModified };
  }

  function start(upload: QueuedUpload, features: ServiceFeatures, onProgress: OnProgress): Sending {
    const { file, isAlone } = upload;
    const { mayPut, mayResume, mayJoin, maxAppendBytes } = features;
    if (mayPut && mayResume && (file.size >= RESUMABLE_BYTES || file.size > maxAppendBytes)) {
      const parts = isAlone && mayJoin && file.size >= PARTS_BYTES ? PARTS : 1;
      const identity = toIdentity(upload);
      return sendResumably(upload, { identity, remembered, parts, maxAppendBytes, texts }, onProgress);
    }
    return (mayPut ? sendByPut : sendByForm)(upload, onProgress, texts);
  }

  return {
    send(upload, onProgress) {
      const { path, mayReplace, isGuess } = upload;
      let sending: Sending | undefined;
      let isAborted = false;

      async function run(): Promise<Problem | undefined> {
        const problem = await folders.ensure(path.slice(0, -1));
        if (problem !== undefined || isAborted) return problem;
        const found = await getFeatures();
        const asks = !mayReplace && (isGuess || !found.mayPut);
        const existing = asks ? await checkFree(toUrl(path), texts) : undefined;
        if (existing !== undefined || isAborted) return existing;
        sending = start(upload, found, onProgress);
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
    },
    findKept: (file) => remembered.find(toIdentity(file)),
    discard(file) {
      const kept = remembered.find(toIdentity(file));
      if (kept === undefined) return;
      remembered.forget(kept.urls);
      endUploads(kept.urls);
    },
  };
}

/** The decoded path of the URL of a folder below that of this page. */
export function toFolder(path: readonly string[]): string {
  return decodeURIComponent(new URL(toUrl(path, "/"), location.href).pathname);
}
