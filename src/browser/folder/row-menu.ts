import { fill } from "../format.ts";
import { chooseAndCopyOrMove } from "./copy-or-move.ts";
import { saveFile } from "./open-file.ts";
import { findRow, mayDo, type OpenFolderPage, selectedRows } from "./page.ts";
import { type MenuItem, openPopupMenu } from "./popup-menu.ts";
import { showProperties } from "./properties.ts";
import { removeAll } from "./remove.ts";
import { renameInPlace } from "./rename.ts";
import { isTextSelected } from "./row-clicks.ts";
import { DOWNLOAD_MEMBERS, submitForm } from "./submit-form.ts";
import { findVersions } from "./versions.ts";

const MORE = "td.more a";

/** Opens a menu in place of the link of each row. */
export function enhanceRowMenus(page: OpenFolderPage): void {
  page.main.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    const link = target instanceof Element ? target.closest<HTMLElement>(MORE) : null;
    const row = findRow(link);
    // With these keys a link opens elsewhere.
    if (link === null || row === null || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    openSelectionMenu(page, row);
  });
  let isOnText = false;
  // Before the click: on some systems a right click selects the word below it.
  page.main.addEventListener("pointerdown", ({ target }) => {
    const row = findRow(target);
    isOnText = row !== null && isTextSelected(row);
  });
  // As in other file managers and cloud drives, also on the name. With Shift, or on selected text, the browser's own.
  page.main.addEventListener("contextmenu", (event) => {
    const row = findRow(event.target);
    if (row === null || event.shiftKey || isOnText || (event.target as Element).matches(".new-name")) return;
    if (openSelectionMenu(page, row, { at: event })) event.preventDefault();
  });
}

/**
 * Opens the menu of a row, or that of all selected rows if it is one of several. `at`: where the pointer is, if that
 * opens it. `anchor`: what else opens it. Returns whether there is anything to offer.
 */
export function openSelectionMenu(
  page: OpenFolderPage,
  row: HTMLElement,
  { at, anchor }: { readonly at?: MouseEvent; readonly anchor?: HTMLElement } = {},
): boolean {
  const { main, texts } = page;
  const more = row.querySelector<HTMLElement>(MORE);
  const selected = selectedRows(main);
  const isOfMany = selected.length > 1 && selected.includes(row);
  const items = isOfMany ? toBarItems(main) : toItems(page, row);
  if (more === null || items.length === 0) return false;
  const label = isOfMany ? fill(texts.selected, { count: selected.length }) : (more.getAttribute("aria-label") ?? "");
  openPopupMenu(anchor ?? more, items, { at, label });
  return true;
}

/** What the bar of the selected members offers. */
export function toBarItems(main: HTMLElement): MenuItem[] {
  const buttons = main.querySelectorAll<HTMLElement>(".selected [data-members-action]:enabled:not([hidden])");
  return Array.from(buttons, (one) => ({
    label: one.textContent ?? "",
    isDanger: one.classList.contains("danger"),
    act: () => one.click(),
  }));
}

function toItems(page: OpenFolderPage, row: HTMLElement): MenuItem[] {
  const { texts, may } = page;
  const mayDownload = mayDo(page, row, "download");
  const mayMove = mayDo(page, row, "move");
  const mayDelete = mayDo(page, row, "delete");
  const { name = "", kind } = row.dataset;
  const share = page.main.querySelector('[value="share-members"]');
  const isFolder = kind === "folder";
  const versions = findVersions(row);
  const isViewable = isFolder || row.dataset.view !== undefined;
  const items: readonly (MenuItem | false)[] = [
    isViewable && { label: texts.open, act: () => row.querySelector<HTMLElement>("th a")?.click() },
    mayDownload && !isFolder && { label: texts.download, act: () => saveFile(row) },
    mayDownload &&
      isFolder && { label: texts.downloadZip, act: () => submitForm(DOWNLOAD_MEMBERS, "selected-members", name) },
    mayMove && { label: texts.rename, act: () => renameInPlace(page, name) },
    mayMove && { label: texts.moveItem, act: () => void chooseAndCopyOrMove(page, [name], "move") },
    mayDo(page, row, "copy") && { label: texts.copyItem, act: () => void chooseAndCopyOrMove(page, [name], "copy") },
    mayDo(page, row, "share") && {
      label: share?.textContent ?? "",
      act: () => submitForm("share-members", "selected-members", name),
    },
    versions ? { label: versions.title, act: () => versions.click() } : false,
    { label: texts.properties, act: () => void showProperties(page, name) },
    mayDelete && { label: texts.delete, isDanger: true, act: () => void removeAll(page, [name]) },
    mayDelete && may("purge") && { label: texts.purge, isDanger: true, act: () => void removeAll(page, [name], true) },
  ];
  return items.filter((item) => item !== false);
}
