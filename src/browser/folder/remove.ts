import { fill } from "../format.ts";
import type { CommandResult } from "../requests.ts";
import { askToDelete } from "./delete-dialog.ts";
import { linkNear, type OpenFolderPage, shownRows } from "./page.ts";
import { findTrash, restoreAll } from "./restore.ts";
import { runOnMembers } from "./run-on-members.ts";

let isRemoving = false;
/** What the button of the message restores. */
let restorable: CommandResult[] = [];

/**
 * Deletes members, unless others are being deleted. What goes to the trash needs no question: a button restores it.
 * `isForGood`: even if there is a trash.
 */
export async function removeAll(page: OpenFolderPage, names: readonly string[], isForGood = false): Promise<void> {
  if (isRemoving) return;
  isRemoving = true;
  await remove(page, names, isForGood).finally(() => {
    isRemoving = false;
  });
}

async function remove(page: OpenFolderPage, names: readonly string[], isForGood: boolean): Promise<void> {
  const { texts, main } = page;
  // The folder may be of a storage without a trash, in a tree of several.
  const trashUrl = isForGood || !page.may("purge") ? undefined : findTrash();
  if (trashUrl === undefined && !(await askToDelete(names, texts))) return;
  // While its message is displayed, a deletion is restored together with the next one.
  const isOffered = main.querySelector(".toast button") !== null;
  const { isLost, done } = await runOnMembers(page, isForGood ? "purge" : "delete", names);
  const trashed = done.filter(({ trash }) => trash !== undefined);
  const earlier = isOffered && trashUrl !== undefined ? restorable : [];
  const text = fill(texts.deleted, { count: earlier.length + done.length });
  if (trashed.length > 0 && trashUrl !== undefined) {
    restorable = [...trashed, ...earlier];
    const act = () => void restoreAll(page, trashUrl, restorable.splice(0));
    page.showSuccess(text, { label: texts.restore, act });
  } else if (done.length > 0) page.announce(text);
  if (!isLost) await refreshWithout(page, names);
}

/** Updates the page after members have gone from it. If nothing has the focus then, it goes to the next row. */
export async function refreshWithout(page: OpenFolderPage, names: readonly string[]): Promise<void> {
  const { main } = page;
  const rows = shownRows(main);
  const position = rows.findIndex(({ dataset }) => dataset.name === names[0]);
  await page.refresh();
  // The bar of the selection is hidden with the button that was pressed.
  if (document.activeElement?.matches("body,[hidden] *")) {
    (linkNear(rows, position) ?? main.querySelector<HTMLElement>(".tools summary"))?.focus();
  }
}
