import { type Finding, ok, problem, warning } from "../findings.ts";
import type { Examined } from "./examined.ts";

const CLOSE_SECONDS = 5;
/** S3 refuses requests whose time differs by more than this. */
const REFUSED_SECONDS = 900;
const TIMEOUT_MS = 5000;

/** Compares the clock of this machine with another one, in POSIX milliseconds. */
export function compareClock(about: string, other: number, limit = REFUSED_SECONDS): Finding {
  const seconds = Math.round((Date.now() - other) / 1000);
  const text = `the clock of this machine is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} it`;
  if (Math.abs(seconds) <= CLOSE_SECONDS) return ok(about, "has the time of this machine");
  const advice = "let both use NTP";
  return Math.abs(seconds) > limit ? problem(about, text, advice) : warning(about, text, advice);
}

/** Compares the clock with that of a bucket, which says its time in `Date` (RFC 9110 6.6.1). */
export async function* examineClock({ config: { storage } }: Examined): AsyncGenerator<Finding> {
  const endpoint = storage && toEndpoint(storage);
  if (endpoint === undefined) return;
  try {
    const response = await fetch(endpoint, { method: "HEAD", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const date = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(date)) yield compareClock("storage", date);
  } catch {
    // What is wrong with the bucket is said where it is used.
  }
}

/** Returns the URL of the store; `undefined` if the storage is on this machine. */
function toEndpoint(storage: NonNullable<Examined["config"]["storage"]>): string | undefined {
  if (storage.type === "azure") return storage.endpoint ?? `https://${storage.account}.blob.core.windows.net`;
  if (storage.type !== "s3") return undefined;
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION } = process.env;
  // An empty variable counts as none, as for the storage.
  const region = storage.region || AWS_REGION || AWS_DEFAULT_REGION || "us-east-1";
  return storage.endpoint || AWS_ENDPOINT_URL_S3 || AWS_ENDPOINT_URL || `https://s3.${region}.amazonaws.com`;
}
