import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element } from "../elements.ts";
import { fill } from "../format.ts";

/** Asks the user for the new name of a member. Resolves with `undefined` if the user cancels. */
export function askForName(name: string, texts: ScriptTexts): Promise<string | undefined> {
  const label = element("label", { for: "rename-name", class: "dialog-heading", dir: "auto" });
  label.textContent = fill(texts.newName, { name });
  const field = element("input", {
    id: "rename-name",
    value: name,
    maxlength: "255",
    dir: "auto",
    required: "",
    pattern: "[^\\/]+",
  });
  field.autocomplete = "off";
  field.spellcheck = false;

  return new Promise((resolve) => {
    let newName: string | undefined;
    const no = button(texts.cancel, () => dialog.close());
    const yes = element("button", { class: "primary" }, texts.rename);
    const form = element(
      "form",
      { method: "dialog" },
      label,
      field,
      element("div", { class: "dialog-actions" }, no, yes),
    );
    const dialog = element("dialog", {}, form);
    form.addEventListener("submit", () => {
      newName = field.value;
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(newName);
    });
    document.body.append(dialog);
    dialog.showModal();
    field.focus();
    // The part before the extension is what users mostly change.
    const dot = name.lastIndexOf(".");
    field.setSelectionRange(0, dot > 0 ? dot : name.length);
  });
}
