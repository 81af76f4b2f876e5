import { element, setText } from "../elements.ts";
import { fill } from "../format.ts";
import { askToDelete } from "./delete-dialog.ts";
import { memberBoxes, type OpenFolderPage, selectedBoxes } from "./page.ts";
import { runOnMembers } from "./run-on-members.ts";
import { transferAll } from "./transfer.ts";

/** A form has at most 1,000 parts (SECURITY 12). Its action and the field for a folder are two of them. */
const MEMBERS_PER_FORM = 998;

const DOWNLOAD = "download-members";
/** Leads to a page that has one member. */
const SHARE = "share-members";
/** Deletes members for good. Only services with a trash have it. */
const PURGE = "purge-members";

/** Adds the selection of members. Runs all actions on them in the page, except the download and a new link. */
export function enhanceMembers(page: OpenFolderPage): void {
  const { main } = page;
  let last: HTMLInputElement | undefined;
  let isBusy = false;

  function showSelection(): void {
    const count = selectedBoxes(main).length;
    const all = main.querySelector<HTMLInputElement>("#select-all");
    if (all !== null) {
      const boxes = memberBoxes(main).length;
      all.hidden = boxes === 0;
      all.checked = count > 0 && count === boxes;
      all.indeterminate = count > 0 && count < boxes;
    }
    for (const action of main.querySelectorAll<HTMLButtonElement>("[data-members-action]")) {
      const isTooMany = action.value === SHARE ? count > 1 : action.value === DOWNLOAD && count > MEMBERS_PER_FORM;
      action.disabled = count === 0 || isTooMany;
    }
    showLimit(page, count);
  }

  async function act(action: (names: readonly string[]) => Promise<void>): Promise<void> {
    const names = Array.from(selectedBoxes(main), ({ value }) => value);
    if (names.length === 0 || isBusy) return;
    isBusy = true;
    await action(names).finally(() => {
      isBusy = false;
    });
  }

  main.addEventListener("click", ({ target, shiftKey }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.name === "selected-members") {
      if (shiftKey && last?.isConnected) selectRange(main, last, target);
      last = target;
    } else if (target.id === "select-all") {
      for (const box of memberBoxes(main)) box.checked = target.checked;
    } else return;
    showSelection();
  });
  main.addEventListener("members-replaced", showSelection);
  main.addEventListener("submit", (event) => {
    const { submitter } = event as SubmitEvent;
    if (!(submitter instanceof HTMLButtonElement) || submitter.dataset.membersAction === undefined) return;
    if (submitter.value === DOWNLOAD || submitter.value === SHARE) return;
    event.preventDefault();
    void act((names) => {
      if (submitter.value === "delete-members" || submitter.value === PURGE) return deleteAll(page, names, submitter);
      const isTransfer = submitter.value === "move-members" || submitter.value === "copy-members";
      return isTransfer ? transferAll(page, names, submitter) : triggerAll(page, names, submitter);
    });
  });
  // A browser that returns to the page restores the selection.
  addEventListener("pageshow", showSelection);
  showSelection();
}

/** Sets all boxes between two boxes to the state of the second one. */
function selectRange(main: HTMLElement, from: HTMLInputElement, to: HTMLInputElement): void {
  const boxes = [...memberBoxes(main)];
  const [start = 0, end = 0] = [boxes.indexOf(from), boxes.indexOf(to)].sort((one, other) => one - other);
  for (const box of boxes.slice(start, end + 1)) box.checked = to.checked;
}

/** Explains why the download button is disabled. */
function showLimit({ main, texts }: OpenFolderPage, count: number): void {
  const download = main.querySelector(`[data-members-action][value="${DOWNLOAD}"]`);
  if (download === null) return;
  let limit = main.querySelector(".selected-limit");
  if (limit === null) {
    limit = element("p", { id: "selected-limit", class: "selected-limit", role: "status" });
    download.after(limit);
    download.setAttribute("aria-describedby", limit.id);
  }
  setText(limit, count > MEMBERS_PER_FORM ? fill(texts.tooMany, { count: MEMBERS_PER_FORM }) : "");
}

/**
 * Runs a trigger on members. The result is always announced, because the list of members may look the same afterwards.
 */
async function triggerAll(page: OpenFolderPage, names: readonly string[], button: HTMLButtonElement): Promise<void> {
  const { succeeded, hasFailed, isLost } = await runOnMembers(page, button.value, names);
  const text = fill(page.texts.triggered, { label: button.textContent ?? "", count: succeeded });
  if (!hasFailed) page.showSuccess(text);
  else if (succeeded > 0) page.announce(text);
  if (!isLost) await page.refresh();
}

async function deleteAll(page: OpenFolderPage, names: readonly string[], opener: HTMLButtonElement): Promise<void> {
  const { main, texts } = page;
  const isForGood = opener.value === PURGE || main.querySelector(`[value="${PURGE}"]`) === null;
  if (!(await askToDelete(names, texts, isForGood))) return;
  const { succeeded, isLost } = await runOnMembers(page, opener.value === PURGE ? "purge" : "delete", names);
  if (succeeded > 0) page.announce(fill(texts.deleted, { count: succeeded }));
  if (isLost) return;
  await page.refresh();
  if (opener.isConnected && !opener.matches(":disabled")) return;
  const { activeElement } = document;
  if (activeElement !== null && activeElement !== document.body && !activeElement.matches(":disabled")) return;
  const next =
    main.querySelector<HTMLElement>("#select-all:not([hidden])") ??
    main.querySelector<HTMLElement>('#new-folder input:not([type="hidden"])');
  next?.focus();
}
