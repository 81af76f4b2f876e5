import { setText } from "../elements.ts";

/** Makes passwords readable on demand, shows that Caps Lock is on, and compares a new password with its repetition. */
export function enhancePasswords(page: ParentNode): void {
  const passwords = [...page.querySelectorAll<HTMLInputElement>('input[type="password"]')];
  for (const form of new Set(passwords.map((field) => field.form))) {
    if (form === null) continue;
    const fields = passwords.filter((field) => field.form === form);
    enhanceReveal(form, fields);
    enhanceCapsLock(form, fields);
  }
  for (const field of passwords) enhanceRepetition(field);
}

function enhanceReveal(form: HTMLFormElement, fields: readonly HTMLInputElement[]): void {
  const box = form.querySelector<HTMLInputElement>("[data-reveal]");
  if (box === null) return;
  const show = (isReadable: boolean): void => {
    for (const field of fields) field.type = isReadable ? "text" : "password";
  };
  box.checked = false;
  box.closest("label")?.removeAttribute("hidden");
  box.addEventListener("change", () => show(box.checked));
  // Browsers remember what is in readable fields.
  form.addEventListener("submit", () => show(false));
}

function enhanceCapsLock(form: HTMLFormElement, fields: readonly HTMLInputElement[]): void {
  const hint = form.querySelector<HTMLElement>("[data-caps-lock]");
  if (hint === null) return;
  const text = hint.dataset.capsLock ?? "";
  for (const field of fields) {
    for (const type of ["keydown", "keyup"] as const) {
      // Password managers send key events that have no modifiers.
      field.addEventListener(type, (event) => {
        setText(hint, event.getModifierState?.("CapsLock") ? text : "");
      });
    }
    field.addEventListener("blur", () => setText(hint, ""));
  }
}

function enhanceRepetition(field: HTMLInputElement): void {
  const { repeats, differs = "" } = field.dataset;
  const first = repeats === undefined ? null : document.getElementById(repeats);
  if (!(first instanceof HTMLInputElement)) return;
  const compare = (): void => field.setCustomValidity(field.value === first.value ? "" : differs);
  for (const one of [first, field]) one.addEventListener("input", compare);
}
