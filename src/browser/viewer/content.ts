import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { element } from "../elements.ts";
import { problemElement } from "../folder/page.ts";
import { createZoom } from "./image-zoom.ts";
import { findReason, type ReadText, readShownText } from "./read-text.ts";

/** A file to show. */
export interface ViewedFile {
  readonly name: string;
  /** The URL that the service answers with a type that no script can be in. */
  readonly url: string;
  /** One of the kinds of the service: `image`, `audio`, `video`, `pdf` or `text`. */
  readonly view: string;
  readonly texts: ScriptTexts;
  /** The element that the file is shown in. */
  readonly stage: HTMLElement;
}

/** A file that is shown. */
export interface Shown {
  /** Controls for the bar. */
  readonly tools?: readonly HTMLElement[];
  /** Takes a key. Returns whether it has a meaning. */
  onKey?(key: string): boolean;
  /** Ends what is loading, or playing. */
  release(): void;
}

/** Shows a file in place of the one before. Nothing of it becomes markup of the page. */
export function showFile(file: ViewedFile): Shown {
  switch (file.view) {
    case "image":
      return showImage(file);
    case "audio":
    case "video":
      return showMedia(file, file.view);
    case "text":
      return showText(file);
    default:
      return showLink(file);
  }
}

function showImage(file: ViewedFile): Shown {
  const { name, url, stage, texts } = file;
  const image = element("img", { src: url, alt: name });
  const release = listenForError(image, file);
  stage.replaceChildren(image);
  const { tools, onKey } = createZoom(image, stage, texts);
  return { tools, onKey, release };
}

function showMedia(file: ViewedFile, tag: "audio" | "video"): Shown {
  const { name, url, stage } = file;
  const media = element(tag, { src: url, controls: "", preload: "metadata", "aria-label": name });
  const ignoreErrors = listenForError(media, file);
  stage.replaceChildren(media);
  return {
    release() {
      ignoreErrors();
      // Otherwise a browser goes on loading what is not shown any more.
      media.removeAttribute("src");
      media.load();
    },
  };
}

function showText(file: ViewedFile): Shown {
  const closing = new AbortController();
  file.stage.replaceChildren();
  void showRead(file, readShownText, closing.signal);
  return { release: () => closing.abort() };
}

/** Shows what is read of a file, or why it is not. */
async function showRead(
  { url, stage, texts }: ViewedFile,
  read: typeof findReason,
  signal: AbortSignal,
): Promise<void> {
  const lost: ReadText = { text: "", problem: { kind: "network", message: texts.networkLost } };
  const { text, note, problem } = await read(url, texts, signal).catch(() => lost);
  if (signal.aborted) return;
  stage.replaceChildren(...(text === "" ? [] : [element("pre", { dir: "auto" }, text)]));
  const role = { class: "viewer-note", role: "alert" };
  if (problem !== undefined) stage.append(element("p", role, problemElement(problem, texts)));
  else if (note !== undefined) stage.append(element("p", { class: "viewer-note" }, note));
}

/** Browsers show a PDF as a page of its own only. */
function showLink({ url, stage, texts }: ViewedFile): Shown {
  const link = element("a", { class: "button", href: url, target: "_blank", rel: "noopener" }, texts.openInTab);
  stage.replaceChildren(link);
  return { release: () => undefined };
}

/** Says why if a file is not shown. Returns a function that ends this. */
function listenForError(shown: HTMLElement, file: ViewedFile): () => void {
  const closing = new AbortController();
  const { signal } = closing;
  shown.addEventListener("error", () => void showRead(file, findReason, signal), { signal });
  return () => closing.abort();
}
