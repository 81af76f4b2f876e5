import type { Problem } from "../requests.ts";
import type { OnProgress, Sending } from "./send.ts";

const STATES = ["waiting", "active", "exists", "failed", "done", "cancelled", "skipped"] as const;

/** The state of a transfer. `exists` waits for the user's answer to a conflict. */
export type TransferState = (typeof STATES)[number];

/** What a user answers if a file with the same name exists. */
export type ConflictAnswer = "replace" | "keepBoth" | "skip";

/** The upload of one file. Only the queue changes it. */
export interface Transfer {
  /** The path below the folder of the page, as shown. To keep both files changes it. */
  readonly name: string;
  readonly size: number;
  readonly state: TransferState;
  /** Bytes sent so far. */
  readonly sent: number;
  /** How many of them the service had before. */
  readonly found: number;
  /** What the user should know while the transfer is active. */
  readonly note: string | undefined;
  readonly problem: Problem | undefined;
}

/** A file to upload. */
export interface UploadTask {
  readonly name: string;
  readonly size: number;
  /** Whether the page shows a file with this name. */
  readonly exists: boolean;
  send(mayReplace: boolean, onProgress: OnProgress): Sending;
  /** Takes the next name that may be free, such as `a (1).txt`. Returns it, or `undefined` after too many. */
  rename(): string | undefined;
  /** Gives up what the service may have of the file. */
  discard(): void;
}

/** A transfer as its queue has it. */
export type TransferEntry = { -readonly [Key in keyof Transfer]: Transfer[Key] } & {
  readonly task: UploadTask;
  answer: ConflictAnswer | undefined;
  sending: Sending | undefined;
};

/** The entries of a queue, indexed by state. */
export interface TransferEntries {
  readonly all: ReadonlySet<TransferEntry>;
  readonly in: (state: TransferState) => ReadonlySet<TransferEntry>;
  add(task: UploadTask): void;
  move(entry: TransferEntry, state: TransferState, problem?: Problem): void;
  remove(entry: TransferEntry): void;
}

export function createTransferEntries(onChange: () => void): TransferEntries {
  const all = new Set<TransferEntry>();
  const byState = Object.fromEntries(STATES.map((state) => [state, new Set<TransferEntry>()])) as Record<
    TransferState,
    Set<TransferEntry>
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

function toEntry(task: UploadTask): TransferEntry {
  const { name, size, exists } = task;
  return {
    name,
    size,
    state: exists ? "exists" : "waiting",
    sent: 0,
    found: 0,
    note: undefined,
    problem: undefined,
    task,
    answer: undefined,
    sending: undefined,
  };
}
