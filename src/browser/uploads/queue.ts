import type { Problem } from "../requests.ts";
import type { Sending } from "./send.ts";

const STATES = ["waiting", "active", "exists", "failed", "done", "cancelled", "skipped"] as const;

/** `exists` waits for the user's word: replace or skip. */
export type TransferState = (typeof STATES)[number];

/** One file on its way. Only the queue changes it. */
export interface Transfer {
  /** What is shown: its path below the folder of the page. */
  readonly name: string;
  readonly size: number;
  readonly state: TransferState;
  /** Bytes. */
  readonly sent: number;
  readonly problem: Problem | undefined;
}

/** What the queue needs to know of a file. */
export interface Order {
  readonly name: string;
  readonly size: number;
  /** Whether a file of this name is known to be there. */
  readonly exists: boolean;
  send(mayReplace: boolean, onProgress: (sent: number) => void): Sending;
}

type Entry = { -readonly [Key in keyof Transfer]: Transfer[Key] } & {
  readonly order: Order;
  mayReplace: boolean;
  sending: Sending | undefined;
};

/** The files that go up, a few at a time. */
export interface UploadQueue {
  /** In the order of their arrival. */
  readonly all: ReadonlySet<Transfer>;
  in(state: TransferState): ReadonlySet<Transfer>;
  /** Whether anything is under way, or would be but for {@link halted}. */
  isBusy(): boolean;
  /** Why nothing further is started: it would fail likewise. A retry tries again. */
  halted(): Problem | undefined;
  add(orders: readonly Order[]): void;
  cancel(transfers: Iterable<Transfer>): void;
  retry(transfers: Iterable<Transfer>): void;
  replace(transfers: Iterable<Transfer>): void;
  skip(transfers: Iterable<Transfer>): void;
  /** Forgets those that have ended. */
  clear(): void;
}

/** What happens in a queue. */
export interface QueueListener {
  /** Something to be shown has changed. */
  onChange(): void;
  /** It failed, or waits for the user's word. */
  onFailure(transfer: Transfer): void;
  /** Nothing is under way any more. */
  onIdle(): void;
}

/** How many go up at a time. */
const AT_A_TIME = 3;

export function createUploadQueue(listener: QueueListener): UploadQueue {
  const entries = createEntries(listener.onChange);
  const runner = createRunner(entries, listener);

  /** Lets `act` have those of the transfers that are in one of these states, now. */
  function each(transfers: Iterable<Transfer>, states: readonly TransferState[], act: (entry: Entry) => void): void {
    for (const transfer of transfers) if (states.includes(transfer.state)) act(transfer as Entry);
    runner.proceed();
  }

  function enqueue(entry: Entry): void {
    entry.sent = 0;
    entries.move(entry, "waiting");
  }

  return {
    all: entries.all,
    in: entries.in,
    isBusy: () => entries.in("active").size + entries.in("waiting").size > 0,
    halted: runner.halted,
    add(orders) {
      for (const order of orders) entries.add(toEntry(order));
      listener.onChange();
      runner.forgive();
      runner.proceed();
    },
    cancel: (transfers) =>
      each(transfers, ["waiting", "active"], (entry) => {
        const { sending } = entry;
        entry.sending = undefined;
        sending?.abort();
        entry.sent = 0;
        entries.move(entry, "cancelled");
      }),
    retry(transfers) {
      runner.forgive();
      each(transfers, ["failed", "cancelled"], enqueue);
    },
    replace: (transfers) =>
      each(transfers, ["exists"], (entry) => {
        entry.mayReplace = true;
        enqueue(entry);
      }),
    skip: (transfers) => each(transfers, ["exists"], (entry) => entries.move(entry, "skipped")),
    clear() {
      runner.forgive();
      for (const entry of entries.all) {
        if (entry.state !== "waiting" && entry.state !== "active") entries.remove(entry);
      }
      listener.onChange();
    },
  };
}

function toEntry(order: Order): Entry {
  const { name, size, exists } = order;
  return {
    ...{ name, size, state: exists ? "exists" : "waiting", sent: 0, problem: undefined },
    ...{ order, mayReplace: false, sending: undefined },
  };
}

/** The entries of a queue, at hand by their states. */
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

/** Starts what waits, a few at a time, unless something would make all of them fail. */
interface Runner {
  readonly halted: () => Problem | undefined;
  /** Forgets why nothing further was started. */
  forgive(): void;
  /** Starts what waits, and says so where nothing is under way. */
  proceed(): void;
}

function createRunner(entries: Entries, { onChange, onFailure, onIdle }: QueueListener): Runner {
  let halt: Problem | undefined;

  function startNext(): void {
    for (const entry of entries.in("waiting")) {
      if (halt !== undefined || entries.in("active").size >= AT_A_TIME) return;
      void start(entry);
    }
  }

  async function start(entry: Entry): Promise<void> {
    entries.move(entry, "active");
    const sending = entry.order.send(entry.mayReplace, (sent) => {
      entry.sent = sent;
      onChange();
    });
    entry.sending = sending;
    const problem = await sending.finished;
    // Cancelled meanwhile, perhaps retried already.
    if (entry.sending !== sending) return;
    entry.sending = undefined;
    entry.sent = problem === undefined ? entry.size : 0;
    if (problem === undefined) entries.move(entry, "done");
    else {
      entries.move(entry, problem.kind === "exists" ? "exists" : "failed", problem);
      if (problem.kind === "login" || problem.kind === "network") halt = problem;
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
    forgive() {
      halt = undefined;
    },
    proceed,
  };
}
