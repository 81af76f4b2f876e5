import type { ByteSource } from "../contracts/byte-source.ts";
import { type HeaderFields, sourceResponse } from "../http/responses.ts";
import type { AccountExchange } from "../request/context.ts";
import { tell, toPlace } from "../request/emit-event.ts";
import {
  createToldTransfer,
  type ReadEnd,
  type TellTransfer,
  toHeldSource,
  toReportedSource,
} from "./tracked-source.ts";

/** Content that is ready to be sent. */
export interface SourceAnswer {
  readonly source: ByteSource;
  readonly fields: HeaderFields;
}

/** 40004, and one of 40039, 40040 and 40018. */
export function tellDownload(exchange: AccountExchange): (end: ReadEnd) => void {
  const place = toPlace(exchange, exchange.path.segments);
  tell(exchange, { id: 40004, data: place });
  return (end) => {
    if (end.outcome === "done") tell(exchange, { id: 40039, data: { ...place, ...end.totals } });
    else tell(exchange, { id: end.outcome === "cut" ? 40018 : 40040, data: { ...place, ...end.totals } });
  };
}

/** 40006, and one of 40034 and 40014. */
export function tellListing(exchange: AccountExchange): (end: ReadEnd) => void {
  const place = toPlace(exchange, exchange.path.segments);
  tell(exchange, { id: 40006, data: place });
  return (end) => {
    if (end.outcome === "done") tell(exchange, { id: 40034, data: { ...place, ...end.totals } });
    else tell(exchange, { id: 40014, data: { ...place, ...end.totals } });
  };
}

/** 40016, and one of 40025 and 40041. */
export function tellArchive(exchange: AccountExchange): (end: ReadEnd) => void {
  const place = toPlace(exchange, exchange.path.segments);
  tell(exchange, { id: 40016, data: place });
  return (end) => {
    if (end.outcome === "done") tell(exchange, { id: 40025, data: { ...place, ...end.totals } });
    else tell(exchange, { id: 40041, data: { ...place, ...end.totals } });
  };
}

/** Answers with content of the account, its begin and end told, once each; a failure to open it is an end as well. */
export async function sendTold(
  exchange: AccountExchange,
  tellTransfer: TellTransfer,
  open: () => Promise<SourceAnswer>,
): Promise<Response> {
  if (!exchange.isHeard()) {
    const { source, fields } = await open();
    return sourceResponse(200, toHeldSource(exchange, toReportedSource(exchange, source)), fields);
  }
  const transfer = createToldTransfer(exchange, tellTransfer);
  transfer.begin();
  try {
    const { source, fields } = await open();
    return sourceResponse(200, toHeldSource(exchange, transfer.toldSource(source)), fields);
  } catch (error) {
    transfer.fail(error);
    throw error;
  }
}
