import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";

/** A field for a password. */
export interface PasswordField {
  readonly id: string;
  readonly name: string;
  readonly label: string;
  readonly autocomplete: "current-password" | "new-password" | "off";
  readonly isFocused?: boolean;
  /** Whether the box that shows the passwords of the form is next to its label. */
  readonly hasReveal?: boolean;
  /** More attributes of the field. */
  readonly attributes?: SafeHtml | undefined;
}

/** Renders a field for a password. The script shows the box that makes the passwords of the form readable. */
export function renderPasswordField(texts: Texts, field: PasswordField): SafeHtml {
  const { id, name, label, autocomplete, isFocused = false, hasReveal = false, attributes } = field;
  const reveal = html`<label class="reveal" hidden><input type="checkbox" data-reveal>${texts.showPassword}</label>`;
  return html`<div class="field"><p class="field-head"><label for="${id}">${label}</label>${hasReveal ? reveal : undefined}</p>
<input id="${id}" name="${name}" type="password" autocomplete="${autocomplete}"${attributes} required${isFocused ? html` autofocus` : undefined}></div>`;
}

/** Renders the line where the script says that Caps Lock is on. */
export function renderCapsLock(texts: Texts): SafeHtml {
  return html`<p class="caps-lock" role="status" data-caps-lock="${texts.capsLock}"></p>`;
}
