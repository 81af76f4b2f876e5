import { button, element, nameElement, setText } from "../elements.ts";
import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";
import { HEADERS } from "../requests.ts";
import { endUploads } from "./protocols.ts";
import type { RememberedUpload, RememberedUploads } from "./remembered-uploads.ts";

/** The uploads to the folder of the page that broke off before it was opened. */
export interface LeftOverUploads {
  readonly element: HTMLElement;
  count(): number;
  /** Removes the upload of a file from the list, because it goes on. */
  take(name: string): void;
}

/** What the list of them needs besides the page. */
export interface LeftOverOptions {
  readonly uploads: readonly RememberedUpload[];
  readonly remembered: RememberedUploads;
  /** The element that gets the focus after the last upload of the list is discarded. */
  readonly opener: HTMLElement;
  /** Uploads a chosen file under the name of the upload. */
  readonly upload: (file: File, name: string) => void;
  /** The list has become shorter. */
  readonly onChange: () => void;
}

/** Lists the uploads, each with buttons to choose the file again and to discard it. */
export function listLeftOver(page: OpenFolderPage, options: LeftOverOptions): LeftOverUploads {
  const { uploads, remembered, opener, upload, onChange } = options;
  const { texts } = page;
  const heading = element("h3", { id: "left-over-heading", class: "transfers-heading" }, texts.unfinished);
  const list = element("ul", { class: "transfers-list", "aria-labelledby": heading.id, tabindex: "0" });
  const section = element("section", { class: "left-over", "aria-labelledby": heading.id }, heading, list);
  const rows = new Map<RememberedUpload, { readonly row: HTMLElement; readonly note: HTMLElement }>();

  function remove(one: RememberedUpload): void {
    rows.get(one)?.row.remove();
    rows.delete(one);
    section.hidden = rows.size === 0;
    onChange();
  }

  function discard(one: RememberedUpload): void {
    remembered.forget(one.urls);
    endUploads(one.urls);
    remove(one);
    page.announce(fill(texts.failed, { name: one.name, message: texts.cancelled }));
    (list.querySelector("button") ?? opener).focus();
  }

  function choose(one: RememberedUpload): void {
    const chooser = element("input", { type: "file" });
    chooser.addEventListener("change", () => {
      const file = chooser.files?.[0];
      if (file === undefined) return;
      // The name may be another one: the user kept the file that had it.
      if (file.size === one.size && file.lastModified === one.modified) upload(file, one.name);
      else page.showProblems([fill(texts.failed, { name: file.name, message: texts.otherFile })]);
    });
    chooser.click();
  }

  function toRow(one: RememberedUpload): HTMLElement {
    const note = element("span", { class: "transfer-note" });
    const buttons = [
      { label: texts.chooseAgain, act: choose },
      { label: texts.discard, act: discard },
    ].map(({ label, act }) => {
      const made = button(label, () => act(one));
      made.setAttribute("aria-label", `${label}: ${one.name}`);
      return made;
    });
    const row = element(
      "li",
      { class: "transfer" },
      ...[element("span", { class: "transfer-name" }, nameElement(one.name)), note],
      element("span", { class: "transfer-actions" }, ...buttons),
    );
    rows.set(one, { row, note });
    return row;
  }

  /** Shows how much of each the service has. What it does not know any more is of no use. */
  async function showOffsets([first]: readonly RememberedUpload[]): Promise<void> {
    const offsets = await findOffsets(first?.urls[0] ?? "");
    if (offsets === undefined) return;
    for (const [one, { note }] of rows) {
      const known = one.urls.flatMap((url) => offsets.get(url) ?? []);
      if (known.length < one.urls.length) {
        remembered.forget(one.urls);
        remove(one);
      } else {
        const sum = known.reduce((total, offset) => total + offset, 0);
        setText(note, `${Math.floor((100 * sum) / one.size)} %`);
      }
    }
  }

  list.append(...uploads.map(toRow));
  section.hidden = uploads.length === 0;
  if (uploads.length > 0) void showOffsets(uploads);

  return {
    element: section,
    count: () => rows.size,
    take(name) {
      for (const one of rows.keys()) if (one.name === name) remove(one);
    },
  };
}

/** Asks for the account's unfinished uploads. Returns the offsets by URL, or `undefined` without a usable response. */
async function findOffsets(url: string): Promise<ReadonlyMap<string, number> | undefined> {
  try {
    const response = await fetch(url.slice(0, url.lastIndexOf("/") + 1), { headers: HEADERS, cache: "no-store" });
    if (!response.ok) return undefined;
    const { uploads } = (await response.json()) as { uploads: readonly { url: string; offset: number }[] };
    return new Map(uploads.map(({ url, offset }) => [url, offset]));
  } catch {
    return undefined;
  }
}
