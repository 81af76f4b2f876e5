import { fill } from "../format.ts";
import { type CommandResult, sendCommands } from "../requests.ts";
import type { OpenFolderPage } from "./page.ts";
import { currentPath } from "./paths.ts";
import { linkOf } from "./rename.ts";
import { toProblems } from "./run-on-members.ts";

/** The URL of the trash. Returns `undefined` if the account has none. */
export function findTrash(): string | undefined {
  return document.querySelector<HTMLAnchorElement>('.account a[href$="/home/__svc__/trash"]')?.href;
}

/** Restores members of this folder that were just deleted, by the IDs of their entries in the trash. */
export async function restoreAll(page: OpenFolderPage, url: string, deleted: readonly CommandResult[]): Promise<void> {
  const { texts } = page;
  const commands = deleted.map(({ target, trash }) => ({
    command: "restore",
    target: trash,
    // So the service does not search for it.
    from: `/${[...currentPath(), target].join("/")}`,
  }));
  const { outcomes, problem } = await sendCommands(url, commands, texts);
  const named = outcomes.map((outcome, index) => ({ ...outcome, target: deleted[index]?.target ?? "" }));
  const problems = toProblems(named, problem, page);
  page.showProblems(problems);
  if (problems.length === 0) page.showSuccess(fill(texts.restored, { count: outcomes.length }));
  await page.refresh();
  // The button that was pressed is gone.
  if (document.activeElement?.matches("body")) linkOf(page.main, named[0]?.target ?? "")?.focus();
}
