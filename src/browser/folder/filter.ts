import { element } from "../elements.ts";
import { fill } from "../format.ts";
import { memberBoxes, type OpenFolderPage } from "./page.ts";

/** How long the user has to pause before the number of matches is announced. */
const PAUSE_MS = 600;

/** Shows the field that hides the members whose names do not have a text, while the user types. */
export function enhanceFilter(page: OpenFolderPage): void {
  const { main, texts } = page;
  const field = main.querySelector<HTMLInputElement>("#filter");
  if (field === null) return;
  const none = element("p", { class: "no-match" });
  const below = element("a", { href: "./" }, texts.searchBelow);
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Shows the rows that match, and returns the number of all. */
  function apply(wanted: string): { shown: number; count: number } {
    let shown = 0;
    let count = 0;
    for (const chunk of main.querySelectorAll<HTMLElement>(".files tbody")) {
      let rows = 0;
      for (const row of chunk.children as HTMLCollectionOf<HTMLElement>) {
        row.hidden = !toFolded(row.dataset.name ?? "").includes(wanted);
        if (!row.hidden) rows += 1;
        count += 1;
      }
      shown += rows;
      chunk.hidden = rows === 0;
      chunk.style.setProperty("--rows", `${rows}`);
    }
    const url = new URL(location.href);
    url.searchParams.set("q", field?.value.trim() ?? "");
    below.href = url.search;
    const table = main.querySelector(".files");
    table?.toggleAttribute("data-filtered", wanted !== "");
    none.textContent = shown === 0 ? `${texts.noMatch} ` : "";
    none.append(below);
    if (wanted.trim() !== "" && table !== null) table.after(none);
    else none.remove();
    return { shown, count };
  }

  function filter(): void {
    const wanted = toFolded(field?.value ?? "");
    const counts = apply(wanted);
    // What is not in sight must not be deleted by accident.
    for (const box of memberBoxes(main)) if (box.checked && box.closest("tr")?.hidden) box.checked = false;
    main.dispatchEvent(new Event("selection-changed"));
    clearTimeout(timer);
    if (wanted !== "") timer = setTimeout(() => page.announce(fill(texts.matches, counts)), PAUSE_MS);
  }

  field.placeholder = field.dataset.label ?? "";
  field.setAttribute("aria-label", field.placeholder);
  field.addEventListener("input", filter);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || field.value === "") return;
    event.preventDefault();
    field.value = "";
    filter();
  });
  main.addEventListener("members-replaced", () => {
    if (field.value !== "") filter();
  });
  // A browser that returns to the page restores the text.
  if (field.value !== "") filter();
}

/** Letters count the same in both cases, and with or without their accents. */
function toFolded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
