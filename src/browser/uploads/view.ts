import { element, setChildren, setText } from "../elements.ts";
import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";
import { createTransfersActions } from "./actions.ts";
import type { Transfer, UploadQueue } from "./queue.ts";
import { createTransferRow, type TransferRow } from "./row.ts";
import { createTransfersSummary } from "./summary.ts";

/** Shows the queue on the page. */
export interface TransfersView {
  /** Shows a change soon, together with other changes until then. */
  update(): void;
}

const UPDATE_MS = 200;

/** The maximum number of rows: more would freeze the page. It shows only the number of the others. */
const MAX_ROWS = 100;

/** If there are more transfers than rows, at most this number of each state is shown. */
const MAX_OF_STATE = 25;

export function createTransfersView(
  section: HTMLElement,
  page: OpenFolderPage,
  getQueue: () => UploadQueue,
): TransfersView {
  const { texts } = page;
  const heading = element("h2", { id: "transfers-heading", class: "transfers-heading" }, texts.uploads);
  const list = element("ul", { class: "transfers-list", "aria-labelledby": heading.id, tabindex: "0" });
  const more = element("p", { class: "transfers-more" });
  const summary = createTransfersSummary(heading.id, texts);
  const actions = createTransfersActions(texts, getQueue, close);
  // The section changes several times a second, so screen readers must not read it. They read the page's announcements.
  section.removeAttribute("aria-live");
  section.classList.add("transfers");
  section.setAttribute("aria-labelledby", heading.id);
  section.append(heading, ...summary.elements, ...actions.elements, list, more);

  const rows = new Map<Transfer, TransferRow>();
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

  function show(): void {
    isPlanned = false;
    const queue = getQueue();
    const appears = section.hidden && queue.all.size > 0;
    section.hidden = queue.all.size === 0;
    summary.show(queue);
    actions.show(queue);
    showRows(queue);
    if (appears) section.scrollIntoView({ block: "nearest" });
    if (queue.in("active").size > 0) update();
  }

  function update(): void {
    // Show the section immediately: it moves the page's controls, which must not happen during a click.
    if (section.hidden) show();
    else if (!isPlanned) {
      isPlanned = true;
      setTimeout(show, UPDATE_MS);
    }
  }

  return { update };
}

/** All transfers in their order if they fit, else first the active ones and those that need the user. */
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
