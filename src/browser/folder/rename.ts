import { fill } from "../format.ts";
import { runCommands } from "../requests.ts";
import { type OpenFolderPage, problemElement } from "./page.ts";
import { askForName } from "./rename-dialog.ts";

/** Renames members in a dialog, without leaving the page. */
export function enhanceRename(page: OpenFolderPage): void {
  const { main, texts } = page;

  async function rename(name: string): Promise<void> {
    const newName = await askForName(name, texts);
    if (newName === undefined || newName === name) return;
    // A name with a slash would be a path.
    const { outcomes, problem } = await runCommands([], "move", [name], texts, newName);
    const message = outcomes[0]?.message;
    if (problem !== undefined) return page.showProblems([problemElement(problem, texts)]);
    if (message) return page.showProblems([fill(texts.failed, { name, message })]);
    page.showProblems([]);
    page.announce(fill(texts.renamed, { name: newName }));
    await page.refresh();
    main.querySelector<HTMLElement>(`tr[data-name="${CSS.escape(newName)}"] .rename a`)?.focus();
  }

  main.addEventListener("click", (event) => {
    const { target, ctrlKey, metaKey, shiftKey } = event;
    const link = target instanceof Element ? target.closest("td.rename a") : null;
    const name = link?.closest<HTMLElement>("tr[data-name]")?.dataset.name;
    // With these keys a link opens elsewhere.
    if (name === undefined || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    void rename(name);
  });
}
