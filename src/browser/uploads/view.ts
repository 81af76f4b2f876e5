import { button, element, setChildren, setText } from "../elements.ts";
import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";
import { createPanelActions } from "./actions.ts";
import type { LeftOverUploads } from "./left-over.ts";
import { createProgressReport } from "./progress-report.ts";
import type { UploadQueue } from "./queue.ts";
import type { PanelUpload } from "./queue-entries.ts";
import { createUploadRow, type UploadRow } from "./row.ts";
import { createPanelSummary } from "./summary.ts";

/** Shows the queue on the page, in a panel that can be folded. */
export interface PanelView {
  /** Shows a change soon, together with other changes until then. */
  update(): void;
}

const UPDATE_MS = 200;

/** The maximum number of rows: more would freeze the page. It shows only the number of the others. */
const MAX_ROWS = 100;

/** If there are more uploads than rows, at most this number of each state is shown. */
const MAX_OF_STATE = 25;

export function createPanelView(
  section: HTMLElement,
  page: OpenFolderPage,
  leftOver: LeftOverUploads,
  getQueue: () => UploadQueue,
): PanelView {
  const { texts } = page;
  const label = element("span", { id: "transfers-label" }, texts.uploads);
  const list = element("ul", { class: "transfers-list", "aria-labelledby": label.id, tabindex: "0" });
  const more = element("p", { class: "transfers-more" });
  const summary = createPanelSummary(label.id, texts);
  const actions = createPanelActions(texts, getQueue);
  const report = createProgressReport(page);
  const fold = button("", () => setFolded(section.dataset.folded === undefined));
  fold.append(label, summary.line);
  fold.setAttribute("aria-controls", "transfers-body");
  const close = button("×", closePanel);
  close.setAttribute("aria-label", texts.close);
  const head = element("div", { class: "transfers-head" }, element("h2", { class: "transfers-heading" }, fold), close);
  const body = element(
    "div",
    { id: "transfers-body", class: "transfers-body" },
    ...[element("div", { class: "transfers-state" }, summary.text, actions.buttons), actions.halt],
    ...[leftOver.element, list, more],
  );
  // The section changes several times a second, so screen readers must not read it. They read the page's announcements.
  section.removeAttribute("aria-live");
  section.classList.add("transfers");
  section.setAttribute("aria-labelledby", label.id);
  section.append(head, summary.bar, body);
  // On narrow pages the bar of actions on members stays above it.
  new ResizeObserver(() => page.main.style.setProperty("--panel", `${section.offsetHeight}px`)).observe(section);
  setFolded(false);

  const rows = new Map<PanelUpload, UploadRow>();
  let isPlanned = false;
  let isClosed = false;
  let conflicts = 0;

  function setFolded(isFolded: boolean): void {
    section.toggleAttribute("data-folded", isFolded);
    body.hidden = isFolded;
    fold.setAttribute("aria-expanded", String(!isFolded));
  }

  function closePanel(): void {
    isClosed = true;
    getQueue().clear();
    page.main.querySelector<HTMLElement>("#send > summary, .cards #upload button")?.focus();
  }

  function showRows(queue: UploadQueue): void {
    const shown = toShown(queue);
    const kept = new Set(shown);
    for (const upload of rows.keys()) if (!kept.has(upload)) rows.delete(upload);
    const isAlone = queue.in("exists").size + queue.in("waiting").size + queue.in("active").size < 2;
    const first = isAlone ? undefined : shown.find(({ state }) => state === "exists");
    const elements = shown.map((upload) => {
      const row = rows.get(upload) ?? createUploadRow(upload, texts, getQueue);
      rows.set(upload, row);
      row.update(upload === first);
      return row.element;
    });
    setChildren(list, elements);
    list.hidden = shown.length === 0;
    const hidden = queue.all.size - shown.length;
    setText(more, hidden > 0 ? fill(texts.more, { count: hidden }) : "");
  }

  function show(): void {
    isPlanned = false;
    const queue = getQueue();
    const isBusy = queue.isBusy();
    if (queue.all.size > 0) isClosed = false;
    section.hidden = isClosed || queue.all.size + leftOver.count() === 0;
    // A question must be seen.
    const asked = queue.in("exists").size;
    if (asked > 0 && conflicts === 0) setFolded(false);
    conflicts = asked;
    report.show(isBusy, summary.show(queue), asked);
    actions.show(queue);
    close.hidden = isBusy;
    showRows(queue);
    if (queue.in("active").size > 0) update();
  }

  function update(): void {
    if (section.hidden) show();
    else if (!isPlanned) {
      isPlanned = true;
      setTimeout(show, UPDATE_MS);
    }
  }

  show();
  return { update };
}

/** All uploads in their order if they fit, else first the active ones and those that need the user. */
function toShown(queue: UploadQueue): PanelUpload[] {
  if (queue.all.size <= MAX_ROWS) return [...queue.all];
  const shown: PanelUpload[] = [];
  for (const state of ["active", "exists", "failed", "waiting"] as const) {
    let count = 0;
    for (const upload of queue.in(state)) {
      if (count++ === MAX_OF_STATE) break;
      shown.push(upload);
    }
  }
  return shown;
}
