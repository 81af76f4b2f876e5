/** A chosen or dropped file, or a folder if `file` is missing. `path` starts at the chosen or dropped item. */
export interface Dropped {
  readonly path: readonly string[];
  readonly file?: File;
  /** A file or folder that cannot be read, because it was removed or access is denied. The others are still read. */
  readonly isUnreadable?: true;
}

/**
 * Reads dropped files and folders, including everything in the folders. A folder comes before its members. Call this
 * during the event, because the browser clears the data afterwards.
 */
export function readDropped(transfer: DataTransfer): AsyncGenerator<Dropped> {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return walkAll(dropped);
}

/** Reads the files of a file field. A field for folders has the folders in the paths of its files. */
export async function* readChosen(files: Iterable<File>): AsyncGenerator<Dropped> {
  const folders = new Set<string>();
  for (const file of files) {
    const path = (file.webkitRelativePath || file.name).split("/");
    for (let depth = 1; depth < path.length; depth++) {
      const folder = path.slice(0, depth);
      if (folders.has(folder.join("/"))) continue;
      folders.add(folder.join("/"));
      yield { path: folder };
    }
    yield { path, file };
  }
}

async function* walkAll(dropped: readonly (FileSystemEntry | File | null)[]): AsyncGenerator<Dropped> {
  for (const one of dropped) {
    if (one instanceof File) yield { path: [one.name], file: one };
    else if (one !== null) yield* walk(one, [one.name]);
  }
}

async function* walk(entry: FileSystemEntry, path: readonly string[]): AsyncGenerator<Dropped> {
  if (!entry.isDirectory) {
    const file = await new Promise<File | undefined>((resolve) => {
      (entry as FileSystemFileEntry).file(resolve, () => resolve(undefined));
    });
    yield file === undefined ? { path, isUnreadable: true } : { path, file };
    return;
  }
  yield { path };
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader returns at most a hundred entries per call, and none at the end.
    const members = await new Promise<FileSystemEntry[] | undefined>((resolve) => {
      reader.readEntries(resolve, () => resolve(undefined));
    });
    if (members === undefined) yield { path, isUnreadable: true };
    if (members === undefined || members.length === 0) return;
    for (const member of members) yield* walk(member, [...path, member.name]);
  }
}
