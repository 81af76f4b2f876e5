import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { CONFIRMED, dialogActions, dialogHeading, showDialog } from "../dialog.ts";
import { button, element, nameElement } from "../elements.ts";
import { fill } from "../format.ts";

/** The maximum number of names that the dialog lists. It shows only the number of the others. */
const MAX_NAMES = 10;

/**
 * Asks the user to confirm that these members are deleted for good. Escape cancels, and the cancel button has the focus
 * first.
 */
export async function askToDelete(names: readonly string[], texts: ScriptTexts): Promise<boolean> {
  const [only = ""] = names;
  const question =
    names.length === 1 ? fill(texts.deleteOne, { name: only }) : fill(texts.deleteMany, { count: names.length });
  const heading = dialogHeading(question);
  const hint = element("p", { id: "delete-hint" }, texts.deleteHint);
  const shown = names.slice(0, MAX_NAMES).map((name) => element("li", {}, nameElement(name)));
  if (names.length > MAX_NAMES) shown.push(element("li", {}, fill(texts.more, { count: names.length - MAX_NAMES })));
  const list = names.length === 1 ? [] : [element("ul", { class: "dialog-names" }, ...shown)];
  const no = button(texts.cancel, () => dialog.close());
  const yes = button(texts.delete, () => dialog.close(CONFIRMED));
  yes.className = "danger";
  no.autofocus = true;
  const dialog = element(
    "dialog",
    { "aria-labelledby": heading.id, "aria-describedby": hint.id },
    ...[heading, ...list, hint, dialogActions(no, yes)],
  );
  return (await showDialog(dialog)) === CONFIRMED;
}
