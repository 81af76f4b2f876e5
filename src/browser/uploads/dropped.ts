/** A chosen or dropped file, or a folder if `file` is missing. `path` starts in the folder of the page. */
export interface Dropped {
  readonly path: readonly string[];
  readonly file?: File;
  /** A file or folder that cannot be read, because it was removed or access is denied. The others are still read. */
  readonly isUnreadable?: true;
}

/**
 * Reads what was dropped on a folder of the page, or on the page itself: files and folders, with everything in them. A
 * folder comes before its members. Call this during the event, because the browser clears the data afterwards.
 */
export function readDropped(data: DataTransfer, folder?: string): AsyncGenerator<Dropped> {
  const dropped = [...data.items].map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return walkAll(dropped, folder === undefined ? [] : [folder]);
}

/** Reads the files of a file field. A field for folders has the folders in the paths of its files. */
export async function* readChosen(files: Iterable<File>): AsyncGenerator<Dropped> {
  const folders = new Set<string>();
  for (const file of files) {
    const path = (file.webkitRelativePath || file.name).split("/");
    for (let depth = 1; depth < path.length; depth++) {
      const folder = path.slice(0, depth);
      const key = folder.join("/");
      if (folders.has(key)) continue;
      folders.add(key);
      yield { path: folder };
    }
    yield { path, file };
  }
}

async function* walkAll(
  dropped: readonly (FileSystemEntry | File | null)[],
  folder: readonly string[],
): AsyncGenerator<Dropped> {
  for (const one of dropped) {
    if (one === null) continue;
    const path = [...folder, one.name];
    if (one instanceof File) yield { path, file: one };
    else yield* walk(one, path);
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
