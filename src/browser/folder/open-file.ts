import { element } from "../elements.ts";
import { checkFree, toProblem } from "../requests.ts";
import type { showFiles } from "../viewer/main.ts";
import type { OpenFolderPage } from "./page.ts";

/** The second part of the script. */
interface Viewer {
  readonly showFiles: typeof showFiles;
}

/** A page with rows of files. */
export type FilesPage = Pick<OpenFolderPage, "main" | "texts" | "showProblems">;

/** Files that the page shows, and those that the account may not read. */
const ROW = 'tr[data-view], tr[data-denied~="download"]:not([data-kind="folder"])';

/** Opens files in the page that can be shown there, where their links would save them. */
export function enhanceFiles(page: FilesPage): void {
  page.main.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey, shiftKey, altKey } = event;
    const row = target instanceof Element ? target.closest<HTMLElement>(ROW) : null;
    // With these keys a link opens elsewhere, or is saved.
    if (!row?.querySelector("th a")?.contains(target as Element) || ctrlKey || metaKey || shiftKey || altKey) return;
    event.preventDefault();
    if (row.dataset.denied?.includes("download")) page.showProblems([toProblem(403, "", page.texts).message]);
    // The second click of two opens nothing.
    else if (event.detail < 2) void openFile(page, row);
  });
}

let isOpen = false;
let hasFailed = false;

/** The viewer is loaded with the first file. It shows one at a time. */
async function openFile(page: FilesPage, row: HTMLElement): Promise<void> {
  // Browsers show a PDF in a page of its own, and in none of ours (docs/security.md).
  if (row.dataset.view === "pdf") return void open(`${linkOf(row)}?inline`, "_blank", "noopener");
  if (isOpen) return;
  isOpen = true;
  const { viewer: url = "" } = page.main.dataset;
  try {
    const viewer: Viewer = await import(url);
    if (hasFailed) page.showProblems([]);
    hasFailed = false;
    await viewer.showFiles(page, row);
  } catch {
    hasFailed = true;
    // A page that was open during an upgrade has the URL of a script that is not there any more.
    const isLost = (await checkFree(url, page.texts))?.kind === "network";
    page.showProblems([isLost ? page.texts.networkLost : page.texts.cannotShow]);
  } finally {
    isOpen = false;
  }
}

/** Saves the file of a row. */
export function saveFile(row: HTMLElement): void {
  element("a", { href: linkOf(row), download: "" }).click();
}

function linkOf(row: HTMLElement): string {
  return row.querySelector<HTMLAnchorElement>("th a")?.href ?? "";
}
