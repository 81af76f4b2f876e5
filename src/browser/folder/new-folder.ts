import { fill } from "../format.ts";
import { closeMenu } from "../menus.ts";
import type { OpenFolderPage } from "./page.ts";
import { linkOf } from "./rename.ts";
import { runOnMembers } from "./run-on-members.ts";

/** Creates folders without leaving the page. */
export function enhanceNewFolder(page: OpenFolderPage): void {
  const { main, texts } = page;
  const form = main.querySelector<HTMLFormElement>("#new-folder");
  const field = form?.querySelector<HTMLInputElement>('input[name="new-folder"]');
  if (!form || !field) return;
  let isBusy = false;

  async function create(name: string, target: HTMLInputElement): Promise<void> {
    const { hasFailed } = await runOnMembers(page, "create-folder", [name]);
    if (hasFailed) return;
    page.announce(fill(texts.folderCreated, { name }));
    target.value = "";
    closeMenu(target);
    await page.refresh();
    if (document.activeElement?.matches("#create > summary")) linkOf(main, name)?.focus();
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
