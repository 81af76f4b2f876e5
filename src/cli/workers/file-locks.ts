/** Exclusive locks on files. Owners get a lock in the order of their requests. */
export interface FileLocks<Owner> {
  /** Requests a lock; calls `onGranted` when the owner has it. */
  acquire(file: string, owner: Owner, onGranted: () => void): void;
  /** Releases the owner's lock on a file. */
  release(file: string, owner: Owner): void;
  /** Releases all locks of an owner, and cancels its requests. */
  forget(owner: Owner): void;
}

export function createFileLocks<Owner>(): FileLocks<Owner> {
  interface LockRequest {
    readonly owner: Owner;
    readonly onGranted: () => void;
  }
  /** The requests by file. The first one has the lock. */
  const queue = new Map<string, readonly LockRequest[]>();

  function update(file: string, next: readonly LockRequest[]): void {
    const previous = queue.get(file)?.[0];
    if (next.length === 0) queue.delete(file);
    else queue.set(file, next);
    if (next[0] !== previous) next[0]?.onGranted();
  }

  function acquire(file: string, owner: Owner, onGranted: () => void): void {
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

  return { acquire, release, forget };
}
