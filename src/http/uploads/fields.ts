import { digestAlgorithms } from "../../platform/incremental-digest.ts";
import { toHttpDate } from "../http-date.ts";
import type { HeaderFields } from "../reply.ts";
import type { InteropVersion } from "./request-types.ts";
import { toIntegerDictionary } from "./structured-fields.ts";
import { DRAFT_MEDIA_TYPE, TUS_VERSION } from "./vocabulary.ts";

/** The limits of uploads, or of one upload. An absent one does not exist. */
export interface UploadLimits {
  /** Maximum size of a file in bytes. */
  readonly maxBytes?: number | undefined;
  /** Maximum size of the content of one request in bytes. */
  readonly maxAppendBytes?: number | undefined;
  /** For how many more seconds the upload is there. */
  readonly secondsLeft?: number | undefined;
}

/** The value of `Upload-Limit` (Limits). `interop` is the version of the draft that the client speaks. */
export function toUploadLimit(
  { maxBytes, maxAppendBytes, secondsLeft }: UploadLimits,
  interop?: InteropVersion,
): string {
  const seconds = secondsLeft === undefined ? undefined : Math.max(0, Math.floor(secondsLeft));
  const value = toIntegerDictionary({
    "max-size": maxBytes,
    "max-append-size": maxAppendBytes,
    [interop !== undefined && interop < 7 ? "expires" : "max-age"]: seconds,
  });
  // A field without members would not be sent: this means that there are no limits.
  return value || "min-size=0";
}

/** The value of `Upload-Expires` (tus, Expiration). */
export function toUploadExpires(expires: Date): string {
  return toHttpDate(expires);
}

/** What a service says about its uploads. */
export interface UploadFeatures extends UploadLimits {
  /** Whether the storage joins uploads. */
  readonly canJoin: boolean;
}

const EXTENSIONS = ["creation", "creation-with-upload", "creation-defer-length", "termination", "expiration"];

/** The header fields by which clients find out about uploads, for responses to `OPTIONS` (RESUMABLE 10.1). */
export function toUploadFeatureFields(
  { canJoin, ...limits }: UploadFeatures,
  algorithms: readonly string[] = digestAlgorithms(),
): HeaderFields {
  const { maxBytes } = limits;
  const hasChecksums = algorithms.length > 0;
  const extensions = [...EXTENSIONS, ...(hasChecksums ? ["checksum"] : []), ...(canJoin ? ["concatenation"] : [])];
  return {
    "Tus-Resumable": TUS_VERSION,
    "Tus-Version": TUS_VERSION,
    "Tus-Extension": extensions.join(","),
    "Tus-Max-Size": maxBytes === undefined ? undefined : String(maxBytes),
    "Tus-Checksum-Algorithm": hasChecksums ? algorithms.join(",") : undefined,
    "Accept-Patch": DRAFT_MEDIA_TYPE,
    "Upload-Limit": toUploadLimit(limits),
  };
}

/** The status of an interim response that names the upload (`104 Upload Resumption Supported`). */
export const RESUMPTION_STATUS = 104;

/** The header fields of that interim response. `location` is the path of the upload's URL. */
export function toResumptionFields(
  location: string,
  limits: UploadLimits,
  interop: InteropVersion | undefined,
): Readonly<Record<string, string>> {
  const version = interop === undefined ? {} : { "Upload-Draft-Interop-Version": String(interop) };
  return { Location: location, "Upload-Limit": toUploadLimit(limits, interop), ...version };
}
