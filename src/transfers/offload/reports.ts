import { randomHex } from "../../platform/random-hex.ts";
import type { HandedOverDownload, TransferOutcome, TransferReports } from "../../request/offload.ts";

const PLACE_MS = 600_000;
const REPORT_MS = 86_400_000;
/** The memory for downloads whose server never reports. */
const MAX_DOWNLOADS = 20_000;

/**
 * Creates the reports of a service. A place among the concurrent transfers is given back after ten minutes at the
 * latest, and a download is lost after a day. `clock` is in POSIX milliseconds.
 */
export function createTransferReports(clock: () => number): TransferReports {
  // Both are in the order of the starts.
  const downloads = new Map<string, HandedOverDownload>();
  const holding = new Map<string, HandedOverDownload>();

  function add(download: HandedOverDownload): string {
    const [oldest] = downloads.keys();
    if (downloads.size >= MAX_DOWNLOADS && oldest !== undefined) end(oldest, "lost", 0);
    const id = randomHex(16);
    downloads.set(id, download);
    holding.set(id, download);
    return id;
  }

  function end(id: string, outcome: TransferOutcome, bytes: number): boolean {
    const download = downloads.get(id);
    if (download === undefined) return false;
    downloads.delete(id);
    if (holding.delete(id)) download.release();
    download.end(outcome, bytes);
    return true;
  }

  function expire(): number {
    const now = clock();
    for (const [id, download] of holding) {
      if (now - download.startedAt < PLACE_MS) break;
      holding.delete(id);
      download.release();
    }
    let lost = 0;
    for (const [id, { startedAt }] of downloads) {
      if (now - startedAt < REPORT_MS) break;
      end(id, "lost", 0);
      lost += 1;
    }
    return lost;
  }

  return { add, end, expire };
}
