import { createError } from "../http/errors.ts";
import type { Target } from "../http/request-target.ts";
import { hostnamesOf, type OwnHosts, parseReference } from "./reference.ts";

/**
 * Parses the `Destination` header (RFC 4918 10.3). The result is still encoded, and may be outside of the service.
 * @throws HttpError `malformed` if it is absent or malformed, and `bad-gateway` if it is on another host. The values of
 * that error are `destination`, the host in the header, and `host`, those of the service.
 */
export function parseDestination(headers: Headers, own: OwnHosts): Target {
  const value = headers.get("destination");
  if (value === null) throw createError("destination-header-missing");
  const reference = parseReference(value, own);
  if (reference.kind === "malformed") throw createError("destination-header-invalid");
  if (reference.kind === "own") return reference.target;
  const values = { destination: reference.host, host: hostnamesOf(own).join(", ") };
  throw createError("destination-elsewhere", { values });
}
