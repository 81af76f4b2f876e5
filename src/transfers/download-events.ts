import type { ByteSource } from "../contracts/byte-source.ts";
import type { DownloadData, HandedOver } from "../contracts/events/transfers.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { sourceReply } from "../http/reply.ts";
import type { AccountContext } from "../request/context.ts";
import { emitEvent, toFileLocation } from "../request/emit-event.ts";
import { holdUntilRead, type ReadEnd, reportFailures, type TransferEvents, trackTransfer } from "./tracked-source.ts";

/** The content and headers of a response. */
export interface SourceResponse {
  readonly source: ByteSource;
  readonly fields: HeaderFields;
}

/** Events of the download of a file: 40004, then 40039 (done), 40040 (failed) or 40018 (client disconnected). */
export function downloadEvents(context: AccountContext, handedOver: HandedOver = {}): (end: ReadEnd) => void {
  const location = toDownloadData(context);
  emitEvent(context, { id: 40004, data: location });
  return (end) => {
    const data = { ...location, ...handedOver };
    if (end.outcome === "done") emitEvent(context, { id: 40039, data: { ...data, ...end.totals } });
    else emitEvent(context, { id: end.outcome === "cut" ? 40018 : 40040, data: { ...data, ...end.totals } });
  };
}

/** The file that a request downloads, or a version of it. */
export function toDownloadData(context: AccountContext): DownloadData {
  const { path, version } = context;
  return { ...toFileLocation(context, path.segments), ...(version !== undefined && { version }) };
}

/** Events of a listing: 40006, then 40034 (done) or 40014. */
export function listingEvents(context: AccountContext): (end: ReadEnd) => void {
  const location = toFileLocation(context, context.path.segments);
  emitEvent(context, { id: 40006, data: location });
  return (end) => {
    if (end.outcome === "done") emitEvent(context, { id: 40034, data: { ...location, ...end.totals } });
    else emitEvent(context, { id: 40014, data: { ...location, ...end.totals } });
  };
}

/** Events of the download of an archive: 40016, then 40025 (done) or 40041. */
export function archiveEvents(context: AccountContext): (end: ReadEnd) => void {
  const location = toFileLocation(context, context.path.segments);
  emitEvent(context, { id: 40016, data: location });
  return (end) => {
    if (end.outcome === "done") emitEvent(context, { id: 40025, data: { ...location, ...end.totals } });
    else emitEvent(context, { id: 40041, data: { ...location, ...end.totals } });
  };
}

/**
 * Responds with what `open` returns, and emits an event for its start and its end. A failure to open it is also an
 * end.
 */
export async function sendTracked(
  context: AccountContext,
  emitEvents: TransferEvents,
  open: () => Promise<SourceResponse>,
  status = 200,
): Promise<Reply> {
  if (!context.hasListeners()) {
    const { source, fields } = await open();
    return sourceReply(status, holdUntilRead(context, reportFailures(context, source)), fields);
  }
  const transfer = trackTransfer(context, emitEvents);
  transfer.begin();
  try {
    const { source, fields } = await open();
    return sourceReply(status, holdUntilRead(context, transfer.trackSource(source)), fields);
  } catch (error) {
    transfer.fail(error);
    throw error;
  }
}
