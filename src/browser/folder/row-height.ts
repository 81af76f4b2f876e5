const KEY = "fileferry-rows";
const COMFORTABLE = "comfortable";

/** Offers two heights of the rows, and remembers the choice. */
export function enhanceRowHeight(main: HTMLElement): void {
  const choice = main.querySelector<HTMLFieldSetElement>("#rows");
  const stored = readChoice();
  show(stored);
  if (choice === null) return;
  choice.hidden = false;
  for (const radio of choice.querySelectorAll("input")) {
    radio.checked = radio.value === stored;
    radio.addEventListener("change", () => {
      show(radio.value);
      try {
        localStorage.setItem(KEY, radio.value);
      } catch {
        // Without storage the choice holds for this page.
      }
    });
  }
}

function readChoice(): string {
  try {
    return localStorage.getItem(KEY) === COMFORTABLE ? COMFORTABLE : "compact";
  } catch {
    return "compact";
  }
}

/** The rows are compact where nothing is said: the page's styles then need not be applied a second time. */
function show(value: string): void {
  if (value === COMFORTABLE) document.documentElement.dataset.rows = value;
  else delete document.documentElement.dataset.rows;
}
