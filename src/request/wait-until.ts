import type { RequestContext } from "./context.ts";

/** Keeps a runtime alive that stops at the end of a request, until some work has ended. */
export function waitUntil(
  { connection, report }: Pick<RequestContext, "connection" | "report">,
  work: Promise<void>,
): void {
  try {
    connection.waitUntil?.(work);
  } catch (error) {
    // The host's function: its failure must not fail the request, which may have stored a file already.
    report(error);
  }
}
