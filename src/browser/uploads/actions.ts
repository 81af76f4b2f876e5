import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element } from "../elements.ts";
import { problemElement } from "../folder/page.ts";
import type { UploadQueue } from "./queue.ts";
import type { PanelUpload } from "./queue-entries.ts";

/** The buttons for all uploads, and the reason why they stopped. */
export interface PanelActions {
  readonly buttons: HTMLElement;
  readonly halt: HTMLElement;
  show(queue: UploadQueue): void;
}

export function createPanelActions(texts: ScriptTexts, getQueue: () => UploadQueue): PanelActions {
  const halt = element("p", { class: "transfers-halt", role: "alert" });
  const cancel = button(texts.cancelAll, () => getQueue().cancel(getQueue().all));
  const retry = button(texts.retryAll, () => getQueue().retry(toRetry(getQueue())));
  const actions = element("div", { class: "transfers-actions" }, cancel, retry);
  let shownHalt: unknown;

  return {
    buttons: actions,
    halt,
    show(queue) {
      const problem = queue.halted();
      if (problem !== shownHalt) {
        halt.replaceChildren(...(problem === undefined ? [] : [problemElement(problem, texts)]));
      }
      shownHalt = problem;
      halt.hidden = problem === undefined;
      const focused = document.activeElement;
      const wasFocused = actions.contains(focused);
      cancel.hidden = !queue.isBusy();
      retry.hidden = toRetry(queue).length < (problem === undefined ? 2 : 1);
      actions.hidden = cancel.hidden && retry.hidden;
      if (wasFocused && focused?.closest("[hidden]")) {
        // The button that folds the panel is always there.
        const next = [cancel, retry].find(({ hidden }) => !hidden);
        (next ?? actions.closest("section")?.querySelector("button"))?.focus();
      }
    },
  };
}

/** The uploads that a retry starts again: failed and cancelled ones. */
function toRetry(queue: UploadQueue): PanelUpload[] {
  return [...queue.in("failed"), ...queue.in("cancelled")];
}
