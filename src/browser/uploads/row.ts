import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, nameElement, setText } from "../elements.ts";
import type { Transfer, TransferState, UploadQueue } from "./queue.ts";

/** The row of one file in the list of uploads. */
export interface TransferRow {
  readonly element: HTMLLIElement;
  update(): void;
}

/** The buttons of each state. */
const ACTIONS: Readonly<Record<TransferState, readonly Action[]>> = {
  waiting: ["cancel"],
  active: ["cancel"],
  exists: ["replace", "skip"],
  failed: ["retry"],
  cancelled: ["retry"],
  done: [],
  skipped: [],
};

type Action = "cancel" | "retry" | "replace" | "skip";

export function createTransferRow(transfer: Transfer, texts: ScriptTexts, getQueue: () => UploadQueue): TransferRow {
  const { name } = transfer;
  const bar = element("progress", { "aria-label": name, class: "transfer-bar", max: "1" });
  const note = element("span", { class: "transfer-note" });
  const actions = (["cancel", "retry", "replace", "skip"] as const).map((action) => {
    const made = button(texts[action], () => {
      getQueue()[action]([transfer]);
      update();
    });
    made.setAttribute("aria-label", `${texts[action]}: ${name}`);
    return { action, made };
  });
  const row = element(
    "li",
    { class: "transfer" },
    element("span", { class: "transfer-name" }, nameElement(name)),
    bar,
    note,
    element("span", { class: "transfer-actions" }, ...actions.map(({ made }) => made)),
  );

  function update(): void {
    const { state, sent, size } = transfer;
    const hadFocus = row.contains(document.activeElement);
    row.dataset.state = state;
    bar.hidden = state !== "active" && state !== "waiting";
    bar.value = size === 0 ? 0 : sent / size;
    setText(note, toNote(transfer, texts));
    const offered = ACTIONS[state];
    for (const { action, made } of actions) made.hidden = !offered.includes(action);
    // The pressed button is now hidden: move the focus to the next button, or to the row.
    if (hadFocus && (document.activeElement as HTMLElement | null)?.hidden) {
      row.tabIndex = -1;
      (actions.find(({ made }) => !made.hidden)?.made ?? row).focus();
    }
  }

  return { element: row, update };
}

function toNote({ state, sent, size, note, problem }: Transfer, texts: ScriptTexts): string {
  switch (state) {
    case "active":
      return [`${size === 0 ? 0 : Math.floor((sent / size) * 100)} %`, ...(note === undefined ? [] : [note])].join(
        " · ",
      );
    case "exists":
    case "failed":
      return problem?.message ?? texts.exists;
    default:
      return texts[state];
  }
}
