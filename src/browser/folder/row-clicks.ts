import { boxesBetween, findRow } from "./page.ts";

const BOX = 'input[name="selected-members"]';

/**
 * Lets a click on the free part of a row select it, as one on its box does. With Shift it selects the rows from the one
 * that was clicked before. `onChange` is called after each.
 */
export function enhanceRowClicks(main: HTMLElement, onChange: () => void): void {
  let last: HTMLInputElement | undefined;
  main.addEventListener("click", ({ target, shiftKey }) => {
    const box = findBox(target);
    if (box === null) return;
    if (box !== target) box.checked = !box.checked;
    // Keys work on the row that has the focus, and a press on its free part moves the focus to none.
    box.focus({ preventScroll: true });
    // All between the two get the state of the second one.
    if (shiftKey && last?.isConnected) for (const one of boxesBetween(main, last, box)) one.checked = box.checked;
    last = box;
    onChange();
  });
  main.addEventListener("mousedown", (event) => {
    // The browser would select the text between two clicks.
    if (event.shiftKey && findBox(event.target) !== null) event.preventDefault();
  });
}

/** Whether the user has selected text of a row, to copy it. */
export function isTextSelected(row: Element): boolean {
  const selection = getSelection();
  return selection?.isCollapsed === false && selection.containsNode(row, true);
}

/** The box that a click is for: on the box, or on a part of its row where nothing else takes the click. */
function findBox(target: EventTarget | null): HTMLInputElement | null {
  if (!(target instanceof Element)) return null;
  if (target.matches(BOX)) return target as HTMLInputElement;
  const row = findRow(target);
  if (row === null || target.closest("a, button, input, label") !== null || isTextSelected(row)) return null;
  return row.querySelector<HTMLInputElement>(BOX);
}
