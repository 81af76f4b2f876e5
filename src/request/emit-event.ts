import { toStoragePath } from "../account/path.ts";
import type { FileLocation } from "../contracts/events/envelope.ts";
import type { FileEvent } from "../contracts/events/file-event.ts";
import type { ReadTotals, WriteTotals } from "../contracts/events/transfers.ts";
import { mapUnprovenPaths } from "../events/cut-paths.ts";
import type { EventDraft } from "../events/emitter.ts";
import { cutPath } from "../events/refusals.ts";
import { isSecure } from "../http/request-target.ts";
import { readTrace } from "../http/trace-context.ts";
import { maskLinkTokens } from "../sharing/link-tokens.ts";
import type { AccountContext, RequestContext } from "./context.ts";

type WithoutEnvelope<E> = E extends EventDraft ? Omit<E, "account" | "component" | "trace"> : never;

/** An event of a request, without the fields that all events of a request have in common. */
export type RequestEvent = WithoutEnvelope<EventDraft>;

/** Emits an event of a request, with its account if it has one. */
export function emitEvent(context: RequestContext, event: RequestEvent): void {
  const { request, connection, config, emit, eventLink, eventKey } = context;
  const { peer } = connection;
  const account = "account" in context ? (context as AccountContext).account : undefined;
  const trace = readTrace(request.headers);
  emit({
    ...event,
    // A client may have put the URL of a link where a path belongs.
    data: mapUnprovenPaths(event.id, event.data, maskLinkTokens),
    ...(account !== undefined && {
      account: { uuid: account.uuid, name: account.name, email: account.email, ...(peer !== undefined && { peer }) },
    }),
    ...(eventLink !== undefined && { link: eventLink }),
    ...(eventKey !== undefined && { key: eventKey }),
    component: { uuid: config.component.uuid, type: isSecure(request, connection) ? "https" : "http" },
    ...(trace !== undefined && { trace }),
  } as EventDraft & FileEvent);
}

/** Emits event 40019 for status 400 and event 40023 for status 500. Ignores any other status. */
export function emitErrorEvent(context: RequestContext, status: number, details: string): void {
  if (status !== 400 && status !== 500) return;
  const { request, connection, target } = context;
  const { peer } = connection;
  const data = {
    method: request.method,
    path: cutPath(maskLinkTokens(target.path)),
    details,
    ...(peer !== undefined && { peer }),
  };
  emitEvent(context, { id: status === 400 ? 40019 : 40023, data });
}

/** A file or folder in the form that events have: by its path in the account, also for a request by a link. */
export function toFileLocation({ files, link }: AccountContext, segments: readonly string[]): FileLocation {
  const path = link === undefined ? segments : [...link.root, ...segments];
  return { path: toStoragePath(path), real_path: files.realPathOf(segments) };
}

/** Seconds between two millisecond timestamps; 0 if the clock went backwards. */
function toSeconds(from: number, to: number): number {
  return Math.max(0, to - from) / 1000;
}

/** The totals of an upload between two millisecond timestamps. */
export function toWriteTotals(bytes: number, startedAt: number, now: number): WriteTotals {
  const duration = toSeconds(startedAt, now);
  return { total_write: bytes, duration, write_speed: toSpeed(bytes, duration) };
}

/** The totals of a download between two millisecond timestamps. */
export function toReadTotals(bytes: number, startedAt: number, now: number): ReadTotals {
  const duration = toSeconds(startedAt, now);
  return { total_read: bytes, duration, read_speed: toSpeed(bytes, duration) };
}

/** Bytes per second, rounded. If no time was measured, all bytes count as one second's. */
function toSpeed(bytes: number, seconds: number): number {
  return seconds > 0 ? Math.round(bytes / seconds) : bytes;
}
