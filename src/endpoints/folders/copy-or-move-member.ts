import { createError } from "../../http/errors.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { AccountContext } from "../../request/context.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";

/**
 * Copies or moves a member of the addressed folder to a path of the account. A copy counts as a transfer, because
 * storages may have to read it; a move only if the storage does read it.
 * @throws what `AccountFiles.copy` throws; HttpError `too-many-transfers`.
 */
export async function copyOrMoveMember(
  context: AccountContext,
  verb: "copy" | "move",
  member: string,
  to: readonly string[],
  replace = false,
): Promise<void> {
  const { files, path, request } = context;
  const from = [...path.segments, member];
  const onRead = (): void => acquireTransfer(context);
  if (verb === "copy") onRead();
  await files[verb](from, to, { replace, signal: request.signal, onRead });
}

/**
 * Returns the path that a destination means for a member of a folder. A destination is a decoded path: with a leading
 * `/` from the account's root, otherwise from the folder. With a `/` at its end it is the folder for the member, which
 * keeps its name.
 * @throws HttpError `destination-invalid`
 */
export function toDestination(folder: readonly string[], member: string, destination: string): readonly string[] {
  const isAbsolute = destination.startsWith("/");
  const isFolder = destination.endsWith("/");
  const names = destination.split("/").slice(isAbsolute ? 1 : 0, isFolder ? -1 : undefined);
  if (!names.every(isMemberName)) throw createError("destination-invalid");
  return [...(isAbsolute ? [] : folder), ...names, ...(isFolder ? [member] : [])];
}

/**
 * Returns the path of a member in the folder that a form names; see {@link toDestination}.
 * @throws HttpError `destination-invalid`
 */
export function toDestinationIn(folder: readonly string[], member: string, destination: string): readonly string[] {
  return toDestination(folder, member, destination.endsWith("/") ? destination : `${destination}/`);
}
