import type { Problem } from "../requests.ts";
import type { OnProgress, Sending } from "./send.ts";

const STATES = ["waiting", "active", "exists", "failed", "done", "cancelled", "skipped"] as const;

/** The state of a transfer. `exists` waits for the user to replace or skip the file. */
export type TransferState = (typeof STATES)[number];

/** The upload of one file. Only the queue changes it. */
export interface Transfer {
  /** The path below the folder of the page, as shown. */
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
  /** Gives up what the service may have of the file. */
  discard(): void;
}

type Entry = { -readonly [Key in keyof Transfer]: Transfer[Key] } & {
  readonly task: UploadTask;
  mayReplace: boolean;
  sending: Sending | undefined;
};

/** Uploads files, a few at a time. */
export interface UploadQueue {
  /** In the order in which they were added. */
  readonly all: ReadonlySet<Transfer>;
  in(state: TransferState): ReadonlySet<Transfer>;
  /** Whether any transfer is active or waiting, also if the queue is {@link halted}. */
  isBusy(): boolean;
  /** The problem for which no further transfer starts, because it would fail too. A retry starts transfers again. */
  halted(): Problem | undefined;
  add(tasks: readonly UploadTask[]): void;
  cancel(transfers: Iterable<Transfer>): void;
  retry(transfers: Iterable<Transfer>): void;
  replace(transfers: Iterable<Transfer>): void;
  skip(transfers: Iterable<Transfer>): void;
  /** Removes the transfers that have ended. */
  clear(): void;
}

/** Receives the changes of a queue. */
export interface QueueListener {
  /** Something that is shown has changed. */
  onChange(): void;
  /** There is something new to say of an active transfer. */
  onNote(transfer: Transfer): void;
  /** A transfer failed, or waits for the user's decision. */
  onFailure(transfer: Transfer): void;
  /** No transfer is active any more. */
  onIdle(): void;
}

/** The number of concurrent uploads. */
const AT_A_TIME = 3;

export function createUploadQueue(listener: QueueListener): UploadQueue {
  const entries = createEntries(listener.onChange);
  const runner = createRunner(entries, listener);

  /** Calls `act` for the transfers that are in one of these states. */
  function each(transfers: Iterable<Transfer>, states: readonly TransferState[], act: (entry: Entry) => void): void {
    for (const transfer of transfers) if (states.includes(transfer.state)) act(transfer as Entry);
    runner.proceed();
  }

  const enqueue = (entry: Entry): void => entries.move(entry, "waiting");

  return {
    all: entries.all,
    in: entries.in,
    isBusy: () => entries.in("active").size + entries.in("waiting").size > 0,
    halted: runner.halted,
    add(tasks) {
      for (const task of tasks) entries.add(toEntry(task));
      listener.onChange();
      runner.clearHalt();
      runner.proceed();
    },
    cancel: (transfers) =>
      each(transfers, ["waiting", "active"], (entry) => {
        const { sending } = entry;
        entry.sending = undefined;
        sending?.abort();
        entry.task.discard();
        entry.sent = 0;
        entries.move(entry, "cancelled");
      }),
    retry(transfers) {
      runner.clearHalt();
      each(transfers, ["failed", "cancelled"], enqueue);
    },
    replace: (transfers) =>
      each(transfers, ["exists"], (entry) => {
        entry.mayReplace = true;
        enqueue(entry);
      }),
    skip: (transfers) => each(transfers, ["exists"], (entry) => entries.move(entry, "skipped")),
    clear() {
      runner.clearHalt();
      for (const entry of entries.all) {
        if (entry.state !== "waiting" && entry.state !== "active") entries.remove(entry);
      }
      listener.onChange();
    },
  };
}

function toEntry(task: UploadTask): Entry {
  const { name, size, exists } = task;
  return {
    ...{ name, size, state: exists ? "exists" : "waiting", sent: 0, found: 0, note: undefined, problem: undefined },
    ...{ task, mayReplace: false, sending: undefined },
  };
}

/** The entries of a queue, indexed by state. */
interface Entries {
  readonly all: ReadonlySet<Entry>;
  readonly in: (state: TransferState) => ReadonlySet<Entry>;
  add(entry: Entry): void;
  move(entry: Entry, state: TransferState, problem?: Problem): void;
  remove(entry: Entry): void;
}

function createEntries(onChange: () => void): Entries {
  const all = new Set<Entry>();
  const byState = Object.fromEntries(STATES.map((state) => [state, new Set<Entry>()])) as Record<
    TransferState,
    Set<Entry>
  >;
  return {
    all,
    in: (state) => byState[state],
    add(entry) {
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

/** Starts waiting transfers, a few at a time, unless a problem halts the queue. */
interface Runner {
  readonly halted: () => Problem | undefined;
  /** Clears the problem that halted the queue. */
  clearHalt(): void;
  /** Starts waiting transfers, and reports if none is active. */
  proceed(): void;
}

function createRunner(entries: Entries, { onChange, onNote, onFailure, onIdle }: QueueListener): Runner {
  let halt: Problem | undefined;

  function startNext(): void {
    for (const entry of entries.in("waiting")) {
      if (halt !== undefined || entries.in("active").size >= AT_A_TIME) return;
      void start(entry);
    }
  }

  async function start(entry: Entry): Promise<void> {
    entries.move(entry, "active");
    entry.note = undefined;
    const sending = entry.task.send(entry.mayReplace, (sent, note, found = 0) => {
      // The transfer was cancelled meanwhile, and perhaps retried.
      if (entry.sending !== sending) return;
      const isNews = note !== undefined && note !== entry.note;
      Object.assign(entry, { sent, note, found });
      if (isNews) onNote(entry);
      onChange();
    });
    entry.sending = sending;
    const problem = await sending.finished;
    if (entry.sending !== sending) return;
    entry.sending = undefined;
    const isHalting = problem?.kind === "login" || problem?.kind === "network";
    // A retry may go on from where the transfer is now.
    if (!isHalting) entry.sent = problem === undefined ? entry.size : 0;
    if (problem === undefined) entries.move(entry, "done");
    else {
      entries.move(entry, problem.kind === "exists" ? "exists" : "failed", problem);
      if (isHalting) halt = problem;
      onFailure(entry);
    }
    proceed();
  }

  function proceed(): void {
    startNext();
    if (entries.in("active").size === 0) onIdle();
  }

  return {
    halted: () => halt,
    clearHalt() {
      halt = undefined;
    },
    proceed,
  };
}
