import { formatTime } from "../format.ts";

const SLICE = 250;
const MINUTE = 60_000;

/** Shows the times of a page in the zone of the reader, and those of today as what has passed since. */
export function enhanceTimes(main: HTMLElement): void {
  let runs = 0;

  /** Large tables are done in slices, from the top. */
  async function show(): Promise<void> {
    const run = ++runs;
    main.querySelector("thead .modified small")?.remove();
    const times = [...main.querySelectorAll("time")];
    const now = new Date();
    for (let start = 0; start < times.length && run === runs; start += SLICE) {
      for (const time of times.slice(start, start + SLICE)) {
        const text = formatTime(new Date(time.dateTime), now);
        if (time.textContent !== text) time.textContent = text;
      }
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  main.addEventListener("members-replaced", () => void show());
  main.addEventListener("pointerover", ({ target }) => {
    const time = target instanceof Element ? target.closest("time") : null;
    if (time !== null) time.title = toExact(time);
  });
  setInterval(() => {
    if (!document.hidden) void show();
  }, MINUTE);
  // Formats take a while to make: the page is painted first.
  requestAnimationFrame(() => setTimeout(() => void show()));
}

/** A time with its seconds, in UTC. */
export function toExact({ dateTime }: HTMLTimeElement): string {
  return `${dateTime.slice(0, 19).replace("T", " ")} UTC`;
}
