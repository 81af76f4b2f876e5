import { type ByteSource, tap } from "../contracts/byte-source.ts";
import type { ReadTotals } from "../contracts/events/transfers.ts";
import type { StorageEntry } from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { percentEncode } from "../http/path-segment.ts";
import type { RangePart } from "../http/range.ts";
import type { HeaderFields, Reply } from "../http/reply.ts";
import { emptyReply, sourceReply } from "../http/reply.ts";
import type { AccountContext } from "../request/context.ts";
import { toReadTotals } from "../request/emit-event.ts";
import type { Offload, TransferOutcome, TransferReports } from "../request/offload.ts";
import { downloadEvents } from "./download-events.ts";
import type { FileFields } from "./send-file.ts";
import { tooManyTransfers } from "./too-many-transfers.ts";
import type { ReadEnd } from "./tracked-source.ts";
import { wantsInline } from "./wants-inline.ts";

export { createTransferReports } from "./offload/reports.ts";

type OffloadConfig = Offload["config"];

/** What another server is to send: a file, or one part of it. */
export interface HandedOverFile {
  readonly entry: StorageEntry;
  /** The headers of the complete file. */
  readonly fields: FileFields;
  readonly part: RangePart | undefined;
}

/** One range that every server reads in the same way. Others are for this process. */
const PLAIN_RANGE = /^bytes=(?:\d{1,15}-\d{0,15}|-\d{1,15})$/;

/**
 * Whether the request of a download lets another server send the content (WRAPPERS 5.1). With `If-Range` or `If-Match`
 * it must be of the version that was looked at, which another server does not know.
 */
export function mayHandOver(context: AccountContext): boolean {
  const { offload, request, variant, link } = context;
  if (offload === undefined || request.method !== "GET") return false;
  const { headers } = request;
  if (headers.get("if-range") !== null || headers.get("if-match") !== null) return false;
  const range = headers.get("range");
  // The other server reads `Range`, too, which does not count if uses do.
  if (link?.record.maxUses !== undefined) return offload.reports !== undefined && range === null;
  if (range !== null && !PLAIN_RANGE.test(range)) return false;
  const { config } = offload;
  if (config.type !== "presigned") return true;
  // A page may embed nothing of another origin, and a store does not send the policy of what is shown.
  return !wantsInline(context) && (variant !== "webdav" || config.webdav);
}

/**
 * Responds without content, and lets another server send it. Returns `undefined` if this process has to send it.
 * @throws HttpError `too-many-transfers`
 */
export async function handOver(context: AccountContext, file: HandedOverFile): Promise<Reply | undefined> {
  const { offload, request } = context;
  const { entry, fields, part } = file;
  const isIgnoredRange = part === undefined && request.headers.get("range") !== null;
  if (offload === undefined || isIgnoredRange || entry.size < offload.config.minBytes) return undefined;
  const target = await findTarget(context, offload, file);
  if (target === undefined) return undefined;
  if (!context.transferPermit.acquire()) throw tooManyTransfers();
  const { type } = offload.config;
  const headers = { ...withoutOthers(fields, type), ...target };
  if (offload.reports !== undefined) return reportedReply(context, offload.config, offload.reports, headers);
  emitHandedOver(context, offload, part?.length ?? entry.size);
  return emptyReply(type === "presigned" ? 307 : 200, headers);
}

/** The headers of a file without those that the other server sets itself, or that are about the content of a reply. */
function withoutOthers(fields: FileFields, type: OffloadConfig["type"]): HeaderFields {
  const { "Content-Length": _length, ...headers } = fields;
  if (type === "nginx") return { ...headers, "Accept-Ranges": undefined };
  return type === "presigned" ? { ...headers, "Content-Type": undefined } : headers;
}

/** The headers that lead to the content; `undefined` if the other server does not have it. */
async function findTarget(
  { files, path }: AccountContext,
  { config, locateFile }: Offload,
  { entry, fields }: HandedOverFile,
): Promise<HeaderFields | undefined> {
  const located = await locateFile(files, path.segments);
  if (located === undefined) return undefined;
  if (config.type === "presigned") {
    const url = await config.presign(located, {
      seconds: config.seconds,
      ...(entry.etag !== undefined && { etag: entry.etag }),
      contentType: fields["Content-Type"],
      contentDisposition: fields["Content-Disposition"] ?? "attachment",
    });
    return url === undefined
      ? undefined
      : { Location: url, "Cache-Control": "no-store", "Referrer-Policy": "no-referrer" };
  }
  const segments = toPathSegments(located);
  if (config.type === "nginx") return { "X-Accel-Redirect": config.base + segments.map(percentEncode).join("/") };
  const target = config.base + segments.join("/");
  return isPlainForApache(target) ? { "X-Sendfile": toByteText(target) } : undefined;
}

/**
 * Apache drops spaces at the end of a header. Some versions of mod_xsendfile decode the path, so that a folder `%2e%2e`
 * would lead to the one above it.
 */
function isPlainForApache(path: string): boolean {
  return !path.includes("%") && !path.endsWith(" ");
}

/** A text whose characters are the bytes of another one in UTF-8, as headers have them. */
function toByteText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** Emits the events of a download whose end is not reported. */
function emitHandedOver(context: AccountContext, { config }: Offload, bytes: number): void {
  if (!context.hasListeners()) return;
  const totals = { total_read: bytes, duration: 0, read_speed: bytes };
  downloadEvents(context, { handed_over: config.type })({ outcome: "done", totals });
}

const NOT_COMPLETE = "The client did not get all of the file.";
const NOT_REPORTED = "The server that sends the file has not reported the end.";
const NOTHING: ByteSource = { readInto: async () => 0, close: async () => undefined };

/**
 * The reply of a download whose end the other server reports. Its content is empty; if it is never read, the other
 * server has not got it.
 */
function reportedReply(
  context: AccountContext,
  { type }: OffloadConfig,
  reports: TransferReports,
  fields: HeaderFields,
): Reply {
  const place = context.transferPermit.releaseAfter(NOTHING);
  const startedAt = context.config.clock();
  const emitEnd = context.hasListeners() ? downloadEvents(context, { handed_over: type }) : undefined;
  let onCut: (() => void) | undefined;
  const id = reports.add({
    startedAt,
    release: () => void place.close(),
    end(outcome, bytes) {
      emitEnd?.(toReadEnd(outcome, toReadTotals(bytes, startedAt, context.config.clock())));
      if (outcome !== "done") onCut?.();
    },
  });
  context.whenReportedCut = (act) => {
    onCut = act;
  };
  const content = tap(NOTHING, { onEnd: () => undefined, onClose: () => reports.end(id, "cut", 0) });
  return sourceReply(200, content, { ...fields, "X-Offload-Id": id });
}

function toReadEnd(outcome: TransferOutcome, totals: ReadTotals): ReadEnd {
  if (outcome === "done") return { outcome, totals };
  const isCut = outcome === "cut";
  const details = isCut ? NOT_COMPLETE : NOT_REPORTED;
  return { outcome: isCut ? "cut" : "failed", totals: { ...totals, details } };
}
