/** Who has which file for itself, and who waits for it: each in the order they came. */
export interface FileLocks<Owner> {
  /** Calls `onGranted` when it is the owner's turn. */
  take(file: string, owner: Owner, onGranted: () => void): void;
  /** Ends the owner's turn at a file. */
  release(file: string, owner: Owner): void;
  /** Ends all turns of an owner, also those it waits for. */
  forget(owner: Owner): void;
}

/** Makes the locks of one process. */
export function createFileLocks<Owner>(): FileLocks<Owner> {
  interface LockRequest {
    readonly owner: Owner;
    readonly onGranted: () => void;
  }
  /** The first one has the file. */
  const queue = new Map<string, readonly LockRequest[]>();

  function update(file: string, next: readonly LockRequest[]): void {
    const former = queue.get(file)?.[0];
    if (next.length === 0) queue.delete(file);
    else queue.set(file, next);
    if (next[0] !== former) next[0]?.onGranted();
  }

  function take(file: string, owner: Owner, onGranted: () => void): void {
    update(file, [...(queue.get(file) ?? []), { owner, onGranted }]);
  }

  function release(file: string, owner: Owner): void {
    const [first, ...others] = queue.get(file) ?? [];
    if (first?.owner === owner) update(file, others);
  }

  function forget(owner: Owner): void {
    for (const [file, waiting] of [...queue]) {
      update(
        file,
        waiting.filter((request) => request.owner !== owner),
      );
    }
  }

  return { take, release, forget };
}
