import { showList } from "../dialog.ts";
import { element } from "../elements.ts";
import type { OpenFolderPage } from "./page.ts";

/** Shows what the keys do. */
export async function showShortcuts({ texts, may, main }: OpenFolderPage): Promise<void> {
  const actions = main.querySelector("thead .more")?.textContent;
  const hasBoxes = main.querySelector("#select-all") !== null;
  const keys: [keys: string, text: string, isOffered: boolean][] = [
    ["↑ ↓ Home End", texts.keyMove, true],
    ["Enter", texts.keyOpen, true],
    [`${texts.keySpace}, Shift ↑ ↓`, texts.keySelect, hasBoxes],
    ["Ctrl A", texts.keySelectAll, hasBoxes],
    ["Esc", texts.clearSelection, hasBoxes],
    ["F2", texts.rename, may("move")],
    ["Del", texts.delete, may("delete")],
    ["Shift F10", actions ?? "", Boolean(actions)],
    ["/", texts.keyFilter, true],
    ["⌫", texts.up, true],
    ["?", texts.shortcuts, true],
  ];
  const rows = keys
    .filter(([, , isOffered]) => isOffered)
    .map(([key, text]) => [element("kbd", {}, key), text] as const);
  await showList(texts.shortcuts, { className: "shortcuts", rows, close: texts.close });
}
