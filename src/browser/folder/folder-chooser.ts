import { CONFIRMED, dialogActions, dialogHeading, showDialog } from "../dialog.ts";
import { button, element, nameElement } from "../elements.ts";
import { fill } from "../format.ts";
import { HEADERS } from "../requests.ts";
import type { OpenFolderPage } from "./page.ts";
import { currentPath, parsePath, toFolderUrl, toPathText } from "./paths.ts";

/** The maximum number of folders that are shown. The others can be entered. */
const MAX_FOLDERS = 500;

/** Asks for the folder that members are moved or copied to. Returns its path, or `undefined` if the user cancels. */
export async function chooseFolder(
  { texts }: OpenFolderPage,
  verb: "move" | "copy",
  names: readonly string[],
): Promise<readonly string[] | undefined> {
  const [only = ""] = names;
  const title = names.length === 1 ? only : fill(texts.itemCount, { count: names.length });
  const heading = dialogHeading(fill(verb === "move" ? texts.moveTo : texts.copyTo, { name: title }));
  const field = element("input", { id: "choose-path", dir: "auto", required: "", value: toPathText(currentPath()) });
  field.autocomplete = "off";
  field.spellcheck = false;
  const label = element("label", { for: field.id }, texts.destination);
  const list = element("ul", { class: "choices", "aria-live": "polite", "aria-label": texts.folders });
  const no = button(texts.cancel, () => dialog.close());
  const yes = element("button", { class: "primary" }, verb === "move" ? texts.move : texts.copy);
  const form = element("form", { method: "dialog" }, heading, label, field, list, dialogActions(no, yes));
  const dialog = element("dialog", { class: "chooser", "aria-labelledby": heading.id }, form);
  let shown = 0;

  function toChoice(text: string | Node, path: readonly string[], className: string): HTMLElement {
    const choice = button(text, () => void show(path));
    choice.className = className;
    return element("li", {}, choice);
  }

  async function show(path: readonly string[], isEntered = false): Promise<void> {
    const request = ++shown;
    if (!isEntered) field.value = toPathText(path);
    const folders = await listFolders(path);
    if (request !== shown) return;
    const isHere = toPathText(path) === toPathText(currentPath());
    const choices = (folders ?? [])
      // A folder cannot go into itself.
      .filter((name) => !isHere || !names.includes(name))
      .slice(0, MAX_FOLDERS)
      .map((name) => toChoice(nameElement(name), [...path, name], "folder"));
    if (path.length > 0) choices.unshift(toChoice(texts.up, path.slice(0, -1), "up"));
    if (!folders?.length) choices.push(element("li", { class: "quiet" }, folders ? texts.noFolders : texts.noFolder));
    const hadFocus = list.contains(document.activeElement);
    list.replaceChildren(...choices);
    if (hadFocus) (list.querySelector("button") ?? field).focus();
  }

  field.addEventListener("change", () => void show(parsePath(field.value), true));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close(CONFIRMED);
  });
  void show(currentPath());
  const result = showDialog(dialog);
  field.focus();
  field.select();
  return (await result) === CONFIRMED ? parsePath(field.value) : undefined;
}

/** The names of the folders in a folder; `undefined` if it cannot be listed. */
async function listFolders(path: readonly string[]): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(toFolderUrl(path), { headers: HEADERS });
    if (!response.ok) return undefined;
    const { content } = (await response.json()) as {
      content: readonly { readonly name: string; readonly is_directory: boolean }[];
    };
    return content
      .filter((member) => member.is_directory)
      .map(({ name }) => name)
      .sort((one, other) => one.localeCompare(other));
  } catch {
    return undefined;
  }
}
