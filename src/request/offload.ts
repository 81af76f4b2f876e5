import type { AccountFiles } from "../account/files.ts";
import type { OffloadConfig } from "../config/offload.ts";

/** Another server that sends the content of downloads (the option `offload`). */
export interface Offload {
  readonly config: OffloadConfig;
  /** Returns the path by which that server knows the content of a file; `undefined` if it does not have it. */
  locateFile(
    files: Pick<AccountFiles, "locateContent" | "realPathOf">,
    segments: readonly string[],
  ): Promise<string | undefined>;
  /** Absent: that server reports nothing. */
  readonly reports?: TransferReports;
}

/** The downloads of a service that another server sends and reports the end of. They are known to this process only. */
export interface TransferReports {
  /** Returns the id of a download, which only the server that sends it learns. */
  add(download: HandedOverDownload): string;
  /** Ends a download. Returns `false` if there is none, or if it has ended already. */
  end(id: string, outcome: TransferOutcome, bytes: number): boolean;
  /** Ends what was not reported for too long. Returns the number of downloads that are `lost`. */
  expire(): number;
}

/** How a download has ended: complete, cut, or without a report. */
export type TransferOutcome = "done" | "cut" | "lost";

/** A download that another server sends. */
export interface HandedOverDownload {
  /** In POSIX milliseconds. */
  readonly startedAt: number;
  /** Gives back the place among the concurrent transfers. */
  release(): void;
  /** Called once, with the number of bytes that were sent. */
  end(outcome: TransferOutcome, bytes: number): void;
}
