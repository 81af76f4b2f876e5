import { element } from "./elements.ts";

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

/** The row of buttons at the end of a dialog. */
export function dialogActions(...buttons: readonly HTMLButtonElement[]): HTMLElement {
  return element("div", { class: "dialog-actions" }, ...buttons);
}
