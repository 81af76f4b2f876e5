import { hasCode, type Placement, StorageError } from "../contracts/storage-adapter.ts";

/**
 * Ends a move that has copied everything: removes the source by `remove`. If another caller has moved it, removes the
 * copy by `takeBack`. A copy that replaced something stays, because it may have replaced the copy of that caller.
 * @throws StorageError `not-found` if another caller has moved the source; `unavailable` if it cannot be removed.
 */
export async function removeSource(
  placement: Placement,
  remove: () => Promise<void>,
  takeBack: () => Promise<void>,
): Promise<Placement> {
  try {
    await remove();
  } catch (error) {
    if (!hasCode(error, "not-found")) {
      throw new StorageError("unavailable", "The source of a move remains next to its copy.", { cause: error });
    }
    if (placement === "created") await takeBack();
    throw error;
  }
  return placement;
}

/** Creates the error for a source that is not as it was copied. */
export function createChangedSourceError(): StorageError {
  return new StorageError("unavailable", "The source was changed meanwhile.");
}
