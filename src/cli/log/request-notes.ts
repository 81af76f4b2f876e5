import type { IncomingMessage } from "node:http";
import type { ServiceConfig } from "../../config/service-config.ts";
import type { FileService } from "../../contracts/file-service.ts";
import { createHandler, toReplyHandler } from "../../http/reply-handler.ts";
import { readTrace } from "../../http/trace-context.ts";
import { withForwardedPeer } from "../../request/client-address.ts";
import { exchangeOfRequest } from "../../runtimes/node/request.ts";

/** What the service has found out about a request, for the log. */
export interface RequestNotes {
  readonly id: string;
  /** The address of the client, also behind a proxy. */
  readonly address?: string | undefined;
  /** The identifier of the trace that the request belongs to. */
  readonly trace?: string | undefined;
  /** The account that the request is identified as. */
  account?: string;
  /** Returns the bytes of content that have arrived. */
  received(): number;
  /** Returns the bytes of the response's content that were written. */
  sent(): number;
}

/** Identifiers that clients and proxies may choose. Other text of theirs could look like a part of a log line. */
const REQUEST_ID = /^[\w.:/+=@-]{1,128}$/;

/** A property: an entry of a `WeakMap` for each request cost a third of all processor time, in collections. */
const notesKey = Symbol("notes");

interface Noted {
  [notesKey]?: RequestNotes;
}

/** The notes on a request; `undefined` if it has not reached the service. */
export function notesOf(request: IncomingMessage): RequestNotes | undefined {
  return (request as Noted)[notesKey];
}

/** The `X-Request-Id` of a request if it is acceptable, else a new identifier. */
export function toRequestId(given: string | null | undefined): string {
  return given && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

/**
 * Wraps a service so that each response has the `X-Request-Id` of its request, or a new one, and that notes are taken
 * for the log.
 */
export function withRequestNotes(
  service: FileService,
  config: Pick<ServiceConfig, "clientForwardedHeader" | "publicOrigin" | "trustedProxies">,
): FileService {
  const handle = toReplyHandler(service.fetch);
  const fetch = createHandler(async (request, connection) => {
    const id = toRequestId(request.headers.get("x-request-id"));
    const exchange = exchangeOfRequest(request);
    const { peer } = withForwardedPeer(connection, request, config);
    const trace = readTrace(request.headers)?.traceparent.split("-")[1];
    const received = (): number => exchange?.body?.received() ?? 0;
    const own: RequestNotes = { id, address: peer?.address, trace, received, sent: () => exchange?.sentBytes ?? 0 };
    if (exchange !== undefined) (exchange.req as Noted)[notesKey] = own;
    const onIdentified = (name: string): void => {
      own.account = name;
      connection.onIdentified?.(name);
    };
    // A spread costs ten times as much, and every request pays for it.
    const { status, headers, body } = await handle(request, Object.assign({}, connection, { onIdentified }));
    return { status, headers: [...headers, ["X-Request-Id", id]], body };
  });
  return { ...service, fetch };
}
