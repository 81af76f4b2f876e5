import type { OpenFolderPage } from "../folder/page.ts";
import { fill } from "../format.ts";

/** Shows the progress where the panel is not seen: in the title of the tab, and to users of screen readers. */
export interface ProgressReport {
  /** `percent` is that of all uploads, rounded down. `questions`: how many wait for the user's answer. */
  show(isBusy: boolean, percent: number, questions: number): void;
}

/** At most one announcement in this time, for every quarter. */
const ANNOUNCE_MS = 10_000;

export function createProgressReport(page: OpenFolderPage): ProgressReport {
  const { title } = document;
  let announcedAt = 0;
  let quarter = 0;

  return {
    show(isBusy, percent, questions) {
      const asked = questions > 0 ? `(${questions}) ` : "";
      const shown = isBusy ? `${asked}${percent} % · ${title}` : title;
      if (document.title !== shown) document.title = shown;
      const now = performance.now();
      const reached = Math.floor(percent / 25);
      if (!isBusy || reached < quarter) {
        announcedAt = now;
        quarter = reached;
      } else if (reached > quarter && now - announcedAt > ANNOUNCE_MS) {
        announcedAt = now;
        quarter = reached;
        page.announce(fill(page.texts.reached, { percent }));
      }
    },
  };
}
