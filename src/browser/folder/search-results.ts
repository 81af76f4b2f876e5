import { element } from "../elements.ts";
import { readTexts } from "../format.ts";
import { enhanceFiles } from "./open-file.ts";

/** Lets the page of a search open the files that it has found, as the page of a folder does. */
export function enhanceFound(main: HTMLElement): void {
  enhanceFiles({
    main,
    texts: readTexts(main),
    showProblems(problems) {
      main.querySelector(".notice")?.remove();
      main.prepend(element("p", { role: "alert", class: "notice problem" }, ...problems));
    },
  });
}
