import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { element, setText } from "../elements.ts";
import { fill, formatDuration, formatSpeed } from "../format.ts";
import type { UploadQueue } from "./queue.ts";

/** The progress of all uploads together. */
export interface PanelSummary {
  /** The line of a folded panel. */
  readonly line: HTMLElement;
  readonly bar: HTMLElement;
  readonly text: HTMLElement;
  /** Shows the progress and returns it in per cent, rounded down. */
  show(queue: UploadQueue): number;
}

/** A remaining time below this says nothing: it is over before it is read. */
const MIN_LEFT_SECONDS = 3;

/** Creates the summary. `labelId` is the ID of the heading of the uploads. */
export function createPanelSummary(labelId: string, texts: ScriptTexts): PanelSummary {
  const bar = element("progress", { "aria-labelledby": labelId, class: "transfers-bar", max: "1" });
  const text = element("p", { class: "transfers-summary" });
  const line = element("span", { class: "transfers-line" });
  const speedometer = createTransferSpeed();

  return {
    line,
    bar,
    text,
    show(queue) {
      const { count, done, weight, sent, moved, left } = toSum(queue);
      const progress = sent / (weight || 1);
      const percent = Math.floor(100 * progress);
      bar.hidden = count === 0;
      bar.value = progress;
      const speed = speedometer.measure(moved, performance.now());
      const failed = queue.in("failed").size;
      const failures = failed === 0 ? [] : [fill(texts.failedCount, { count: failed })];
      const nothing = queue.in("cancelled").size > 0 ? texts.cancelled : texts.skipped;
      const parts = [count === 0 ? nothing : fill(texts.uploaded, { done, count }), ...failures];
      if (queue.isBusy() && left >= MIN_LEFT_SECONDS * speed && speed > 0) {
        parts.push(fill(texts.speed, { speed: formatSpeed(speed), time: formatDuration(left / speed) }));
      }
      text.hidden = queue.all.size === 0;
      setText(text, parts.join(" · "));
      setText(line, count === 0 ? "" : [fill(texts.progress, { done, count, percent }), ...failures].join(" · "));
      return percent;
    },
  };
}

/** Sums up the uploads. Each file counts one byte more than its size, so that empty files count. */
function toSum(queue: UploadQueue) {
  let weight = 0;
  let sent = 0;
  /** Bytes that have left this browser. */
  let moved = 0;
  let left = 0;
  let count = 0;
  for (const upload of queue.all) {
    const { state, size } = upload;
    if (state === "cancelled" || state === "skipped") continue;
    count++;
    weight += size + 1;
    moved += upload.sent - upload.found;
    sent += upload.sent + (state === "done" ? 1 : 0);
    if (state === "active" || state === "waiting") left += size - upload.sent;
  }
  return { count, done: queue.in("done").size, weight, sent, moved, left };
}

/** Measures the transfer speed over the last few seconds. */
interface TransferSpeed {
  /** Adds a sample of the total bytes sent. Returns bytes per second, or 0 while the speed is unknown. */
  measure(total: number, now: number): number;
}

const WINDOW_MS = 6000;
/** The first moments say nothing of the speed: they fill the buffers of the system. */
const MIN_WINDOW_MS = 1500;

function createTransferSpeed(): TransferSpeed {
  let samples: { total: number; now: number }[] = [];
  return {
    measure(total, now) {
      // The total is lower than before because an upload was cancelled.
      if (total < (samples.at(-1)?.total ?? 0)) samples = [];
      samples = samples.filter((sample) => now - sample.now <= WINDOW_MS);
      samples.push({ total, now });
      const first = samples[0];
      const isKnown = first !== undefined && now - first.now >= MIN_WINDOW_MS;
      return isKnown ? ((total - first.total) * 1000) / (now - first.now) : 0;
    },
  };
}
