import { element } from "../elements.ts";
import { fill } from "../format.ts";
import type { OpenFolderPage } from "./page.ts";
import { runOnMembers } from "./run-on-members.ts";

/**
 * Puts a field in place of a member's name. Enter and leaving the field rename, Escape does not; a name that is not
 * possible stays in the field, with the reason above.
 */
export function renameInPlace(page: OpenFolderPage, name: string): void {
  const { main, texts } = page;
  const link = linkOf(main, name);
  if (link === null || link.hidden) return;
  const field = element("input", {
    class: "new-name",
    value: name,
    "aria-label": fill(texts.newName, { name }),
    maxlength: "255",
    dir: "auto",
    required: "",
    pattern: "[^\\/]+",
  });
  field.autocomplete = "off";
  field.spellcheck = false;
  let isEnding = false;
  /** Whether the page displays why the last name was refused. */
  let isRefused = false;

  function end(hasFocus: boolean): void {
    isEnding = true;
    if (isRefused) page.showProblems([]);
    field.remove();
    if (link === null) return;
    link.hidden = false;
    if (hasFocus) link.focus();
  }

  async function commit(hasFocus: boolean): Promise<void> {
    const newName = field.value;
    if (isEnding) return;
    if (newName === name || (!hasFocus && !field.checkValidity())) return end(hasFocus);
    if (!field.reportValidity()) return;
    isEnding = true;
    const { hasFailed } = await runOnMembers(page, "move", [name], newName);
    isEnding = false;
    isRefused = hasFailed && hasFocus;
    if (hasFailed) return hasFocus ? field.focus() : end(false);
    end(false);
    page.announce(fill(texts.renamed, { name: newName }));
    await page.refresh();
    if (hasFocus) linkOf(main, newName)?.focus();
  }

  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") void commit(true);
    else end(true);
  });
  field.addEventListener("blur", () => void commit(false));
  link.hidden = true;
  link.after(field);
  field.focus();
  // The part before the extension is what users mostly change.
  const dot = name.lastIndexOf(".");
  field.setSelectionRange(0, dot > 0 ? dot : name.length);
}

/** The link of a member in its row. */
export function linkOf(main: HTMLElement, name: string): HTMLElement | null {
  return main.querySelector<HTMLElement>(`tr[data-name="${CSS.escape(name)}"] th a`);
}
