import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import type { AccountContext } from "../../request/context.ts";
import { readSender } from "../../uploads/sender.ts";
import { type IncomingFile, storeFile } from "../store-upload.ts";
import { createTakenError, isInDropFolder, withFreePath } from "./drop-folder.ts";

/**
 * Returns the path that a file of this request gets. Below a link that asks for the sender's name this is
 * `<sender> - <name>`, except for a link to one file, whose name is fixed. Events then have the sender (SHARING 6.4).
 * @throws HttpError `sender-missing` or `sender-invalid` if the header is required.
 */
export function addSenderFromHeader(context: AccountContext, path: readonly string[]): readonly string[] {
  return createSenderNaming(context, () => readSender(context.request.headers))(path);
}

/**
 * As {@link addSenderFromHeader}, for several files. `read` is called once, and only if the link asks for the name.
 * @throws what `read` throws, before it returns.
 */
export function createSenderNaming(
  context: AccountContext,
  read: () => string,
): (path: readonly string[]) => readonly string[] {
  if (!asksForSender(context)) return (path) => path;
  const sender = read();
  return (path) => withSender(context, path, sender);
}

/** Whether files need the name of their sender. */
export function asksForSender({ link }: Pick<AccountContext, "link">): boolean {
  return link?.record.askName === true;
}

/** As {@link addSenderFromHeader}, with a name that was read from a form. */
export function withSender(context: AccountContext, path: readonly string[], sender: string): readonly string[] {
  if (context.eventLink !== undefined) context.eventLink = { ...context.eventLink, sender };
  if (context.link?.record.isFolder !== true) return path;
  return [...path.slice(0, -1), `${sender} - ${path.at(-1) ?? ""}`];
}

/** Stores a file as {@link storeFile} does; in a drop folder under a name that is free. */
export async function storeSentFile(context: AccountContext, file: IncomingFile): Promise<StorageEntry> {
  if (!isInDropFolder(context)) return storeFile(context, file);
  const toOptions = async () => ({ ...(await file.toOptions()), ifNoneMatch: "*" as const });
  return withFreePath(context, file.segments, (segments) =>
    storeFile(context, { ...file, segments, toOptions }).catch(throwTaken),
  );
}

/** The name was free when the upload started, and another process has taken it. @throws the error, always. */
function throwTaken(error: unknown): never {
  throw hasCode(error, "precondition-failed") ? createTakenError(error) : error;
}
