import { useFolder, useUploads } from "fileferry/react";
import { type DragEvent, useState } from "react";
import { EntryTable } from "./entry-table.tsx";
import { toMessage } from "./messages.ts";
import { toHref, toParents, usePath } from "./path.ts";
import type { Session } from "./session.ts";
import { UploadRows } from "./upload-rows.tsx";

export interface FolderPageProps {
  readonly session: Session;
  readonly onLogout: () => void;
}

export function FolderPage({ session, onLogout }: FolderPageProps) {
  const { client, username } = session;
  const path = usePath();
  const { entries, isLoading, error, reload } = useFolder(client, path);
  const { upload, ...list } = useUploads(client);
  const [isDropTarget, setDropTarget] = useState(false);

  async function add(files: readonly File[]): Promise<void> {
    await upload(path, files);
    await reload();
  }

  async function retry(id: string, overwrite: boolean): Promise<void> {
    await list.retry(id, { overwrite });
    await reload();
  }

  function drop(event: DragEvent): void {
    event.preventDefault();
    setDropTarget(false);
    void add(toFiles(event.dataTransfer));
  }

  async function logOut(): Promise<void> {
    onLogout();
    // The page has forgotten the session, whether or not the service can be reached.
    await session.logOut().catch(() => undefined);
  }

  return (
    <main
      className={isDropTarget ? "drop-target" : undefined}
      aria-busy={isLoading}
      onDragOver={(event) => {
        event.preventDefault();
        setDropTarget(true);
      }}
      onDragLeave={() => setDropTarget(false)}
      onDrop={drop}
    >
      <header>
        <Breadcrumbs path={path} />
        <span>{username}</span>
        <button type="button" onClick={logOut}>
          Log out
        </button>
      </header>
      <label className="files">
        Choose files, or drop them on this page
        <input
          type="file"
          multiple
          onChange={({ target }) => {
            void add([...(target.files ?? [])]);
            // The same file can be chosen again.
            target.value = "";
          }}
        />
      </label>
      <UploadRows {...list} retry={retry} />
      {error && (
        <p role="alert" className="failure">
          {toMessage(error)}{" "}
          <button type="button" onClick={reload}>
            Try again
          </button>
        </p>
      )}
      <EntryTable client={client} folder={path} entries={entries} isLoading={isLoading} />
    </main>
  );
}

function Breadcrumbs({ path }: { readonly path: string }) {
  return (
    <nav aria-label="Breadcrumbs">
      <ol>
        {toParents(path).map((parent) => (
          <li key={parent.path}>
            <a href={toHref(parent.path)} aria-current={parent.path === path ? "page" : undefined}>
              {parent.name}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** The files that are dropped, without folders. */
function toFiles({ items }: DataTransfer): readonly File[] {
  const files = [...items].filter((item) => item.webkitGetAsEntry()?.isDirectory !== true);
  return files.flatMap((item) => item.getAsFile() ?? []);
}
