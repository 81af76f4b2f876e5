import { createError } from "../http/errors.ts";

/**
 * Refuses an upload whose `X-Expected-Entity-Length` is above the limit, before its body is read: Finder sends bodies
 * without `Content-Length`. It is only a hint, so anything but a number is ignored.
 * @throws HttpError `too-large`
 */
export function checkExpectedLength(headers: Headers, maxBytes: number | undefined): void {
  const value = headers.get("x-expected-entity-length") ?? "";
  const isTooLarge = maxBytes !== undefined && /^\d{1,16}$/.test(value) && Number(value) > maxBytes;
  if (isTooLarge) throw createError("too-large", { values: { max: maxBytes } });
}
