/**
 * The seconds that a lock is granted for, by the `Timeout` header (RFC 4918 10.7): the first value of the list that is
 * understood, but at least 1 and at most `maxSeconds`. `Infinite`, and no value that is understood, is `maxSeconds`.
 */
export function parseTimeout(headers: Headers, maxSeconds: number): number {
  for (const value of (headers.get("timeout") ?? "").split(",")) {
    const [, infinite, seconds] = /^[ \t]*(?:(infinite)|second-(\d+))[ \t]*$/i.exec(value) ?? [];
    if (infinite !== undefined) return maxSeconds;
    if (seconds !== undefined) return Math.min(Math.max(Number(seconds), 1), maxSeconds);
  }
  return maxSeconds;
}
