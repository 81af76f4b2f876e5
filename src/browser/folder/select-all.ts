import { memberBoxes, selectedBoxes, shownBoxes } from "./page.ts";

/** Shows in the box for all members how many of them are selected. */
export function showSelectAll(main: HTMLElement): void {
  const all = main.querySelector<HTMLInputElement>("#select-all");
  if (all === null) return;
  const boxes = shownBoxes(main).length;
  const count = selectedBoxes(main).length;
  all.hidden = boxes === 0;
  all.checked = count > 0 && count >= Math.min(boxes, findLimit(all));
  all.indeterminate = count > 0 && count < boxes;
}

/** The number of members that the box selects: those of a form are limited. */
function findLimit({ dataset }: HTMLElement): number {
  return Number(dataset.max ?? Number.POSITIVE_INFINITY);
}

/** Lets a box select all members of a page that is not that of a folder, or the first ones. */
export function enhanceSelectAll(main: HTMLElement): void {
  const all = main.querySelector<HTMLInputElement>("#select-all");
  if (all === null) return;
  all.closest("label")?.removeAttribute("hidden");
  main.addEventListener("change", ({ target }) => {
    const boxes = [...memberBoxes(main)];
    if (target === all) for (const [index, box] of boxes.entries()) box.checked = all.checked && index < findLimit(all);
    showSelectAll(main);
  });
  // A browser that returns to the page restores the selection.
  addEventListener("pageshow", () => showSelectAll(main));
}
