import type { ByteSource } from "../contracts/byte-source.ts";
import { type HeaderFields, sourceResponse } from "../http/responses.ts";
import type { AccountContext } from "../request/context.ts";
import { emitEvent, toFileLocation } from "../request/emit-event.ts";
import { holdUntilRead, type ReadEnd, reportFailures, type TransferEvents, trackTransfer } from "./tracked-source.ts";

/** Content that is ready to be sent. */
export interface SourceResponse {
  readonly source: ByteSource;
  readonly fields: HeaderFields;
}

/** 40004, and one of 40039, 40040 and 40018. */
export function downloadEvents(context: AccountContext): (end: ReadEnd) => void {
  const place = toFileLocation(context, context.path.segments);
  emitEvent(context, { id: 40004, data: place });
  return (end) => {
    if (end.outcome === "done") emitEvent(context, { id: 40039, data: { ...place, ...end.totals } });
    else emitEvent(context, { id: end.outcome === "cut" ? 40018 : 40040, data: { ...place, ...end.totals } });
  };
}

/** 40006, and one of 40034 and 40014. */
export function listingEvents(context: AccountContext): (end: ReadEnd) => void {
  const place = toFileLocation(context, context.path.segments);
  emitEvent(context, { id: 40006, data: place });
  return (end) => {
    if (end.outcome === "done") emitEvent(context, { id: 40034, data: { ...place, ...end.totals } });
    else emitEvent(context, { id: 40014, data: { ...place, ...end.totals } });
  };
}

/** 40016, and one of 40025 and 40041. */
export function archiveEvents(context: AccountContext): (end: ReadEnd) => void {
  const place = toFileLocation(context, context.path.segments);
  emitEvent(context, { id: 40016, data: place });
  return (end) => {
    if (end.outcome === "done") emitEvent(context, { id: 40025, data: { ...place, ...end.totals } });
    else emitEvent(context, { id: 40041, data: { ...place, ...end.totals } });
  };
}

/** Answers with content of the account, its begin and end told, once each; a failure to open it is an end as well. */
export async function sendTracked(
  context: AccountContext,
  emitEvents: TransferEvents,
  open: () => Promise<SourceResponse>,
): Promise<Response> {
  if (!context.hasListeners()) {
    const { source, fields } = await open();
    return sourceResponse(200, holdUntilRead(context, reportFailures(context, source)), fields);
  }
  const transfer = trackTransfer(context, emitEvents);
  transfer.begin();
  try {
    const { source, fields } = await open();
    return sourceResponse(200, holdUntilRead(context, transfer.trackSource(source)), fields);
  } catch (error) {
    transfer.fail(error);
    throw error;
  }
}
