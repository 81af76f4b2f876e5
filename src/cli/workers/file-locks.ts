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
  interface Turn {
    readonly owner: Owner;
    readonly onGranted: () => void;
  }
  /** The first one has the file. */
  const turns = new Map<string, readonly Turn[]>();

  function update(file: string, next: readonly Turn[]): void {
    const former = turns.get(file)?.[0];
    if (next.length === 0) turns.delete(file);
    else turns.set(file, next);
    if (next[0] !== former) next[0]?.onGranted();
  }

  function take(file: string, owner: Owner, onGranted: () => void): void {
    update(file, [...(turns.get(file) ?? []), { owner, onGranted }]);
  }

  function release(file: string, owner: Owner): void {
    const [first, ...others] = turns.get(file) ?? [];
    if (first?.owner === owner) update(file, others);
  }

  function forget(owner: Owner): void {
    for (const [file, waiting] of [...turns]) {
      update(
        file,
        waiting.filter((turn) => turn.owner !== owner),
      );
    }
  }

  return { take, release, forget };
}
