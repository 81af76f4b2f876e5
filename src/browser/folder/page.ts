import type { ScriptTexts } from "../../contracts/script-texts.ts";
import { element } from "../elements.ts";
import { readTexts } from "../format.ts";
import { HEADERS, type Problem, toProblem } from "../requests.ts";
import { createAnnouncer } from "./announcer.ts";
import { updateChildren } from "./members-update.ts";

/** The page of a folder, as the service has rendered it. */
export interface FolderPage {
  readonly main: HTMLElement;
  readonly texts: ScriptTexts;
  /** The names of the folder's files, as far as the page knows. */
  fileNames(): ReadonlySet<string>;
  /** Fetches the members anew and brings those shown up to date, the selection and the focus kept. */
  refresh(): Promise<void>;
  /** Says something to those who do not see the page, when they have a moment. */
  announce(text: string): void;
  /** Shows what has been done, to everybody; the former message goes. */
  showSuccess(text: string): void;
  /** Shows what went wrong, to everybody; the former message goes, also with nothing to show. */
  showProblems(problems: readonly (Node | string)[]): void;
}

const MEMBERS = "#members";

export function createFolderPage(main: HTMLElement): FolderPage {
  const texts = readTexts(main);
  // Shown once: a reload does not say it again.
  if (new URL(location.href).searchParams.has("done")) history.replaceState(history.state, "", withoutMessage());
  const status = element("p", { role: "status", class: "announcer" });
  const say = createAnnouncer(status);
  const notice = element("div", { role: "alert", class: "notice problem" });
  notice.hidden = true;
  main.append(status);
  main.querySelector("#transfers")?.before(notice);
  let refreshes = 0;

  /** What an older message says is not news any more. */
  function removeMessages(): void {
    for (const message of main.querySelectorAll(".notice")) if (message !== notice) message.remove();
  }

  function announce(text: string): void {
    main.querySelector(".notice.success")?.remove();
    say(text);
  }

  function showSuccess(text: string): void {
    showProblems([]);
    announce(text);
    notice.before(element("p", { class: "notice success" }, text));
  }

  function showProblems(problems: readonly (Node | string)[]): void {
    removeMessages();
    notice.replaceChildren(...problems.map((problem) => element("p", {}, problem)));
    notice.hidden = problems.length === 0;
  }

  async function refresh(): Promise<void> {
    const turn = ++refreshes;
    try {
      const headers = { ...HEADERS, Accept: "text/html" };
      const response = await fetch(withoutMessage(), { headers, cache: "no-store" });
      const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector(MEMBERS);
      if (turn !== refreshes) return;
      const current = main.querySelector(MEMBERS);
      if (fresh !== null && current !== null) return updateMembers(current, fresh);
      // A session that has ended leads to the login page, which is fine in itself.
      const isLogin = response.redirected || response.status === 401;
      showProblems([problemElement(toProblem(isLogin ? 401 : response.status, "", texts), texts)]);
    } catch {
      if (turn === refreshes) showProblems([texts.networkLost]);
    }
  }

  return {
    main,
    texts,
    fileNames() {
      const rows = main.querySelectorAll<HTMLElement>('tr[data-kind="file"]');
      return new Set([...rows].map((row) => row.dataset.name ?? ""));
    },
    refresh,
    announce,
    showSuccess,
    showProblems,
  };
}

/** What a problem says; where the session has ended, with the way to a new one, beside this page and what it holds. */
export function problemElement({ kind, message }: Problem, texts: ScriptTexts): HTMLElement {
  if (kind !== "login") return element("span", {}, message);
  const link = element("a", { href: withoutMessage(), target: "_blank", rel: "noopener" }, texts.logInAgain);
  return element("span", {}, message, " ", link);
}

/** The URL of the page, without the code of a message that was shown once. */
function withoutMessage(): string {
  const url = new URL(location.href);
  url.searchParams.delete("done");
  url.hash = "";
  return url.href;
}

function updateMembers(current: Element, fresh: Element): void {
  const selected = new Set(Array.from(selectedBoxes(current), ({ value }) => value));
  const { activeElement } = document;
  const focused = current.contains(activeElement) ? toSelector(activeElement) : undefined;
  updateChildren(current, fresh);
  for (const box of memberBoxes(current)) box.checked = selected.has(box.value);
  current.dispatchEvent(new Event("members-replaced", { bubbles: true }));
  if (focused === undefined || current.contains(activeElement)) return;
  const target =
    current.querySelector<HTMLElement>(focused) ?? current.querySelector<HTMLElement>("input:not([hidden]), a");
  target?.focus();
}

/** Finds the like of an element among the fresh members: the one in the row of the same name, the button of the same value. */
function toSelector(target: Element | null): string {
  const row = target?.closest<HTMLElement>("tr[data-name]");
  const value = target?.getAttribute("value");
  const own = `${target?.localName}${value ? `[value="${CSS.escape(value)}"]` : ""}`;
  return row ? `tr[data-name="${CSS.escape(row.dataset.name ?? "")}"] ${own}` : target?.id ? `#${target.id}` : own;
}

export function memberBoxes(within: ParentNode): NodeListOf<HTMLInputElement> {
  return within.querySelectorAll('input[name="selected-members"]');
}

export function selectedBoxes(within: ParentNode): NodeListOf<HTMLInputElement> {
  return within.querySelectorAll('input[name="selected-members"]:checked');
}
