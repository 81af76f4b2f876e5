import { html } from "../http/html.ts";
import { card, type Page, type PageContext } from "./page.ts";
import { type ShownError, toErrorText } from "./texts.ts";

/** The page that asks for the password of a link. It tells nothing of what the link leads to. */
export function toLinkPasswordPage({ texts, root }: PageContext, error: ShownError | undefined): Page {
  const message = error && html`<p role="alert" class="notice problem" id="problem">${toErrorText(texts, error)}</p>`;
  const isInvalid = error && html` aria-invalid="true" aria-describedby="problem"`;
  const content = card(html`<h1>${texts.linkPassword}</h1>
<p class="quiet">${texts.linkPasswordHint}</p>
${message}
<form method="post" action="${root}">
<p class="field"><label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="off" maxlength="1024"${isInvalid} required autofocus></p>
<p><button class="primary wide">${texts.openLink}</button></p>
</form>`);
  return { title: texts.linkPassword, content };
}
