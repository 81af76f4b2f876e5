import type { MemberAction } from "../../contracts/pages/member-action.ts";
import { button, element, setText } from "../elements.ts";
import { fill } from "../format.ts";
import { chooseAndCopyOrMove } from "./copy-or-move.ts";
import { mayDo, memberBoxes, type OpenFolderPage, selectedBoxes, selectedRows, toSelectionText } from "./page.ts";
import { removeAll } from "./remove.ts";
import { enhanceRowClicks } from "./row-clicks.ts";
import { openSelectionMenu, toBarItems } from "./row-menu.ts";
import { runOnMembers } from "./run-on-members.ts";
import { showSelectAll } from "./select-all.ts";
import { DOWNLOAD_MEMBERS, submitForm } from "./submit-form.ts";

/** If more are selected, and these are all, the archive is that of the folder, which needs no names. */
const MAX_NAMED = 998;

/** The archive of the folder as a whole. */
const ARCHIVE = 'a[href="?zip"]';
/** Leads to a page that has one member. */
const SHARE = "share-members";
/** Deletes members for good. Only services with a trash have it. */
const PURGE = "purge-members";

/** What each button of the bar needs on a member. */
const NEEDED: Readonly<Record<string, MemberAction>> = {
  [DOWNLOAD_MEMBERS]: "download",
  "delete-members": "delete",
  [PURGE]: "delete",
  "move-members": "move",
  "copy-members": "copy",
  [SHARE]: "share",
};

/** Adds the selection of members. Runs all actions on them in the page, except the download and a new link. */
export function enhanceMembers(page: OpenFolderPage): void {
  const { main } = page;
  let isBusy = false;

  function showSelection(): void {
    const rows = selectedRows(main);
    const count = rows.length;
    markSelected(main, rows);
    const limit = findLimit(page);
    showSelectAll(main);
    flatten(main);
    for (const action of main.querySelectorAll<HTMLButtonElement>("[data-members-action]")) {
      const needed = NEEDED[action.value];
      // What is denied on some of them only is reported of those.
      action.hidden = needed !== undefined && count > 0 && !rows.some((row) => mayDo(page, row, needed));
      const isTooMany = action.value === SHARE ? count > 1 : action.value === DOWNLOAD_MEMBERS && limit !== "";
      action.disabled = count === 0 || isTooMany;
    }
    showBar(page, rows, clear);
    showLimit(page, limit);
  }

  function clear(): void {
    for (const box of selectedBoxes(main)) box.checked = false;
    showSelection();
    main.querySelector<HTMLElement>("#select-all")?.focus();
  }

  async function act(action: (names: readonly string[]) => Promise<void>): Promise<void> {
    const names = Array.from(selectedBoxes(main), ({ value }) => value);
    if (names.length === 0 || isBusy) return;
    isBusy = true;
    await action(names).finally(() => {
      isBusy = false;
    });
  }

  enhanceRowClicks(main, showSelection);
  main.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.id !== "select-all") return;
    for (const one of memberBoxes(main)) one.checked = target.checked && !one.closest("tr")?.hidden;
    showSelection();
  });
  main.addEventListener("members-replaced", showSelection);
  main.addEventListener("selection-changed", showSelection);
  main.addEventListener("submit", (event) => {
    const { submitter } = event as SubmitEvent;
    if (!(submitter instanceof HTMLButtonElement) || submitter.dataset.membersAction === undefined) return;
    if (submitter.value === SHARE) return;
    event.preventDefault();
    if (submitter.value === DOWNLOAD_MEMBERS) return download(main);
    const verb = NEEDED[submitter.value];
    void act((names) => {
      if (verb === "delete") return removeAll(page, names, submitter.value === PURGE);
      if (verb === "move" || verb === "copy") return chooseAndCopyOrMove(page, names, verb);
      return triggerAll(page, names, submitter);
    });
  });
  // A browser that returns to the page restores the selection.
  addEventListener("pageshow", showSelection);
  showSelection();
}

/** Marks the rows of the selected members. */
function markSelected(main: HTMLElement, rows: readonly HTMLElement[]): void {
  const selected = new Set(rows);
  for (const row of main.querySelectorAll<HTMLElement>("tr[data-selected]")) {
    if (!selected.has(row)) row.removeAttribute("data-selected");
  }
  for (const row of rows) row.dataset.selected = "";
}

/** The buttons to move and copy open a dialog, which has the field: they need no menu around them. */
function flatten(main: HTMLElement): void {
  const menu = main.querySelector<HTMLDetailsElement>("#to-folder");
  if (menu === null) return;
  menu.dataset.flat = "";
  menu.open = true;
}

/** Shows the bar of actions while members are selected, with the menu of what else can be done with them. */
function showBar(page: OpenFolderPage, rows: readonly HTMLElement[], clear: () => void): void {
  const { main, texts } = page;
  const bar = main.querySelector<HTMLElement>("#members .selected");
  const label = bar?.querySelector(".count");
  if (bar === null || !label) return;
  bar.hidden = rows.length === 0;
  // The first number that a page formats takes the browser a while.
  if (rows.length > 0) setText(label, toSelectionText(page, rows));
  if (bar.querySelector(".clear") === null) {
    const more = toBarButton("⋯", "actions", main.querySelector("thead .more")?.textContent ?? "", () => {
      const [row] = selectedRows(main);
      if (row !== undefined) openSelectionMenu(page, row, { anchor: more });
    });
    more.setAttribute("aria-haspopup", "menu");
    bar.prepend(toBarButton("✕", "clear", texts.clearSelection, clear));
    bar.append(more);
  }
  // The menu of one row has at least its properties.
  (bar.lastElementChild as HTMLElement).hidden = rows.length > 1 && toBarItems(main).length === 0;
}

function toBarButton(sign: string, className: string, label: string, act: () => void): HTMLButtonElement {
  const made = button(sign, act);
  // By this the focus finds the button again when the members are replaced.
  made.value = className;
  made.className = `neutral ${className}`;
  made.setAttribute("aria-label", label);
  made.title = label;
  return made;
}

/** The names of the selected members in one field: a form may have fewer parts. No name has a `/`. */
function toList(boxes: NodeListOf<HTMLInputElement>): string {
  return Array.from(boxes, ({ value }) => value).join("/");
}

/** Returns the link to the archive of the folder if that is the one to download. */
function findWhole(main: HTMLElement, count: number): HTMLElement | null {
  return count > MAX_NAMED && count === memberBoxes(main).length ? main.querySelector<HTMLElement>(ARCHIVE) : null;
}

function download(main: HTMLElement): void {
  const boxes = selectedBoxes(main);
  const whole = findWhole(main, boxes.length);
  if (whole === null) submitForm(DOWNLOAD_MEMBERS, "download-list", toList(boxes));
  else whole.click();
}

/** Why the selected members cannot be downloaded as one archive. Empty if they can. */
function findLimit({ main, texts }: OpenFolderPage): string {
  const boxes = selectedBoxes(main);
  const { maxNames, maxBytes } = main.dataset;
  if (findWhole(main, boxes.length) !== null) return "";
  if (boxes.length > Number(maxNames)) return fill(texts.tooMany, { count: Number(maxNames) });
  return new Blob([toList(boxes)]).size > Number(maxBytes) ? texts.namesTooLong : "";
}

/** Explains why the download button is disabled. */
function showLimit({ main }: OpenFolderPage, text: string): void {
  const download = main.querySelector(`[data-members-action][value="${DOWNLOAD_MEMBERS}"]`);
  if (download === null) return;
  let limit = main.querySelector(".selected-limit");
  if (limit === null) {
    limit = element("p", { id: "selected-limit", class: "selected-limit", role: "status" });
    download.after(limit);
    download.setAttribute("aria-describedby", limit.id);
  }
  setText(limit, text);
}

/**
 * Runs a trigger on members. The result is always announced, because the list of members may look the same afterwards.
 */
async function triggerAll(page: OpenFolderPage, names: readonly string[], button: HTMLButtonElement): Promise<void> {
  const { done, hasFailed, isLost } = await runOnMembers(page, button.value, names);
  const text = fill(page.texts.triggered, { label: button.textContent ?? "", count: done.length });
  if (!hasFailed) page.showSuccess(text);
  else if (done.length > 0) page.announce(text);
  if (!isLost) void page.refresh();
}
