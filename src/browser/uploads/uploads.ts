import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, isTyping } from "../elements.ts";
import { findFolderRow, markDrop, type OpenFolderPage } from "../folder/page.ts";
import { DOWNLOAD_MEMBERS } from "../folder/submit-form.ts";
import { fill, formatSize, formatTime } from "../format.ts";
import { closeMenu } from "../menus.ts";
import type { Problem } from "../requests.ts";
import { type Dropped, readChosen, readDropped } from "./dropped.ts";
import { createFolderMaker } from "./folder-maker.ts";
import { listLeftOver } from "./left-over.ts";
import { createUploadQueue } from "./queue.ts";
import type { RememberedUploads } from "./remembered-uploads.ts";
import { createSender, toFolder } from "./sender.ts";
import { createSenderField } from "./sender-name.ts";
import { createUploadTask, toFailedTask } from "./task.ts";
import { createPanelView } from "./view.ts";

/** Uploads files without leaving the page: from the form's file field, a folder field, and drag and drop. */
export function enhanceUploads(page: OpenFolderPage, remembered: RememberedUploads): void {
  const { main, texts } = page;
  const form = main.querySelector<HTMLFormElement>("#upload");
  const field = form?.querySelector<HTMLInputElement>('input[type="file"]');
  const section = main.querySelector<HTMLElement>("#transfers");
  if (!form || !field || !section) return;

  const folders = createFolderMaker(texts);
  const { link } = main.dataset;
  const account = link === undefined ? (document.querySelector(".who")?.textContent ?? "") : `link:${link}`;
  const sender = createSender(folders, remembered, account, texts);
  const senderField = createSenderField(main, () => page.showProblems([texts.senderMissing]));
  let doneBefore = 0;
  let doneShown = 0;
  let isReading = false;

  function announce(name: string, message = ""): void {
    page.announce(fill(texts.failed, { name, message }));
  }

  const queue = createUploadQueue({
    onChange: () => view.update(),
    onNote: ({ name, note }) => announce(name, note),
    onFailure: ({ name, problem }) => announce(name, problem?.message),
    onIdle() {
      const done = queue.in("done").size;
      if (done !== doneBefore && !queue.isBusy()) {
        doneBefore = done;
        page.announce(fill(texts.ended, { done, count: queue.all.size }));
      }
      if (done === doneShown) return;
      doneShown = done;
      void page.refresh();
    },
  });

  async function take(dropped: AsyncGenerator<Dropped>): Promise<void> {
    isReading = true;
    page.showProblems([]);
    const { made, files, unreadable } = await readAll(dropped, page);
    const problems = await folders.makeAll(made);
    if (problems.length > 0) page.showProblems(problems.map(({ message }) => message));
    isReading = false;
    const rows = page.fileRows();
    doneBefore = queue.in("done").size;
    const isAlone = (): boolean => queue.in("active").size + queue.in("waiting").size === 1;
    const tasks = files.map((chosen) => {
      const name = chosen.path.join("/");
      leftOver.take(name);
      return createUploadTask(chosen, { sender, conflict: toConflict(rows.get(name), chosen.file, texts), isAlone });
    });
    tasks.push(...unreadable.map((path) => toFailedTask(path, texts.unreadable)));
    const before = queue.all.size;
    queue.add(tasks);
    const count = queue.all.size - before;
    const asked = tasks.find(({ conflict }) => conflict !== undefined);
    if (asked !== undefined) announce(asked.name, asked.conflict?.message);
    else if (count > 0) page.announce(fill(texts.started, { count }));
    else void page.refresh();
  }

  /** Takes what was chosen or dropped, as soon as the sender has a name where one is needed. */
  function takeNamed(dropped: AsyncGenerator<Dropped>): void {
    senderField.whenNamed(() => void take(dropped));
  }

  function takeField(chosen: HTMLInputElement): void {
    // Copy the list: it is live, and the field is emptied below.
    const files = [...(chosen.files ?? [])];
    chosen.value = "";
    if (files.length > 0) takeNamed(readChosen(files));
  }

  field.addEventListener("change", () => takeField(field));
  const opener = offerChoosers(form, field, page, takeField);
  const leftOver = listLeftOver(page, {
    uploads: remembered.list(account, toFolder([])),
    remembered,
    opener,
    upload: (file, name) => takeNamed(readNamed(file, name)),
    onChange: () => view.update(),
  });
  const view = createPanelView(section, page, leftOver, () => queue);
  takeDrops(page, (data, folder) => takeNamed(readDropped(data, folder)));
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    // What is copied from a table is a text, and a picture of it.
    if (files.length === 0 || document.querySelector("dialog[open]") !== null || isTyping(event.target)) return;
    event.preventDefault();
    takeNamed(readChosen(files));
  });
  warnBeforeLeaving(main, () => isReading || queue.isBusy());
}

/** What a user has to decide if a row has a file with this name: both files with their sizes and times. */
function toConflict(
  row: HTMLElement | undefined,
  { size, lastModified }: File,
  { exists }: ScriptTexts,
): Problem | undefined {
  if (row === undefined) return undefined;
  const time = new Date(row.querySelector("time")?.dateTime ?? "");
  const existing = `${row.querySelector(".size")?.textContent}, ${formatTime(time)}`;
  const chosen = `${formatSize(size)}, ${formatTime(new Date(lastModified))}`;
  return { kind: "exists", message: `${exists}\n${existing} → ${chosen}` };
}

/** A chosen file that gets another name. */
async function* readNamed(file: File, name: string): AsyncGenerator<Dropped> {
  yield { path: [name], file };
}

/** The chosen or dropped files and folders. */
interface Found {
  /** Paths of folders. No path comes before its parent. */
  readonly made: (readonly string[])[];
  readonly files: { readonly path: readonly string[]; readonly file: File }[];
  readonly unreadable: (readonly string[])[];
}

async function readAll(dropped: AsyncGenerator<Dropped>, page: OpenFolderPage): Promise<Found> {
  const found: Found = { made: [], files: [], unreadable: [] };
  let announced = performance.now();
  for await (const { path, file, isUnreadable } of dropped) {
    if (isUnreadable) found.unreadable.push(path);
    else if (file === undefined) found.made.push(path);
    else found.files.push({ path, file });
    if (performance.now() - announced < 1000) continue;
    announced = performance.now();
    page.announce(fill(page.texts.reading, { count: found.files.length }));
  }
  return found;
}

/**
 * Replaces the field and the button of the form by one button for files and one for folders: what is chosen is sent
 * immediately. Returns the element that leads to them.
 */
function offerChoosers(
  form: HTMLFormElement,
  field: HTMLInputElement,
  { main, texts }: OpenFolderPage,
  take: (field: HTMLInputElement) => void,
): HTMLElement {
  const folders = element("input", { type: "file", webkitdirectory: "" });
  folders.addEventListener("change", () => take(folders));
  const offer = (label: string, chooser: HTMLInputElement): HTMLButtonElement =>
    button(label, () => {
      closeMenu(form);
      chooser.click();
    });
  const files = offer(texts.chooseFiles, field);
  files.className = "primary";
  field.hidden = true;
  form.querySelector("button")?.replaceWith(files, offer(texts.chooseFolder, folders));
  form.append(element("p", { class: "drop-hint" }, texts.dropHint));
  return main.querySelector<HTMLElement>("#send > summary") ?? files;
}

/**
 * Accepts files and folders dropped anywhere on the page: they go to the folder of the row below them, or else to that
 * of the page. The browser handles other dragged items.
 */
function takeDrops({ main, texts }: OpenFolderPage, take: (data: DataTransfer, folder?: string) => void): void {
  const title = main.querySelector("h1")?.textContent ?? "";
  const hint = element("p", { class: "drop-here", dir: "auto" });
  main.append(hint);
  let depth = 0;
  function mark(change: number): void {
    depth = Math.max(0, depth + change);
    main.toggleAttribute("data-dragging", depth > 0);
    markDrop();
  }
  function on(
    type: "dragenter" | "dragover" | "dragleave" | "drop",
    act: (data: DataTransfer, folder?: HTMLElement) => void,
  ): void {
    addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      const folder = findFolderRow(event.target);
      hint.textContent = fill(texts.dropTo, { name: folder?.dataset.name ?? title });
      act(event.dataTransfer, folder);
    });
  }
  on("dragenter", () => mark(1));
  on("dragleave", () => mark(-1));
  on("dragover", (data, folder) => {
    data.dropEffect = "copy";
    markDrop(folder);
  });
  on("drop", (data, folder) => {
    mark(-depth);
    take(data, folder?.dataset.name);
  });
}

/** A download that was started in this time may be why the browser asks. */
const DOWNLOAD_MS = 1000;

/** Asks before the user leaves the page during uploads. A download does not leave the page. */
function warnBeforeLeaving(main: HTMLElement, isBusy: () => boolean): void {
  let downloadAt = -DOWNLOAD_MS;
  main.addEventListener("click", ({ target, timeStamp }) => {
    const isDownload = (target as Element).closest('tr[data-kind="file"] th a, a[href="?zip"]');
    if (isDownload !== null) downloadAt = timeStamp;
  });
  document.addEventListener(DOWNLOAD_MEMBERS, ({ timeStamp }) => {
    downloadAt = timeStamp;
  });
  addEventListener("beforeunload", (event) => {
    if (isBusy() && event.timeStamp - downloadAt > DOWNLOAD_MS) event.preventDefault();
  });
}
