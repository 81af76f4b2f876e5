import { html } from "../http/html.ts";
import { PASSWORDS_NAME } from "./assets.ts";
import { card, type Page, type PageContext, renderScript } from "./page.ts";
import { renderCapsLock, renderPasswordField } from "./password-field.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** The page that asks for the password of a link. It reveals nothing about what the link leads to. */
export function toLinkPasswordPage(context: PageContext, error: ShownError | undefined): Page {
  const { texts, root } = context;
  const message = error && html`<p role="alert" class="notice problem" id="problem">${toErrorText(texts, error)}</p>`;
  const isInvalid = error && html` aria-invalid="true" aria-describedby="problem"`;
  const content = card(html`<h1>${texts.linkPassword}</h1>
<p class="quiet">${texts.linkPasswordHint}</p>
${message}
<form method="post" action="${root}">
${renderPasswordField(texts, {
  id: "password",
  name: "password",
  label: texts.password,
  autocomplete: "off",
  isFocused: true,
  hasReveal: true,
  attributes: html` maxlength="1024"${isInvalid}`,
})}
${renderCapsLock(texts)}
<p><button class="primary wide">${texts.openLink}</button></p>
</form>`);
  return { title: texts.linkPassword, content, head: renderScript(context, PASSWORDS_NAME) };
}
