import { memberBoxes, selectedBoxes, shownBoxes } from "./page.ts";

/** Shows in the box for all members how many of them are selected. */
export function showSelectAll(main: HTMLElement): void {
  const all = main.querySelector<HTMLInputElement>("#select-all");
  if (all === null) return;
  const boxes = shownBoxes(main).length;
  const count = selectedBoxes(main).length;
  all.hidden = boxes === 0;
  all.checked = count > 0 && count === boxes;
  all.indeterminate = count > 0 && count < boxes;
}

/** Lets a box select all members of a page that is not that of a folder. */
export function enhanceSelectAll(main: HTMLElement): void {
  const all = main.querySelector<HTMLInputElement>("#select-all");
  if (all === null) return;
  all.closest("label")?.removeAttribute("hidden");
  main.addEventListener("change", ({ target }) => {
    if (target === all) for (const box of memberBoxes(main)) box.checked = all.checked;
    showSelectAll(main);
  });
  // A browser that returns to the page restores the selection.
  addEventListener("pageshow", () => showSelectAll(main));
}
