import { showDialog } from "../dialog.ts";
import { button, element, nameElement, setText } from "../elements.ts";
import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";
import { type Shown, showFile } from "./content.ts";
import { onSwipe } from "./swipe.ts";

/**
 * Shows a file of the folder over the page, from where arrows lead to the others. The promise settles when the user
 * closes it; the focus is then on the row of the file that was shown last.
 */
export async function showFiles(
  { main, texts }: Pick<OpenFolderPage, "main" | "texts">,
  first: HTMLElement,
): Promise<void> {
  /** The URL of the file that is shown. Names may repeat in the results of a search. */
  let url = urlOf(first);
  let shown: Shown | undefined;
  const heading = element("h2", { id: "viewer-name", class: "dialog-heading" });
  const position = element("p", { class: "quiet" });
  const tools = element("div", { class: "viewer-tools" });
  const download = element("a", { class: "button primary", download: "" }, texts.download);
  const close = button("✕", () => dialog.close());
  const previous = toArrow("‹", texts.previous, -1);
  const next = toArrow("›", texts.next, 1);
  const stage = element("div", { class: "viewer-stage", role: "group", tabindex: "0", "aria-labelledby": heading.id });
  const title = element("div", { class: "viewer-title", "aria-live": "polite", "aria-atomic": "true" });
  const bar = element("div", { class: "viewer-bar" }, title, download, close);
  const steps = element("div", { class: "viewer-steps" }, previous, tools, next);
  const dialog = element("dialog", { class: "viewer", "aria-labelledby": heading.id }, bar, stage, steps);
  close.setAttribute("aria-label", texts.close);
  title.append(heading, position);
  stage.autofocus = true;

  function toArrow(sign: string, label: string, by: number): HTMLButtonElement {
    const arrow = button(sign, () => step(by));
    arrow.setAttribute("aria-label", label);
    arrow.title = label;
    return arrow;
  }

  /** In the order of the page, without what its filter hides. */
  function rows(): HTMLElement[] {
    return [...main.querySelectorAll<HTMLElement>("tr[data-view]:not([hidden])")];
  }

  function step(by: number): void {
    const all = rows();
    const row = all[all.findIndex((one) => urlOf(one) === url) + by];
    if (row !== undefined) show(row, all);
  }

  function show(row: HTMLElement, all: readonly HTMLElement[]): void {
    const { name = "", view = "" } = row.dataset;
    url = urlOf(row);
    const index = all.indexOf(row);
    heading.replaceChildren(nameElement(name));
    setText(position, fill(texts.position, { position: index + 1, count: all.length }));
    download.href = url;
    shown?.release();
    stage.dataset.view = view;
    shown = showFile({ name, url: `${url}?inline`, view, texts, stage });
    tools.replaceChildren(...(shown.tools ?? []));
    stage.scrollTo(0, 0);
    previous.disabled = index <= 0;
    next.disabled = index === all.length - 1;
    // A button that is disabled loses the focus, and with it the keys.
    if (dialog.open && !dialog.querySelector(":focus:not(:disabled)")) stage.focus();
  }

  /** Whether arrows and swipes move what is shown: an image larger than the window, or the time of a video. */
  function movesContent(target: EventTarget | null): boolean {
    return target instanceof HTMLMediaElement || stage.scrollWidth > stage.clientWidth + 1;
  }

  const isForward = (toRight: boolean): boolean => toRight === (document.documentElement.dir !== "rtl");

  dialog.addEventListener("keydown", (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      if (movesContent(target)) return;
      step(isForward(key === "ArrowRight") ? 1 : -1);
    } else if (shown?.onKey?.(key) !== true) return;
    event.preventDefault();
  });
  onSwipe(stage, (toRight, target) => {
    if (!movesContent(target)) step(isForward(toRight) ? -1 : 1);
  });
  show(first, rows());
  await showOverPage(dialog);
  shown?.release();
  linkOf(rows().find((row) => urlOf(row) === url))?.focus();
}

/** Shows a dialog that also closes when the user goes back in the history. */
async function showOverPage(dialog: HTMLDialogElement): Promise<void> {
  let isLeft = false;

  function leave(): void {
    isLeft = true;
    dialog.close();
  }

  history.pushState(history.state, "");
  addEventListener("popstate", leave);
  await showDialog(dialog);
  removeEventListener("popstate", leave);
  if (isLeft) return;
  // The browser restores how far the page was scrolled: only then the focus may move it.
  await new Promise((resolve) => {
    addEventListener("popstate", resolve, { once: true });
    history.back();
  });
}

function linkOf(row: HTMLElement | undefined): HTMLAnchorElement | null {
  return row?.querySelector<HTMLAnchorElement>("th a") ?? null;
}

function urlOf(row: HTMLElement): string {
  return linkOf(row)?.href ?? "";
}
