import { fill } from "../format.ts";
import { closeMenu } from "../menus.ts";
import { runCommands } from "../requests.ts";
import { type OpenFolderPage, problemElement } from "./page.ts";

/** Creates folders without leaving the page. */
export function enhanceNewFolder(page: OpenFolderPage): void {
  const { main, texts } = page;
  const form = main.querySelector<HTMLFormElement>("#new-folder");
  const field = form?.querySelector<HTMLInputElement>('input[name="new-folder"]');
  if (!form || !field) return;
  let isBusy = false;

  async function create(name: string, target: HTMLInputElement): Promise<void> {
    const { outcomes, problem } = await runCommands([], "create-folder", [name], texts);
    const message = outcomes[0]?.message;
    if (problem !== undefined) return page.showProblems([problemElement(problem, texts)]);
    if (message) return page.showProblems([fill(texts.failed, { name, message })]);
    page.showProblems([]);
    page.announce(fill(texts.folderCreated, { name }));
    target.value = "";
    closeMenu(target);
    await page.refresh();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (isBusy) return;
    isBusy = true;
    void create(field.value, field).finally(() => {
      isBusy = false;
    });
  });
}
