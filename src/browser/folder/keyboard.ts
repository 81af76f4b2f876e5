import { isTyping } from "../elements.ts";
import {
  boxesBetween,
  findRow,
  mayDo,
  type OpenFolderPage,
  selectedBoxes,
  selectedRows,
  shownBoxes,
  toSelectionText,
} from "./page.ts";
import { removeAll } from "./remove.ts";
import { renameInPlace } from "./rename.ts";
import { createRovingFocus } from "./roving-focus.ts";
import { openSelectionMenu } from "./row-menu.ts";
import { showShortcuts } from "./shortcuts.ts";

/**
 * Lets users work with the keyboard alone (ARIA grid): one row has the tab stop, and arrows move it. Outside of fields
 * and dialogs some keys work everywhere on the page.
 */
export function enhanceKeyboard(page: OpenFolderPage): void {
  const { main } = page;
  const focus = createRovingFocus(main);
  /** The row that a selection with Shift began at, and the one that it has come to. */
  let range: { readonly from: HTMLElement; readonly to: HTMLElement } | undefined;

  function select(boxes: Iterable<HTMLInputElement>, isChecked: boolean): void {
    range = undefined;
    for (const box of boxes) box.checked = isChecked;
    main.dispatchEvent(new Event("selection-changed"));
    page.announce(toSelectionText(page, selectedRows(main)));
  }

  function toggle(row: HTMLElement): void {
    const box = row.querySelector<HTMLInputElement>('input[name="selected-members"]');
    if (box !== null) select([box], !box.checked);
  }

  /** Clears the selection. The bar that is hidden then may have had the focus. Returns whether there was one. */
  function clear(): boolean {
    const boxes = selectedBoxes(main);
    if (boxes.length === 0) return false;
    select(boxes, false);
    if (document.activeElement?.closest("[hidden]")) focus.enter(false);
    return true;
  }

  /** Deletes the selected members or, without any, the one of the row. */
  function remove(row?: HTMLElement): void {
    const selected = selectedRows(main);
    const rows = selected.length === 0 && row !== undefined ? [row] : selected;
    if (!rows.some((one) => mayDo(page, one, "delete"))) return;
    const names = rows.map(({ dataset }) => dataset.name ?? "");
    void removeAll(page, names);
  }

  /** The keys of a row. Returns whether the key has a meaning. */
  function onRow(row: HTMLElement, { key, shiftKey, repeat }: KeyboardEvent): boolean {
    switch (key) {
      case "Enter":
        // Links do so by themselves.
        if (document.activeElement?.matches(BOX)) row.querySelector<HTMLElement>("th a")?.click();
        return false;
      case "F2":
        if (mayDo(page, row, "move")) renameInPlace(page, row.dataset.name ?? "");
        return true;
      case "Delete":
        // A key that is held down deletes no more rows.
        if (!repeat) remove(row);
        return true;
      case " ":
        toggle(row);
        return true;
      case "ContextMenu":
        return openSelectionMenu(page, row);
      case "F10":
        return shiftKey && openSelectionMenu(page, row);
      default:
        return moveFrom(row, key, shiftKey);
    }
  }

  /** Moves the focus. With Shift the rows from where that began to the focus are selected, and no more than these. */
  function moveFrom(row: HTMLElement, key: string, isSelecting: boolean): boolean {
    const next = focus.move(row, key);
    if (next === undefined) return false;
    if (!isSelecting) range = undefined;
    else if (next !== row) {
      const from = range?.to === row && range.from.isConnected ? range.from : row;
      if (from !== row) for (const box of boxesBetween(main, from, row)) box.checked = false;
      select(boxesBetween(main, from, next), true);
      range = { from, to: next };
    }
    return true;
  }

  /** The keys of the page. Returns whether the key has a meaning. */
  function onPage({ key, ctrlKey, metaKey, repeat, target }: KeyboardEvent): boolean {
    const isCommand = ctrlKey || metaKey;
    if (isCommand && key.toLowerCase() === "a") {
      const boxes = shownBoxes(main);
      if (boxes.length > 0) select(boxes, true);
      return boxes.length > 0;
    }
    if (isCommand) return false;
    switch (key) {
      case "/":
        main.querySelector<HTMLElement>("#filter")?.focus();
        return true;
      case "?":
        void showShortcuts(page);
        return true;
      case "Escape":
        return clear();
      case "Delete":
        // In the panel of the uploads the key has no meaning.
        if (!repeat && (target as Element).matches("body, #members *")) remove();
        return true;
      case "ArrowDown":
      case "ArrowUp":
        return focus.enter(key === "ArrowUp");
      case "Backspace":
        document.querySelector<HTMLElement>("#up")?.click();
        return true;
      default:
        return false;
    }
  }

  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.defaultPrevented || event.altKey || !(target instanceof HTMLElement)) return;
    if (document.querySelector("dialog[open], .popup") !== null || isTyping(target)) return;
    const row = findRow(target);
    // A box takes the space key by itself.
    const isOwnKey = event.key === " " && target.matches("input");
    const isRowKey = row !== null && !event.ctrlKey && !event.metaKey && !isOwnKey;
    const hasMeaning = (isRowKey && onRow(row, event)) || onPage(event);
    // A box would send its form.
    if (hasMeaning || (event.key === "Enter" && target.matches(BOX))) event.preventDefault();
  });
}

const BOX = "#members input";
