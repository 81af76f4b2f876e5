import { button, element, setChildren, setText } from "./elements.ts";
import { type FolderPage, problemElement } from "./folder-page.ts";
import { createPace } from "./pace.ts";
import { createTransferRow, type TransferRow } from "./transfer-row.ts";
import type { Transfer, UploadQueue } from "./upload-queue.ts";
import { fill, formatDuration, formatSpeed } from "./wording.ts";

/** Shows the queue in the page. */
export interface TransfersView {
  /** Something has changed: shown soon, with all that changes meanwhile. */
  update(): void;
}

const UPDATE_MS = 200;

/** More rows would freeze the page; the rest is counted. */
const MAX_ROWS = 100;

/** With more than fit, so many that failed, that wait for an answer, or that come next. */
const MAX_OF_STATE = 25;

export function createTransfersView(
  section: HTMLElement,
  page: FolderPage,
  getQueue: () => UploadQueue,
): TransfersView {
  const { texts } = page;
  const heading = element("h2", { id: "transfers-heading", class: "transfers-heading" }, texts.uploads);
  const bar = element("progress", { "aria-labelledby": heading.id, class: "transfers-bar", max: "1" });
  const summary = element("p", { class: "transfers-summary" });
  const halt = element("p", { class: "transfers-halt", role: "alert" });
  const list = element("ul", { class: "transfers-list", "aria-labelledby": heading.id, tabindex: "0" });
  const more = element("p", { class: "transfers-more" });
  const buttons = {
    cancel: button(texts.cancelAll, () => getQueue().cancel(getQueue().all)),
    retry: button(texts.retryAll, () => getQueue().retry(toRetry(getQueue()))),
    replace: button(texts.replaceAll, () => getQueue().replace(getQueue().in("exists"))),
    skip: button(texts.skipAll, () => getQueue().skip(getQueue().in("exists"))),
    close: button(texts.close, close),
  };
  const actions = element("div", { class: "transfers-actions" }, ...Object.values(buttons));
  // What changes four times a second is not to be read out; the page's announcements are.
  section.removeAttribute("aria-live");
  section.classList.add("transfers");
  section.setAttribute("aria-labelledby", heading.id);
  section.append(heading, summary, bar, halt, actions, list, more);

  const pace = createPace();
  const rows = new Map<Transfer, TransferRow>();
  let shownHalt: unknown;
  let isPlanned = false;

  function close(): void {
    getQueue().clear();
    page.main.querySelector<HTMLElement>('#upload input[type="file"]')?.focus();
  }

  function showRows(queue: UploadQueue): void {
    const shown = toShown(queue);
    const kept = new Set(shown);
    for (const transfer of rows.keys()) if (!kept.has(transfer)) rows.delete(transfer);
    const elements = shown.map((transfer) => {
      const row = rows.get(transfer) ?? createTransferRow(transfer, texts, getQueue);
      rows.set(transfer, row);
      row.update();
      return row.element;
    });
    setChildren(list, elements);
    const hidden = queue.all.size - shown.length;
    setText(more, hidden > 0 ? fill(texts.more, { count: hidden }) : "");
  }

  function showSum(queue: UploadQueue): void {
    const { count, done, weight, sent, left } = toSum(queue);
    bar.hidden = count === 0;
    bar.value = weight === 0 ? 0 : sent / weight;
    const speed = pace.measure(sent, performance.now());
    const nothing = queue.in("cancelled").size > 0 ? texts.cancelled : texts.skipped;
    const parts = [count === 0 ? nothing : fill(texts.uploaded, { done, count })];
    if (queue.isBusy() && speed > 0) {
      parts.push(fill(texts.pace, { speed: formatSpeed(speed), time: formatDuration(left / speed) }));
    }
    setText(summary, parts.join(" · "));
  }

  function showActions(queue: UploadQueue): void {
    const problem = queue.halted();
    if (problem !== shownHalt) halt.replaceChildren(...(problem === undefined ? [] : [problemElement(problem, texts)]));
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
  }

  function show(): void {
    isPlanned = false;
    const queue = getQueue();
    const appears = section.hidden && queue.all.size > 0;
    section.hidden = queue.all.size === 0;
    showSum(queue);
    showActions(queue);
    showRows(queue);
    if (appears) section.scrollIntoView({ block: "nearest" });
    if (queue.in("active").size > 0) update();
  }

  function update(): void {
    if (!isPlanned) setTimeout(show, UPDATE_MS);
    isPlanned = true;
  }

  return { update };
}

/** In the order of arrival while all fit; else what goes on and what needs the user comes first. */
function toShown(queue: UploadQueue): Transfer[] {
  if (queue.all.size <= MAX_ROWS) return [...queue.all];
  const shown: Transfer[] = [];
  for (const state of ["active", "exists", "failed", "waiting"] as const) {
    let count = 0;
    for (const transfer of queue.in(state)) {
      if (count++ === MAX_OF_STATE) break;
      shown.push(transfer);
    }
  }
  return shown;
}

/** Those that were to go up and did not. */
function toRetry(queue: UploadQueue): Transfer[] {
  return [...queue.in("failed"), ...queue.in("cancelled")];
}

/** A file weighs a byte more than it has, so that empty ones count. */
function toSum(queue: UploadQueue): { count: number; done: number; weight: number; sent: number; left: number } {
  let weight = 0;
  let sent = 0;
  let left = 0;
  let count = 0;
  for (const transfer of queue.all) {
    const { state, size } = transfer;
    if (state === "cancelled" || state === "skipped") continue;
    count++;
    weight += size + 1;
    sent += transfer.sent + (state === "done" ? 1 : 0);
    if (state === "active" || state === "waiting") left += size - transfer.sent;
  }
  return { count, done: queue.in("done").size, weight, sent, left };
}
