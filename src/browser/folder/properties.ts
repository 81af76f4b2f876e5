import { showList } from "../dialog.ts";
import { findRow, type OpenFolderPage } from "./page.ts";
import { currentPath, toPathText } from "./paths.ts";
import { linkOf } from "./rename.ts";
import { toExact } from "./times.ts";

/** Shows what the page knows about a member, exactly. */
export async function showProperties({ main, texts }: OpenFolderPage, name: string): Promise<void> {
  const row = findRow(linkOf(main, name));
  if (row === null) return;
  const time = row.querySelector("time");
  const size = row.querySelector<HTMLElement>("[data-size]");
  const isFolder = row.dataset.kind === "folder";
  const rows: [label: string, value: string][] = [
    [texts.kind, isFolder ? texts.folder : texts.file],
    ...(size === null ? [] : [[texts.size, size.title || size.textContent] as [string, string]]),
    [texts.modified, [time?.textContent, time && toExact(time)].filter(Boolean).join(" · ")],
    [texts.folder, toPathText(currentPath())],
  ];
  await showList(name, { className: "facts", rows, close: texts.close });
}
