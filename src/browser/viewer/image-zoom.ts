import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { button, element, setText } from "../elements.ts";
import { languageOfPage } from "../format.ts";

const STEP = 1.5;
const MIN = 0.05;
const MAX = 16;

/** The controls of an image. */
export interface Zoom {
  readonly tools: readonly HTMLElement[];
  /** `+`, `-` and `0`, which is as large as the window. Returns whether the key has a meaning. */
  onKey(key: string): boolean;
}

/** Lets an image be as large as the window, as it is by itself, or of any other size. */
export function createZoom(image: HTMLImageElement, stage: HTMLElement, texts: ScriptTexts): Zoom {
  const percent = new Intl.NumberFormat(languageOfPage(), { style: "percent" });
  const out = button("−", () => zoomBy(1 / STEP));
  const toggle = button("", () => setFactor(isFitted() ? 1 : undefined));
  const into = button("+", () => zoomBy(STEP));
  const shown = element("output", { class: "quiet" });
  for (const [control, label] of [[out, texts.zoomOut] as const, [into, texts.zoomIn] as const]) {
    control.setAttribute("aria-label", label);
    control.title = label;
  }

  /** Whether the image is as large as the window allows, and not larger than it is by itself. */
  function isFitted(): boolean {
    return image.style.width === "";
  }

  /** The size on the page in relation to the image's own. An SVG may have none. */
  function factor(): number {
    return image.width / (image.naturalWidth || image.width || 1);
  }

  /** What is in the middle stays there. */
  function setFactor(wanted: number | undefined): void {
    const before = factor() || 1;
    const [x, y] = [stage.scrollLeft + stage.clientWidth / 2, stage.scrollTop + stage.clientHeight / 2];
    image.style.width = wanted === undefined ? "" : `${(image.naturalWidth || 300) * wanted}px`;
    image.toggleAttribute("data-zoomed", wanted !== undefined);
    const by = factor() / before;
    stage.scrollTo(x * by - stage.clientWidth / 2, y * by - stage.clientHeight / 2);
    update();
  }

  function zoomBy(by: number): void {
    setFactor(Math.min(MAX, Math.max(MIN, factor() * by)));
  }

  function update(): void {
    // An image that cannot be displayed has no size.
    setText(shown, image.width > 0 ? percent.format(factor()) : "");
    setText(toggle, isFitted() ? percent.format(1) : texts.fit);
    toggle.title = isFitted() ? texts.actualSize : texts.fitHint;
    toggle.setAttribute("aria-label", toggle.title);
  }

  function onKey(key: string): boolean {
    if (key === "+" || key === "=") zoomBy(STEP);
    else if (key === "-") zoomBy(1 / STEP);
    else if (key === "0") setFactor(undefined);
    else return false;
    return true;
  }

  image.addEventListener("load", update);
  image.addEventListener("dblclick", () => setFactor(isFitted() ? 1 : undefined));
  new ResizeObserver(update).observe(image);
  update();
  return { tools: [out, shown, into, toggle], onKey };
}
