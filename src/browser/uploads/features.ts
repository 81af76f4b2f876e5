import { HEADERS, toUrl } from "../requests.ts";

/** What the service can do with uploads. */
export interface ServiceFeatures {
  /** Whether it accepts PUT. It does not if only its browser API is mounted. */
  readonly mayPut: boolean;
  /** Whether it has uploads in several requests. */
  readonly mayResume: boolean;
  /** Whether it joins uploads. */
  readonly mayJoin: boolean;
  /** The maximum number of bytes of one request of an upload in several. */
  readonly maxAppendBytes: number;
}

/** The features that are assumed while the service does not respond. */
export const ASSUMED: ServiceFeatures = {
  mayPut: true,
  mayResume: true,
  mayJoin: false,
  maxAppendBytes: Number.POSITIVE_INFINITY,
};

/** Asks for the features. Rejects if the service does not respond. */
export async function findFeatures(): Promise<ServiceFeatures> {
  const { ok, headers } = await fetch(toUrl(["file"]), { method: "OPTIONS", headers: HEADERS });
  const limit = /\bmax-append-size=(\d+)/.exec(headers.get("Upload-Limit") ?? "")?.[1];
  return {
    mayPut: ok && /\bPUT\b/.test(headers.get("Allow") ?? "PUT"),
    mayResume: headers.has("Upload-Limit"),
    mayJoin: /\bconcatenation\b/.test(headers.get("Tus-Extension") ?? "") && !isMultiplexed(),
    maxAppendBytes: Number(limit ?? ASSUMED.maxAppendBytes),
  };
}

/** Whether this page came over HTTP/2 or later: then all requests share one connection, and parts gain nothing. */
function isMultiplexed(): boolean {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  return /^h[23]/.test(navigation?.nextHopProtocol ?? "");
}
