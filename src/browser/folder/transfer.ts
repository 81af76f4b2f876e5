import { fill } from "../format.ts";
import type { OpenFolderPage } from "./page.ts";
import { runOnMembers } from "./run-on-members.ts";

/** Moves or copies members to the folder that the field names. What the user has entered stays if it fails. */
export async function transferAll(
  page: OpenFolderPage,
  names: readonly string[],
  button: HTMLButtonElement,
): Promise<void> {
  const { main, texts } = page;
  const field = main.querySelector<HTMLInputElement>("#destination");
  if (field === null) return;
  const entered = field.value;
  if (entered === "") {
    page.showProblems([texts.destinationMissing]);
    field.focus();
    return;
  }
  const isMove = button.value === "move-members";
  const folder = entered.endsWith("/") ? entered : `${entered}/`;
  const { succeeded, hasFailed, isLost } = await runOnMembers(page, isMove ? "move" : "copy", names, folder);
  const text = fill(isMove ? texts.moved : texts.copied, { count: succeeded });
  if (!hasFailed) {
    page.showSuccess(text);
    field.value = "";
  } else if (succeeded > 0) page.announce(text);
  if (!isLost) await page.refresh();
}
