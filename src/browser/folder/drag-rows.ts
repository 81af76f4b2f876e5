import { copyOrMoveAll } from "./copy-or-move.ts";
import { findFolderRow, findRow, markDrop, mayDo, type OpenFolderPage, selectedRows } from "./page.ts";
import { currentPath, parsePath, toPathText } from "./paths.ts";

/** Marks rows of this page among other things that are dragged. */
const TYPE = "application/x-fileferry-members";

/** Lets rows be dragged onto folders: those of the page, and those above it in the breadcrumbs. Ctrl copies. */
export function enhanceDragging(page: OpenFolderPage): void {
  const { main } = page;
  let dragged: readonly HTMLElement[] = [];

  const mayBe = (verb: "move" | "copy"): boolean => dragged.some((row) => mayDo(page, row, verb));

  function verbOf({ ctrlKey, altKey }: DragEvent): "move" | "copy" | undefined {
    const verb = ctrlKey || altKey || !mayBe("move") ? "copy" : "move";
    return mayBe(verb) ? verb : undefined;
  }

  main.addEventListener("dragstart", (event) => {
    const { target, dataTransfer } = event;
    const row = findRow(target);
    if (row === null || dataTransfer === null) return;
    const selected = selectedRows(main);
    dragged = selected.includes(row) ? selected : [row];
    if (!mayBe("move") && !mayBe("copy")) return;
    dataTransfer.setData(TYPE, "");
    dataTransfer.effectAllowed = "copyMove";
  });
  main.addEventListener("dragend", () => {
    dragged = [];
    markDrop();
  });
  main.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes(TYPE)) return;
    const found = findFolder(event.target, dragged);
    const verb = verbOf(event);
    markDrop(found?.element);
    if (found === undefined || verb === undefined) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = verb;
  });
  main.addEventListener("drop", (event) => {
    if (!event.dataTransfer?.types.includes(TYPE)) return;
    event.preventDefault();
    const found = findFolder(event.target, dragged);
    const verb = verbOf(event);
    markDrop();
    const names = dragged.map(({ dataset }) => dataset.name ?? "");
    if (found !== undefined && verb !== undefined) void copyOrMoveAll(page, names, verb, found.path);
  });
}

/** The folder that an element stands for, unless it is among what is dragged. */
function findFolder(
  target: EventTarget | null,
  dragged: readonly HTMLElement[],
): { readonly element: Element; readonly path: string } | undefined {
  const row = findFolderRow(target);
  if (row !== undefined) {
    return dragged.includes(row) ? undefined : { element: row, path: toPathText(parsePath(`${row.dataset.name}/`)) };
  }
  const crumb = (target as Element).closest?.(".crumbs a");
  const levels = crumb?.getAttribute("href")?.match(/\.\.\//g)?.length;
  if (!crumb || levels === undefined) return undefined;
  return { element: crumb, path: toPathText(currentPath().slice(0, -levels)) };
}
