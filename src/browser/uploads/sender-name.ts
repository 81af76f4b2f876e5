/** The field for the name of who sends files, on the page of a link that asks for it. */
export interface SenderField {
  /** Runs an action once the user has entered a name: now, or after the next change of the field. */
  whenNamed(act: () => void): void;
}

const FIELD = "#sender";

/** The header that has the name; none where the page does not ask for it. */
export function toSenderFields(): Readonly<Record<string, string>> {
  const name = readSenderName();
  return name === undefined ? {} : { "X-Sender": encodeURIComponent(name) };
}

/** The name; `undefined` where the page does not ask for it. */
export function readSenderName(): string | undefined {
  return document.querySelector<HTMLInputElement>(FIELD)?.value;
}

/** Watches the field, if the page has one. `onMissing`: files were chosen before a name was entered. */
export function createSenderField(main: HTMLElement, onMissing: () => void): SenderField {
  const field = main.querySelector<HTMLInputElement>(FIELD);
  let waiting: (() => void)[] = [];

  field?.addEventListener("change", () => {
    if (!hasName(field)) return;
    const acts = waiting;
    waiting = [];
    for (const act of acts) act();
  });

  return {
    whenNamed(act) {
      if (field === null || hasName(field)) return act();
      waiting.push(act);
      onMissing();
      field.reportValidity();
      field.focus();
    },
  };
}

function hasName(field: HTMLInputElement): boolean {
  return field.value.trim() !== "" && field.checkValidity();
}
