import type { ScriptTexts } from "../../contracts/pages/script-texts.ts";
import { element, setText } from "../elements.ts";
import { fill, formatDuration, formatSpeed } from "../format.ts";
import type { UploadQueue } from "./queue.ts";

/** The progress of all uploads together. */
export interface TransfersSummary {
  readonly elements: readonly HTMLElement[];
  show(queue: UploadQueue): void;
}

/** Creates the summary. `labelId` is the ID of the heading of the uploads. */
export function createTransfersSummary(labelId: string, texts: ScriptTexts): TransfersSummary {
  const bar = element("progress", { "aria-labelledby": labelId, class: "transfers-bar", max: "1" });
  const summary = element("p", { class: "transfers-summary" });
  const speedometer = createTransferSpeed();

  return {
    elements: [summary, bar],
    show(queue) {
      const { count, done, weight, sent, moved, left } = toSum(queue);
      bar.hidden = count === 0;
      bar.value = weight === 0 ? 0 : sent / weight;
      const speed = speedometer.measure(moved, performance.now());
      const nothing = queue.in("cancelled").size > 0 ? texts.cancelled : texts.skipped;
      const parts = [count === 0 ? nothing : fill(texts.uploaded, { done, count })];
      if (queue.isBusy() && speed > 0) {
        parts.push(fill(texts.speed, { speed: formatSpeed(speed), time: formatDuration(left / speed) }));
      }
      setText(summary, parts.join(" · "));
    },
  };
}

/** Sums up the transfers. Each file counts one byte more than its size, so that empty files count. */
function toSum(queue: UploadQueue) {
  let weight = 0;
  let sent = 0;
  /** Bytes that have left this browser. */
  let moved = 0;
  let left = 0;
  let count = 0;
  for (const transfer of queue.all) {
    const { state, size } = transfer;
    if (state === "cancelled" || state === "skipped") continue;
    count++;
    weight += size + 1;
    moved += transfer.sent - transfer.found;
    sent += transfer.sent + (state === "done" ? 1 : 0);
    if (state === "active" || state === "waiting") left += size - transfer.sent;
  }
  return { count, done: queue.in("done").size, weight, sent, moved, left };
}

/** Measures the transfer speed over the last few seconds. */
interface TransferSpeed {
  /** Adds a sample of the total bytes sent. Returns bytes per second, or 0 while the speed is unknown. */
  measure(total: number, now: number): number;
}

const WINDOW_MS = 6000;

function createTransferSpeed(): TransferSpeed {
  let samples: { total: number; now: number }[] = [];
  return {
    measure(total, now) {
      // The total is lower than before because a transfer was cancelled.
      if (total < (samples.at(-1)?.total ?? 0)) samples = [];
      samples = samples.filter((sample) => now - sample.now <= WINDOW_MS);
      samples.push({ total, now });
      const first = samples[0];
      return first === undefined || now - first.now < 500 ? 0 : ((total - first.total) * 1000) / (now - first.now);
    },
  };
}
