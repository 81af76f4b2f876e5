import type { Problem } from "../requests.ts";
import {
  type ConflictAnswer,
  createQueueEntries,
  type PanelUpload,
  type PanelUploadState,
  type QueueEntries,
  type QueueEntry,
  type UploadTask,
} from "./queue-entries.ts";

/** Uploads files, a few at a time. */
export interface UploadQueue {
  /** In the order in which they were added. */
  readonly all: ReadonlySet<PanelUpload>;
  in(state: PanelUploadState): ReadonlySet<PanelUpload>;
  /** Whether any upload has not ended, also if it waits for an answer or the queue is {@link halted}. */
  isBusy(): boolean;
  /** The problem for which no further upload starts, because it would fail too. A retry starts uploads again. */
  halted(): Problem | undefined;
  /** Adds uploads, except those of files whose upload to the same path has not ended. */
  add(tasks: readonly UploadTask[]): void;
  cancel(uploads: Iterable<PanelUpload>): void;
  retry(uploads: Iterable<PanelUpload>): void;
  /** Answers the conflict of an upload, or all conflicts until uploads are added. */
  answer(upload: PanelUpload, answer: ConflictAnswer, isForAll: boolean): void;
  /** Removes the uploads that have ended. */
  clear(): void;
}

/** Receives the changes of a queue. */
export interface QueueListener {
  /** Something that is shown has changed. */
  onChange(): void;
  /** There is something new to say of an active upload. */
  onNote(upload: PanelUpload): void;
  /** An upload failed, or waits for the user's decision. */
  onFailure(upload: PanelUpload): void;
  /** No upload is active any more. */
  onIdle(): void;
}

/** The states of uploads that have not ended. */
const OPEN: readonly PanelUploadState[] = ["waiting", "active", "exists"];

/** The number of concurrent uploads. */
const AT_A_TIME = 3;

export function createUploadQueue(listener: QueueListener): UploadQueue {
  const entries = createQueueEntries(listener.onChange);
  const runner = createRunner(entries, listener);

  /** Calls `act` for the uploads that are in one of these states. */
  function each(
    uploads: Iterable<PanelUpload>,
    states: readonly PanelUploadState[],
    act: (entry: QueueEntry) => void,
  ): void {
    for (const upload of uploads) if (states.includes(upload.state)) act(upload as QueueEntry);
    runner.proceed();
  }

  return {
    all: entries.all,
    in: entries.in,
    isBusy: () => OPEN.some((state) => entries.in(state).size > 0),
    halted: runner.halted,
    add(tasks) {
      const open = new Set<string>();
      each(entries.all, OPEN, ({ task }) => open.add(task.key));
      for (const task of tasks) if (!open.has(task.key)) entries.add(task);
      listener.onChange();
      runner.start();
    },
    cancel: (uploads) =>
      each(uploads, OPEN, (entry) => {
        entry.sending?.abort();
        entry.sending = undefined;
        entry.task.discard();
        entry.sent = 0;
        entries.move(entry, "cancelled");
      }),
    retry(uploads) {
      runner.clearHalt();
      each(uploads, ["failed", "cancelled"], (entry) => entries.move(entry, "waiting"));
    },
    answer(upload, answer, isForAll) {
      if (isForAll) runner.answerAll(answer);
      each(isForAll ? entries.all : [upload], ["exists"], (entry) => answerConflict(entries, entry, answer));
    },
    clear() {
      runner.clearHalt();
      for (const entry of entries.all) {
        if (!OPEN.includes(entry.state)) entries.remove(entry);
      }
      listener.onChange();
    },
  };
}

/** Skips an upload, or makes it wait to be sent as the user wants. */
function answerConflict(entries: QueueEntries, entry: QueueEntry, answer: ConflictAnswer): void {
  const name = answer === "keepBoth" ? entry.task.rename() : entry.name;
  if (answer === "skip") entries.move(entry, "skipped");
  else if (name !== undefined) {
    Object.assign(entry, { name, answer });
    entries.move(entry, "waiting");
  }
}

/** Starts waiting uploads, a few at a time, unless a problem halts the queue. */
interface Runner {
  readonly halted: () => Problem | undefined;
  /** Clears the problem that halted the queue. */
  clearHalt(): void;
  /** Answers all conflicts that follow. */
  answerAll(answer: ConflictAnswer): void;
  /** Starts uploads that were added: a halt and earlier answers do not concern them. */
  start(): void;
  /** Starts waiting uploads, and reports if none is active. */
  proceed(): void;
}

function createRunner(entries: QueueEntries, { onChange, onNote, onFailure, onIdle }: QueueListener): Runner {
  let halt: Problem | undefined;
  let answerToAll: ConflictAnswer | undefined;

  function startNext(): void {
    for (const entry of entries.in("waiting")) {
      if (halt !== undefined || entries.in("active").size >= AT_A_TIME) return;
      void start(entry);
    }
  }

  async function start(entry: QueueEntry): Promise<void> {
    entries.move(entry, "active");
    entry.note = undefined;
    const sending = entry.task.send(entry.answer === "replace", (sent, note, found = 0) => {
      // The upload was cancelled meanwhile, and perhaps retried.
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
    // A retry may go on from where the upload is now.
    if (isHalting) halt = problem;
    else entry.sent = problem === undefined ? entry.size : 0;
    end(entry, problem);
    proceed();
  }

  function end(entry: QueueEntry, problem: Problem | undefined): void {
    const isConflict = problem?.kind === "exists";
    entries.move(entry, problem === undefined ? "done" : isConflict ? "exists" : "failed", problem);
    // A name that was to be free may be taken, too.
    const answer = entry.answer === "keepBoth" ? entry.answer : answerToAll;
    if (isConflict && answer !== undefined && entry.answer !== "replace") answerConflict(entries, entry, answer);
    if (entry.state === "exists" || entry.state === "failed") onFailure(entry);
  }

  function proceed(): void {
    startNext();
    if (entries.in("active").size === 0) onIdle();
  }

  function clearHalt(): void {
    halt = undefined;
  }

  return {
    halted: () => halt,
    clearHalt,
    answerAll(answer) {
      answerToAll = answer;
    },
    start() {
      answerToAll = undefined;
      clearHalt();
      proceed();
    },
    proceed,
  };
}
