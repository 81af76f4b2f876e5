import { fill } from "../format.ts";
import { chooseFolder } from "./folder-chooser.ts";
import type { OpenFolderPage } from "./page.ts";
import { toPathText } from "./paths.ts";
import { refreshWithout } from "./remove.ts";
import { runOnMembers } from "./run-on-members.ts";

/** Moves or copies members to a folder that the user chooses. */
export async function chooseAndCopyOrMove(
  page: OpenFolderPage,
  names: readonly string[],
  verb: "move" | "copy",
): Promise<void> {
  const folder = await chooseFolder(page, verb, names);
  if (folder !== undefined) await copyOrMoveAll(page, names, verb, toPathText(folder));
}

/** Moves or copies members to a folder, whose path ends in `/`. */
export async function copyOrMoveAll(
  page: OpenFolderPage,
  names: readonly string[],
  verb: "move" | "copy",
  folder: string,
): Promise<void> {
  const { texts } = page;
  const { done, hasFailed, isLost } = await runOnMembers(page, verb, names, folder);
  const text = fill(verb === "move" ? texts.moved : texts.copied, { count: done.length });
  if (!hasFailed) page.showSuccess(text);
  else if (done.length > 0) page.announce(text);
  if (!isLost) void (verb === "move" ? refreshWithout(page, names) : page.refresh());
}
