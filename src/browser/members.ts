import { askToDelete } from "./delete-dialog.ts";
import { type FolderPage, memberBoxes, problemElement, selectedBoxes } from "./folder-page.ts";
import { type Outcome, type Problem, runCommands } from "./requests.ts";
import { fill } from "./wording.ts";

/** Choosing members, and deleting them without leaving the page. */
export function enhanceMembers(page: FolderPage): void {
  const { main } = page;
  let last: HTMLInputElement | undefined;

  function showSelection(): void {
    const count = selectedBoxes(main).length;
    const all = main.querySelector<HTMLInputElement>("#select-all");
    if (all !== null) {
      const boxes = memberBoxes(main).length;
      all.hidden = boxes === 0;
      all.checked = count > 0 && count === boxes;
      all.indeterminate = count > 0 && count < boxes;
    }
    for (const action of main.querySelectorAll<HTMLButtonElement>("[data-members-action]"))
      action.disabled = count === 0;
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
    if (submitter?.getAttribute("value") !== "delete-members") return;
    event.preventDefault();
    void deleteSelected(page, submitter);
  });
  // A browser that comes back to the page restores what was chosen.
  addEventListener("pageshow", showSelection);
  showSelection();
}

/** Gives all from one box to the other the state of the latter. */
function selectRange(main: HTMLElement, from: HTMLInputElement, to: HTMLInputElement): void {
  const boxes = [...memberBoxes(main)];
  const [start = 0, end = 0] = [boxes.indexOf(from), boxes.indexOf(to)].sort((one, other) => one - other);
  for (const box of boxes.slice(start, end + 1)) box.checked = to.checked;
}

async function deleteSelected(page: FolderPage, opener: HTMLElement): Promise<void> {
  const { main, texts } = page;
  const names = Array.from(selectedBoxes(main), ({ value }) => value);
  if (names.length === 0 || !(await askToDelete(names, texts))) return;
  const members = main.querySelector("#members");
  members?.setAttribute("aria-busy", "true");
  const { outcomes, problem } = await runCommands([], "delete", names, texts);
  members?.removeAttribute("aria-busy");
  page.showProblems(toProblems(outcomes, problem, page));
  const deleted = outcomes.filter(({ message }) => message === null).length;
  if (deleted > 0) page.announce(fill(texts.deleted, { count: deleted }));
  if (problem?.kind === "login" || problem?.kind === "network") return;
  await page.refresh();
  if (opener.isConnected && !opener.matches(":disabled")) return;
  const { activeElement } = document;
  if (activeElement !== null && activeElement !== document.body && !activeElement.matches(":disabled")) return;
  const next =
    main.querySelector<HTMLElement>("#select-all:not([hidden])") ??
    main.querySelector<HTMLElement>('#new-folder input:not([type="hidden"])');
  next?.focus();
}

/** One line for each failure; more than a few are not read anyway. */
function toProblems(
  outcomes: readonly Outcome[],
  problem: Problem | undefined,
  { texts }: FolderPage,
): (Node | string)[] {
  const failed = outcomes.filter(({ message }) => message !== null);
  const lines: (Node | string)[] = failed
    .slice(0, 20)
    .map(({ target, message }) => fill(texts.failed, { name: target, message: message ?? "" }));
  if (failed.length > 20) lines.push(fill(texts.more, { count: failed.length - 20 }));
  if (problem !== undefined) lines.push(problemElement(problem, texts));
  return lines;
}
