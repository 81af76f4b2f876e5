import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element } from "../elements.ts";
import { problemElement } from "../folder/page.ts";
import type { Transfer, UploadQueue } from "./queue.ts";

/** The buttons for all uploads, and the reason why they stopped. */
export interface TransfersActions {
  readonly elements: readonly HTMLElement[];
  show(queue: UploadQueue): void;
}

/** Creates the buttons. `close` removes the finished uploads from the page. */
export function createTransfersActions(
  texts: ScriptTexts,
  getQueue: () => UploadQueue,
  close: () => void,
): TransfersActions {
  const halt = element("p", { class: "transfers-halt", role: "alert" });
  const buttons = {
    cancel: button(texts.cancelAll, () => getQueue().cancel(getQueue().all)),
    retry: button(texts.retryAll, () => getQueue().retry(toRetry(getQueue()))),
    replace: button(texts.replaceAll, () => getQueue().replace(getQueue().in("exists"))),
    skip: button(texts.skipAll, () => getQueue().skip(getQueue().in("exists"))),
    close: button(texts.close, close),
  };
  const actions = element("div", { class: "transfers-actions" }, ...Object.values(buttons));
  let shownHalt: unknown;

  return {
    elements: [halt, actions],
    show(queue) {
      const problem = queue.halted();
      if (problem !== shownHalt) {
        halt.replaceChildren(...(problem === undefined ? [] : [problemElement(problem, texts)]));
      }
      shownHalt = problem;
      halt.hidden = problem === undefined;
      const isBusy = queue.isBusy();
      const exists = queue.in("exists").size;
      const wasFocused = actions.contains(document.activeElement);
      buttons.cancel.hidden = !isBusy;
      buttons.retry.hidden = toRetry(queue).length < (problem === undefined ? 2 : 1);
      buttons.replace.hidden = exists < 2;
      buttons.skip.hidden = exists < 2;
      buttons.close.hidden = isBusy;
      if (wasFocused && (document.activeElement as HTMLElement | null)?.hidden) {
        Object.values(buttons)
          .find(({ hidden }) => !hidden)
          ?.focus();
      }
    },
  };
}

/** The transfers that a retry starts again: failed and cancelled ones. */
function toRetry(queue: UploadQueue): Transfer[] {
  return [...queue.in("failed"), ...queue.in("cancelled")];
}
