import { type Entry, type FileClient, FileferryError } from "fileferry/client";
import { useMemo, useState } from "react";
import { toMessage } from "./messages.ts";
import { toHref, toMemberPath } from "./path.ts";
import { toDate, toSize } from "./text.ts";

export interface EntryTableProps {
  readonly client: FileClient;
  readonly folder: string;
  readonly entries: readonly Entry[];
  readonly isLoading: boolean;
}

/** The members of a folder: folders first, then by name. */
export function EntryTable({ client, folder, entries, isLoading }: EntryTableProps) {
  const sorted = useMemo(() => entries.toSorted(compare), [entries]);
  const [failure, setFailure] = useState<FileferryError>();

  async function download(name: string): Promise<void> {
    try {
      setFailure(undefined);
      save(name, await (await client.get(toMemberPath(folder, name))).blob());
    } catch (cause) {
      if (!(cause instanceof FileferryError)) throw cause;
      setFailure(cause);
    }
  }

  if (sorted.length === 0) return <p>{isLoading ? "Loading …" : "There are no files here."}</p>;
  return (
    <>
      {failure && (
        <p role="alert" className="failure">
          {toMessage(failure)}
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Size</th>
            <th scope="col">Changed</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ name, is_directory, size, modified }) => (
            <tr key={name}>
              <td>
                {is_directory ? (
                  <a href={toHref(toMemberPath(folder, name))}>{name}/</a>
                ) : (
                  <button type="button" className="link" title="Download" onClick={() => download(name)}>
                    {name}
                  </button>
                )}
              </td>
              <td>{is_directory ? "" : toSize(size)}</td>
              <td>{modified === null ? "" : toDate(modified)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function compare(a: Entry, b: Entry): number {
  return Number(b.is_directory) - Number(a.is_directory) || a.name.localeCompare(b.name);
}

/** Browsers cannot download from another origin with an `Authorization` header, so the page does. */
function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
