/** Something chosen or dropped: a file, or a folder where `file` is missing. Its path starts at what was dropped. */
export interface Dropped {
  readonly path: readonly string[];
  readonly file?: File;
  /** A file that cannot be read, or a folder whose members cannot: taken away meanwhile, or not permitted. The others go on. */
  readonly isUnreadable?: true;
}

/** Reads what was dropped, folders with everything in them, each before its members. To be called in the event itself: its data is gone after it. */
export function readDropped(transfer: DataTransfer): AsyncGenerator<Dropped> {
  const dropped = [...transfer.items]
    .filter(({ kind }) => kind === "file")
    .map((item) => item.webkitGetAsEntry() ?? item.getAsFile());
  return walkAll(dropped);
}

/** What a file field holds; that of a folder names the folders in its paths. */
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
    // A reader gives a hundred at a time, and none at the end.
    const members = await new Promise<FileSystemEntry[] | undefined>((resolve) => {
      reader.readEntries(resolve, () => resolve(undefined));
    });
    if (members === undefined) yield { path, isUnreadable: true };
    if (members === undefined || members.length === 0) return;
    for (const member of members) yield* walk(member, [...path, member.name]);
  }
}
