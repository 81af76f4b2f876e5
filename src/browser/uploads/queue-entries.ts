import type { Problem } from "../requests.ts";
import type { OnProgress, Sending } from "./send.ts";

const STATES = ["waiting", "active", "exists", "failed", "done", "cancelled", "skipped"] as const;

/** The state of an upload. `exists` waits for the user's answer to a conflict. */
export type PanelUploadState = (typeof STATES)[number];

/** What a user answers if a file with the same name exists. */
export type ConflictAnswer = "replace" | "keepBoth" | "skip";

/** The upload of one file. Only the queue changes it. */
export interface PanelUpload {
  /** The path below the folder of the page, as shown. To keep both files changes it. */
  readonly name: string;
  readonly size: number;
  readonly state: PanelUploadState;
  /** Bytes sent so far. */
  readonly sent: number;
  /** How many of them the service had before. */
  readonly found: number;
  /** What the user should know while the upload is active. */
  readonly note?: string | undefined;
  readonly problem?: Problem | undefined;
}

/** A file to upload. */
export interface UploadTask {
  readonly name: string;
  readonly size: number;
  /** What the user has to decide first, because the page shows a file with this name. */
  readonly conflict: Problem | undefined;
  /** Names the file and its path: uploads of one file to one path would be one upload of the service. */
  readonly key: string;
  send(mayReplace: boolean, onProgress: OnProgress): Sending;
  /** Takes the next name that may be free, such as `a (1).txt`. Returns it, or `undefined` after too many. */
  rename(): string | undefined;
  /** Gives up what the service may have of the file. */
  discard(): void;
}

/** An upload as its queue has it. */
export type QueueEntry = { -readonly [Key in keyof PanelUpload]: PanelUpload[Key] } & {
  readonly task: UploadTask;
  answer?: ConflictAnswer;
  sending?: Sending | undefined;
};

/** The entries of a queue, indexed by state. */
export interface QueueEntries {
  readonly all: ReadonlySet<QueueEntry>;
  readonly in: (state: PanelUploadState) => ReadonlySet<QueueEntry>;
  add(task: UploadTask): void;
  move(entry: QueueEntry, state: PanelUploadState, problem?: Problem): void;
  remove(entry: QueueEntry): void;
}

export function createQueueEntries(onChange: () => void): QueueEntries {
  const all = new Set<QueueEntry>();
  const byState = Object.fromEntries(STATES.map((state) => [state, new Set<QueueEntry>()])) as Record<
    PanelUploadState,
    Set<QueueEntry>
  >;
  return {
    all,
    in: (state) => byState[state],
    add(task) {
      const entry = toEntry(task);
      all.add(entry);
      byState[entry.state].add(entry);
    },
    move(entry, state, problem) {
      byState[entry.state].delete(entry);
      byState[state].add(entry);
      entry.state = state;
      entry.problem = problem;
      onChange();
    },
    remove(entry) {
      byState[entry.state].delete(entry);
      all.delete(entry);
    },
  };
}

function toEntry(task: UploadTask): QueueEntry {
  const { name, size, conflict } = task;
  return {
    name,
    size,
    state: conflict === undefined ? "waiting" : "exists",
    problem: conflict,
    sent: 0,
    found: 0,
    task,
  };
}
