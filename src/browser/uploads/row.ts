import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, nameElement, setText } from "../elements.ts";
import type { UploadQueue } from "./queue.ts";
import type { ConflictAnswer, PanelUpload, PanelUploadState } from "./queue-entries.ts";

/** The row of one file in the list of uploads. */
export interface UploadRow {
  readonly element: HTMLLIElement;
  /** `offersAll`: whether the answer to its conflict may be that to all others. */
  update(offersAll?: boolean): void;
}

type Action = "cancel" | "retry" | ConflictAnswer;

/** The buttons of each state. */
const ACTIONS: Readonly<Record<PanelUploadState, readonly Action[]>> = {
  waiting: ["cancel"],
  active: ["cancel"],
  exists: ["replace", "keepBoth", "skip"],
  failed: ["retry"],
  cancelled: ["retry"],
  done: [],
  skipped: [],
};

/** The first button of the next conflict in a list of uploads. */
const NEXT_CONFLICT = '[data-state="exists"] button:not([hidden])';

export function createUploadRow(upload: PanelUpload, texts: ScriptTexts, getQueue: () => UploadQueue): UploadRow {
  const name = nameElement("");
  const shownName = element("span", { class: "transfer-name" }, name);
  const bar = element("progress", { class: "transfer-bar", max: "1" });
  const note = element("span", { class: "transfer-note" });
  const forAll = element("input", { type: "checkbox" });
  const forAllLabel = element("label", { class: "transfer-all" }, forAll, texts.forAll);
  forAllLabel.hidden = true;
  const actions = (["cancel", "retry", "replace", "keepBoth", "skip"] as const).map((action) => ({
    action,
    made: button(texts[action], () => {
      const wasAsked = upload.state === "exists";
      act(action);
      update();
      if (wasAsked) row.parentElement?.querySelector<HTMLElement>(NEXT_CONFLICT)?.focus();
    }),
  }));
  const row = element(
    "li",
    { class: "transfer" },
    ...[shownName, bar, note],
    element("span", { class: "transfer-actions" }, ...actions.map(({ made }) => made)),
    forAllLabel,
  );

  function act(action: Action): void {
    if (action === "cancel" || action === "retry") getQueue()[action]([upload]);
    else getQueue().answer(upload, action, forAll.checked && !forAllLabel.hidden);
  }

  /** The name changes if both files are kept. */
  function showName(): void {
    if (name.textContent === upload.name) return;
    name.textContent = upload.name;
    shownName.title = upload.name;
    bar.setAttribute("aria-label", upload.name);
    for (const { action, made } of actions) made.setAttribute("aria-label", `${texts[action]}: ${upload.name}`);
  }

  function update(offersAll = false): void {
    const { state, sent, size } = upload;
    const hadFocus = row.contains(document.activeElement);
    row.dataset.state = state;
    showName();
    bar.hidden = state !== "active" && state !== "waiting";
    bar.value = sent / (size || 1);
    setText(note, toNote(upload, texts));
    const offered = ACTIONS[state];
    for (const { action, made } of actions) made.hidden = !offered.includes(action);
    forAllLabel.hidden = !offersAll;
    // The pressed button is now hidden: move the focus to the next button, or to the row.
    if (hadFocus && document.activeElement?.closest("[hidden]")) {
      row.tabIndex = -1;
      (actions.find(({ made }) => !made.hidden)?.made ?? row).focus();
    }
  }

  return { element: row, update };
}

function toNote({ state, sent, size, note, problem }: PanelUpload, texts: ScriptTexts): string {
  if (state === "active") return [`${Math.floor((100 * sent) / (size || 1))} %`, note].filter(Boolean).join(" · ");
  return problem?.message ?? texts[state];
}
