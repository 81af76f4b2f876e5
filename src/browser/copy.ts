import { setText } from "./elements.ts";

/** Shows the buttons that copy a field, and lets them do so. Without a script the field can be copied by hand. */
export function enhanceCopy(page: ParentNode): void {
  const status = page.querySelector(".copy-status");
  for (const button of page.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const { copy = "", copied = "" } = button.dataset;
    const field = document.getElementById(copy);
    if (!(field instanceof HTMLInputElement)) continue;
    const label = button.textContent ?? "";
    button.hidden = false;
    button.addEventListener("click", async () => {
      field.select();
      if (!(await copyText(field.value))) return;
      setText(button, copied);
      if (status !== null) setText(status, copied);
      setTimeout(() => {
        setText(button, label);
        if (status !== null) setText(status, "");
      }, 2000);
    });
  }
}

/** Copies a text. The clipboard of browsers is for pages by HTTPS alone; the selection can be copied everywhere. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
