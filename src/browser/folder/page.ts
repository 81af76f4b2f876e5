import type { MemberAction } from "../../contracts/pages/member-action.ts";
import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, setText } from "../elements.ts";
import { fill, formatSize, readTexts } from "../format.ts";
import { HEADERS, type Problem, toProblem } from "../requests.ts";
import { createAnnouncer } from "./announcer.ts";
import { updateChildren } from "./members-update.ts";

/** The page of a folder that the service rendered. */
export interface OpenFolderPage {
  readonly main: HTMLElement;
  readonly texts: ScriptTexts;
  /** Whether the account may do an action here, on some members at least. */
  may(action: MemberAction | "upload" | "purge"): boolean;
  /** The rows of the folder's files that the page shows, by name. */
  fileRows(): ReadonlyMap<string, HTMLElement>;
  /** Fetches the members again and updates the page. The selection and the focus stay. */
  refresh(): Promise<void>;
  /** Announces a text to users of screen readers, after other announcements. What is shown stays. */
  announce(text: string): void;
  /** Shows a success message to all users for a while, with a button if something can follow. Problems stay. */
  showSuccess(text: string, next?: { readonly label: string; readonly act: () => void }): void;
  /** Shows problems to all users. They replace the previous message; an empty list only removes it. */
  showProblems(problems: readonly (Node | string)[]): void;
}

/** How long a message of success stays. What can follow it stays longer, and while it has the focus or the pointer. */
const MESSAGE_MS = 6000;
const NEXT_MS = 20_000;

function removeLater(message: HTMLElement, milliseconds: number): void {
  setTimeout(() => {
    if (message.matches(":hover, :focus-within")) removeLater(message, MESSAGE_MS);
    else message.remove();
  }, milliseconds);
}

const MEMBERS = "#members";
/** What is used of the quota, after the members. */
const QUOTA = ".quota";
/** The number of the members and their size, in the bar. */
const SUMMARY = ".summary";

export function createFolderPage(main: HTMLElement): OpenFolderPage {
  const texts = readTexts(main);
  // The message of the last form is shown once: a reload must not repeat it.
  if (new URL(location.href).searchParams.has("done")) history.replaceState(history.state, "", withoutMessage());
  const status = element("p", { role: "status", class: "announcer" });
  const announce = createAnnouncer(status);
  const notice = element("div", { role: "alert", class: "notice problem" });
  notice.hidden = true;
  main.append(status);
  main.querySelector("#transfers")?.before(notice);
  let refreshes = 0;

  /** Removes older messages, which are outdated. */
  function removeMessages(): void {
    for (const message of main.querySelectorAll(".notice")) if (message !== notice) message.remove();
  }

  function showSuccess(text: string, next?: { readonly label: string; readonly act: () => void }): void {
    main.querySelector(".notice.success")?.remove();
    announce(text);
    const message = element("p", { class: "notice success toast" }, text);
    if (next !== undefined) {
      message.append(
        button(next.label, () => {
          message.remove();
          next.act();
        }),
      );
    }
    notice.before(message);
    removeLater(message, next === undefined ? MESSAGE_MS : NEXT_MS);
  }

  function showProblems(problems: readonly (Node | string)[]): void {
    removeMessages();
    notice.replaceChildren(...problems.map((problem) => element("p", {}, problem)));
    notice.hidden = problems.length === 0;
  }

  async function refresh(): Promise<void> {
    const refreshId = ++refreshes;
    try {
      const headers = { ...HEADERS, Accept: "text/html" };
      const response = await fetch(withoutMessage(), { headers, cache: "no-store" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.querySelector(MEMBERS);
      if (refreshId !== refreshes) return;
      const current = main.querySelector(MEMBERS);
      if (fresh !== null && current !== null) {
        main.dataset.may = page.querySelector("main")?.dataset.may;
        updateQuota(current, page.querySelector(QUOTA));
        const summary = main.querySelector(SUMMARY);
        if (summary !== null) setText(summary, page.querySelector(SUMMARY)?.textContent ?? "");
        return updateMembers(current, fresh);
      }
      // If the session has ended, the service redirects to the login page, which is a successful response.
      const isLogin = response.redirected || response.status === 401;
      showProblems([problemElement(toProblem(isLogin ? 401 : response.status, "", texts), texts)]);
    } catch {
      if (refreshId === refreshes) showProblems([texts.networkLost]);
    }
  }

  return {
    main,
    texts,
    may: (action) => (main.dataset.may ?? "").split(" ").includes(action),
    fileRows() {
      const rows = main.querySelectorAll<HTMLElement>('tr[data-kind="file"]');
      return new Map([...rows].map((row) => [row.dataset.name ?? "", row]));
    },
    refresh,
    announce,
    showSuccess,
    showProblems,
  };
}

/** Creates the text of a problem. If the session has ended, it has a link that opens the login in a new tab. */
export function problemElement({ kind, message }: Problem, texts: ScriptTexts): HTMLElement {
  if (kind !== "login") return element("span", {}, message);
  const link = element("a", { href: withoutMessage(), target: "_blank", rel: "noopener" }, texts.logInAgain);
  return element("span", {}, message, " ", link);
}

/** The URL of the page without the message of the last form. */
function withoutMessage(): string {
  const url = new URL(location.href);
  for (const name of ["done", "sent"]) url.searchParams.delete(name);
  url.hash = "";
  return url.href;
}

function updateQuota(members: Element, fresh: Element | null): void {
  if (fresh === null) return;
  members.parentElement?.querySelector(QUOTA)?.remove();
  members.after(fresh);
}

function updateMembers(current: Element, fresh: Element): void {
  const selected = new Set(Array.from(selectedBoxes(current), ({ value }) => value));
  const { activeElement } = document;
  const hadFocus = current.contains(activeElement);
  const focused = toSelector(activeElement);
  const rows = shownRows(current);
  const position = rows.findIndex((row) => row.contains(activeElement));
  updateChildren(current, fresh);
  for (const box of memberBoxes(current)) box.checked = selected.has(box.value);
  current.dispatchEvent(new Event("members-replaced", { bubbles: true }));
  if (!hadFocus || current.contains(activeElement)) return;
  const target =
    current.querySelector<HTMLElement>(focused) ??
    linkNear(rows, position) ??
    current.querySelector<HTMLElement>("input:not([hidden]),a");
  target?.focus();
}

/**
 * A selector that finds the counterpart of an element in the fresh members, by the row's name or the button's value.
 */
function toSelector(target: Element | null): string {
  const row = findRow(target);
  const value = target?.getAttribute("value");
  const own = `${target?.localName}${value ? `[value="${CSS.escape(value)}"]` : ""}`;
  return row ? `tr[data-name="${CSS.escape(row.dataset.name ?? "")}"] ${own}` : target?.id ? `#${target.id}` : own;
}

/** Whether the account may do an action with the member of a row. */
export function mayDo({ may }: OpenFolderPage, { dataset }: HTMLElement, action: MemberAction): boolean {
  return may(action) && !dataset.denied?.includes(action);
}

/** The row that an element is in. */
export function findRow(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("tr[data-name]") : null;
}

/** The rows that the filter does not hide. */
export function shownRows(within: ParentNode): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>("tr[data-name]:not([hidden])")];
}

/** The link of the row at a position, or of the nearest one, the later ones first, that is still in the page. */
export function linkNear(rows: readonly HTMLElement[], position: number): HTMLElement | null | undefined {
  const near = position < 0 ? [] : [...rows.slice(position), ...rows.slice(0, position).reverse()];
  return near.find((row) => row.isConnected)?.querySelector<HTMLElement>("th a");
}

/** The row of a folder that an element is in. */
export function findFolderRow(target: EventTarget | null): HTMLElement | undefined {
  const row = findRow(target);
  return row?.dataset.kind === "folder" ? row : undefined;
}

/** Marks where a drop would go, and nothing else. */
export function markDrop(target?: Element): void {
  document.querySelector("[data-drop]")?.toggleAttribute("data-drop");
  target?.toggleAttribute("data-drop");
}

export function memberBoxes(within: ParentNode): NodeListOf<HTMLInputElement> {
  return within.querySelectorAll('input[name="selected-members"]');
}

/** The boxes of the rows that the filter does not hide. */
export function shownBoxes(within: ParentNode): NodeListOf<HTMLInputElement> {
  return within.querySelectorAll('tr:not([hidden]) input[name="selected-members"]');
}

/** The boxes from one row, or its box, to another one, without what the filter hides. */
export function boxesBetween(within: ParentNode, ...ends: readonly Element[]): readonly HTMLInputElement[] {
  const boxes = [...shownBoxes(within)];
  const [start = 0, end = 0] = ends
    .map((one) => boxes.findIndex((box) => one.contains(box)))
    .sort((one, other) => one - other);
  return boxes.slice(start, end + 1);
}

export function selectedBoxes(within: ParentNode): NodeListOf<HTMLInputElement> {
  return within.querySelectorAll('input[name="selected-members"]:checked');
}

/** The number of selected rows, and the bytes of the files among them. */
export function toSelectionText({ texts }: OpenFolderPage, rows: readonly HTMLElement[]): string {
  const text = fill(texts.selected, { count: rows.length });
  const size = rows.reduce((sum, row) => sum + sizeOfRow(row), 0);
  return size > 0 ? `${text}, ${formatSize(size)}` : text;
}

function sizeOfRow(row: HTMLElement): number {
  return Number(row.querySelector<HTMLElement>("[data-size]")?.dataset.size ?? 0);
}

export function selectedRows(within: ParentNode): HTMLElement[] {
  return Array.from(selectedBoxes(within), (box) => box.closest("tr") as HTMLElement);
}
