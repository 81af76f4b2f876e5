import { button, element } from "../elements.ts";
import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";
import { type Dropped, readChosen, readDropped } from "./dropped.ts";
import { createFolderMaker } from "./folder-maker.ts";
import { showLeftOver } from "./left-over.ts";
import { createUploadQueue, type UploadTask } from "./queue.ts";
import type { RememberedUploads } from "./remembered-uploads.ts";
import { createSender, toFolder } from "./sender.ts";
import { createSenderField } from "./sender-name.ts";
import { createTransfersView } from "./view.ts";

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
  let isReading = false;

  const queue = createUploadQueue({
    onChange: () => view.update(),
    onNote: ({ name, note = "" }) => page.announce(fill(texts.failed, { name, message: note })),
    onFailure: ({ name, problem }) => page.announce(fill(texts.failed, { name, message: problem?.message ?? "" })),
    onIdle() {
      const done = queue.in("done").size;
      if (done === doneBefore) return;
      doneBefore = done;
      if (!queue.isBusy()) page.announce(fill(texts.ended, { done, count: queue.all.size }));
      void page.refresh();
    },
  });
  const view = createTransfersView(section, page, () => queue);

  async function take(dropped: AsyncGenerator<Dropped>): Promise<void> {
    isReading = true;
    page.showProblems([]);
    const { made, files, unreadable } = await readAll(dropped, page);
    const problems = await folders.makeAll(made);
    if (problems.length > 0) page.showProblems(problems.map(({ message }) => message));
    isReading = false;
    const known = page.fileNames();
    doneBefore = queue.in("done").size;
    const tasks = files.map((chosen): UploadTask => {
      const { path, file } = chosen;
      const name = path.join("/");
      // The user was asked when the upload that goes on was started.
      const wasAsked = (): boolean => sender.findKept(chosen)?.mayReplace === true;
      const isAlone = (): boolean => queue.in("active").size + queue.in("waiting").size === 1;
      leftOver.take(name);
      return {
        ...{ name, size: file.size, exists: known.has(name) && !wasAsked() },
        send: (mayReplace, onProgress) =>
          sender.send({ ...chosen, mayReplace: mayReplace || wasAsked(), isAlone: isAlone() }, onProgress),
        discard: () => sender.discard(chosen),
      };
    });
    tasks.push(...unreadable.map((path) => toFailedTask(path, texts.unreadable)));
    queue.add(tasks);
    const existing = tasks.find(({ exists }) => exists);
    if (existing !== undefined) page.announce(fill(texts.failed, { name: existing.name, message: texts.exists }));
    else if (tasks.length > 0) page.announce(fill(texts.started, { count: tasks.length }));
    else void page.refresh();
  }

  function takeField(chosen: HTMLInputElement): void {
    // Copy the list: it is live, and the field is emptied below.
    const files = [...(chosen.files ?? [])];
    chosen.value = "";
    if (files.length > 0) senderField.whenNamed(() => void take(readChosen(files)));
  }

  field.classList.add("sends-at-once");
  field.addEventListener("change", () => takeField(field));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    takeField(field);
  });
  const leftOver = showLeftOver(page, {
    ...{ uploads: remembered.list(account, toFolder([])), remembered, next: section, field },
    upload: (file) => senderField.whenNamed(() => void take(readChosen([file]))),
  });
  offerFolders(form, page, takeField);
  takeDrops(page, (transfer) => {
    // Read now: the browser clears the data after the event.
    const dropped = readDropped(transfer);
    senderField.whenNamed(() => void take(dropped));
  });
  warnBeforeLeaving(main, () => isReading || queue.isBusy());
}

/** Creates a task that fails, for a file that cannot be read, so that the user does not think that it was sent. */
function toFailedTask(path: readonly string[], message: string): UploadTask {
  const failed = { finished: Promise.resolve({ kind: "refused", message } as const), abort: () => undefined };
  return { name: path.join("/"), size: 0, exists: false, send: () => failed, discard: () => undefined };
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

/** Adds a button to choose a folder, for users who cannot drop one. */
function offerFolders(form: HTMLFormElement, { texts }: OpenFolderPage, take: (field: HTMLInputElement) => void): void {
  const chooser = element("input", { type: "file", webkitdirectory: "" });
  chooser.addEventListener("change", () => take(chooser));
  // Chosen files are sent immediately, so this button replaces the form's submit button.
  const submit = form.querySelector<HTMLElement>("button");
  submit?.replaceWith(button(texts.chooseFolder, () => chooser.click()));
  form.append(element("p", { class: "drop-hint" }, texts.dropHint));
}

/** Accepts files and folders dropped anywhere on the page. The browser handles other dragged items. */
function takeDrops({ main }: OpenFolderPage, take: (transfer: DataTransfer) => void): void {
  let depth = 0;
  function mark(change: number): void {
    depth = Math.max(0, depth + change);
    main.toggleAttribute("data-dragging", depth > 0);
  }
  function on(type: "dragenter" | "dragover" | "dragleave" | "drop", act: (transfer: DataTransfer) => void): void {
    addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      act(event.dataTransfer);
    });
  }
  on("dragenter", () => mark(1));
  on("dragleave", () => mark(-1));
  on("dragover", (transfer) => {
    transfer.dropEffect = "copy";
  });
  on("drop", (transfer) => {
    mark(-depth);
    take(transfer);
  });
}

/** Asks before the user leaves the page during uploads. A download does not leave the page. */
function warnBeforeLeaving(main: HTMLElement, isBusy: () => boolean): void {
  let downloadAt = Number.NEGATIVE_INFINITY;
  main.addEventListener("click", ({ target, timeStamp }) => {
    const isDownload = (target as Element).closest('tr[data-kind="file"] a, button[value="download-members"]');
    if (isDownload !== null) downloadAt = timeStamp;
  });
  addEventListener("beforeunload", (event) => {
    if (isBusy() && event.timeStamp - downloadAt > 1000) event.preventDefault();
  });
}
