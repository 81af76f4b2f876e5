import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, nameElement } from "../elements.ts";
import { fill } from "../format.ts";

/** The maximum number of names that the dialog lists. It shows only the number of the others. */
const MAX_NAMES = 10;

/**
 * Asks the user to confirm that these members are deleted, for good or to the trash. Escape cancels, and the cancel
 * button has the focus first.
 */
export function askToDelete(names: readonly string[], texts: ScriptTexts, isForGood: boolean): Promise<boolean> {
  const [only = ""] = names;
  const question =
    names.length === 1 ? fill(texts.deleteOne, { name: only }) : fill(texts.deleteMany, { count: names.length });
  const heading = element("h2", { id: "delete-question", class: "dialog-heading", dir: "auto" }, question);
  const hint = element("p", { id: "delete-hint" }, isForGood ? texts.deleteHint : texts.trashHint);
  const shown = names.slice(0, MAX_NAMES).map((name) => element("li", {}, nameElement(name)));
  if (names.length > MAX_NAMES) shown.push(element("li", {}, fill(texts.more, { count: names.length - MAX_NAMES })));
  const list = names.length === 1 ? [] : [element("ul", { class: "dialog-names" }, ...shown)];

  return new Promise((resolve) => {
    let isConfirmed = false;
    const no = button(texts.cancel, () => dialog.close());
    const yes = button(texts.delete, () => {
      isConfirmed = true;
      dialog.close();
    });
    yes.className = "danger";
    no.autofocus = true;
    const dialog = element(
      "dialog",
      { "aria-labelledby": heading.id, "aria-describedby": hint.id },
      ...[heading, ...list, hint, element("div", { class: "dialog-actions" }, no, yes)],
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(isConfirmed);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
