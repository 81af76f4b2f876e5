import type { Texts } from "../../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../../http/html.ts";
import { formatsOf } from "../formats.ts";
import { toErrorText } from "../texts.ts";
import type { FolderPage, SentFiles } from "./content.ts";

/** The page cuts the target of a problem to this length, which is the longest name of common systems. */
const MAX_SHOWN_CHARACTERS = 255;

/** Renders what the last form has done, or its problems. */
export function renderMessages(
  texts: Texts,
  { done, sent, trash, problems = [] }: Pick<FolderPage, "done" | "sent" | "trash" | "problems">,
): SafeHtml | undefined {
  if (problems.length > 0) {
    const items = problems.map(({ target, error }) => {
      const about = target === undefined ? undefined : html`<bdi>${toShown(target)}</bdi>: `;
      return html`<li>${about}${toErrorText(texts, error)}</li>`;
    });
    // A problem without a target concerns the form itself: no item failed.
    const heading = problems.some(({ target }) => target !== undefined) ? html`<p>${texts.problems}</p>` : undefined;
    return html`<div role="alert" class="notice problem">${heading}<ul>${items}</ul></div>`;
  }
  if (done === undefined) return undefined;
  if (sent === undefined || sent.files.length === 0) {
    const isInTrash = done === "deleted" && trash !== undefined;
    const restore = isInTrash ? html` <a href="${trash}">${texts.trash.list}</a>` : undefined;
    return html`<p role="status" class="notice success">${texts.done[done]}${restore}</p>`;
  }
  return html`<div role="status" class="notice success"><p>${texts.done[done]}</p>${renderSent(texts, sent)}</div>`;
}

function renderSent(texts: Texts, { files, hasMore }: SentFiles): SafeHtml {
  const formats = formatsOf(texts);
  const items = files.map(({ name, size }) => {
    const shownSize = size === undefined ? undefined : html` (${formats.size(size)})`;
    return html`<li><bdi>${name}</bdi>${shownSize}</li>`;
  });
  return html`<ul>${items}${hasMore ? html`<li>…</li>` : undefined}</ul>`;
}

/** Shortens a target. A form may send one that is much longer than any name. */
function toShown(target: string): string {
  return target.length > MAX_SHOWN_CHARACTERS ? `${target.slice(0, MAX_SHOWN_CHARACTERS)}…` : target;
}
