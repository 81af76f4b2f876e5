import { type ByteSource, tap } from "../contracts/byte-source.ts";
import type { Reason } from "../contracts/events/envelope.ts";
import type { ReadTotals } from "../contracts/events/transfers.ts";
import { ERRORS } from "../http/errors.ts";
import type { AccountContext, LimitedContext, RequestContext } from "../request/context.ts";
import { toReadTotals } from "../request/emit-event.ts";

/** How a transfer to the client has ended: complete, by an error, or because the client disconnected. */
export type ReadEnd =
  | { readonly outcome: "done"; readonly totals: ReadTotals }
  | { readonly outcome: "failed" | "cut"; readonly totals: ReadTotals & Reason };

/** Emits the event for the start of a transfer. The function that it returns emits the event for the end. */
export type TransferEvents = (context: AccountContext) => (end: ReadEnd) => void;

/** A transfer to the client that emits one event when it starts and one when it ends. */
export interface TrackedTransfer {
  /** Starts the transfer, and emits the first event. */
  begin(): void;
  /** Ends the transfer when the source ends, fails or is closed, as it is when the client disconnects. */
  trackSource(source: ByteSource): ByteSource;
  /** Ends the transfer with an error. */
  fail(error: unknown): void;
}

/** Makes a transfer that has not started. */
export function trackTransfer(context: AccountContext, emitEvents: TransferEvents): TrackedTransfer {
  const { config, failureOf } = context;
  let emitEnd: ((end: ReadEnd) => void) | undefined;
  let startedAt = 0;
  let count = 0;

  function begin(): void {
    startedAt = config.clock();
    emitEnd = emitEvents(context);
  }

  function end(outcome: ReadEnd["outcome"], details = ""): void {
    if (emitEnd === undefined) return;
    const emit = emitEnd;
    emitEnd = undefined;
    const totals = toReadTotals(count, startedAt, config.clock());
    emit(outcome === "done" ? { outcome, totals } : { outcome, totals: { ...totals, details } });
  }

  function cut(): void {
    end("cut", ERRORS["client-disconnected"][1]);
  }

  /** Ignored after the end: closing a source makes a pending read fail. */
  function fail(error: unknown): void {
    if (emitEnd === undefined) return;
    const { code, message } = failureOf(error);
    end(code === "client-disconnected" ? "cut" : "failed", message);
  }

  function trackSource(source: ByteSource): ByteSource {
    const onBytes = (bytes: number): void => {
      count += bytes;
    };
    return tap(source, { onBytes, onEnd: () => end("done"), onError: fail, onClose: cut });
  }

  return { begin, trackSource, fail };
}

/** Reports a failed read to the operator: the response has started, so the client cannot get the error. */
export function reportFailures({ failureOf }: RequestContext, source: ByteSource): ByteSource {
  return tap(source, { onError: failureOf });
}

/** Keeps the permits of the request until the source ends. */
export function holdUntilRead(context: LimitedContext, source: ByteSource): ByteSource {
  const { transferPermit, pagePermit, bodyPermit } = context;
  return bodyPermit.releaseAfter(pagePermit.releaseAfter(transferPermit.releaseAfter(source)));
}
