import { button, element } from "./elements.ts";

/** Shows a modal dialog, and removes it when it closes. Returns its `returnValue`, empty if the user cancels. */
export function showDialog(dialog: HTMLDialogElement): Promise<string> {
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** The value of a dialog that the user confirms. */
export const CONFIRMED = "ok";

/** The heading of a dialog, which is also its name. */
export function dialogHeading(title: Node | string): HTMLElement {
  return element("h2", { id: "dialog-heading", class: "dialog-heading", dir: "auto" }, title);
}

/** The row of buttons at the end of a dialog. */
export function dialogActions(...buttons: readonly HTMLButtonElement[]): HTMLElement {
  return element("div", { class: "dialog-actions" }, ...buttons);
}

/** What {@link showList} shows. */
export interface ListDialog {
  readonly className: string;
  readonly rows: readonly (readonly [term: Node | string, text: string])[];
  /** The label of the button. */
  readonly close: string;
}

/** Shows a dialog with a list of terms and texts. */
export async function showList(title: Node | string, { className, rows, close }: ListDialog): Promise<void> {
  const heading = dialogHeading(title);
  const items = rows.map(([term, text]) => element("div", {}, element("dt", {}, term), element("dd", {}, text)));
  const list = element("dl", { class: className }, ...items);
  const actions = dialogActions(button(close, () => dialog.close()));
  const dialog = element("dialog", { "aria-labelledby": heading.id }, heading, list, actions);
  await showDialog(dialog);
}
