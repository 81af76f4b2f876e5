import type { Connection } from "../../contracts/connection.ts";
import { isSecure } from "../request-target.ts";

/** A host and a port, without user information. */
const AUTHORITY = /^(?:[a-z0-9._~!$&'()*+,;=%-]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;

/**
 * The origin that clients reach the service by: `publicOrigin`, else the one that the request was sent to. Empty if
 * that one is invalid. No header of a proxy counts, because a client could send it.
 */
export function toOwnOrigin(
  { request, connection }: { readonly request: Request; readonly connection: Connection },
  publicOrigin: string,
): string {
  if (publicOrigin !== "") return publicOrigin;
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const url = `${isSecure(request, connection) ? "https" : "http"}://${host}`;
  return AUTHORITY.test(host) && URL.canParse(url) ? new URL(url).origin : "";
}
