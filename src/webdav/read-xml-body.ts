import { createError } from "../http/errors.ts";
import { readBody, readContentLength, requireNoContentEncoding } from "../http/request-body.ts";
import { requireXmlMediaType, XML_LIMITS, type XmlLimits } from "./xml.ts";

/**
 * Reads a complete XML body, for `parseXmlBody` and the parsers that use it. No body is no bytes, whatever its
 * `Content-Type` says.
 * @throws HttpError `too-large` for more than `maxBytes`, as soon as it is known, and `unsupported-media-type` if the
 * body is not XML or has a content encoding.
 */
export async function readXmlBody(
  request: Request,
  { maxBytes }: Pick<XmlLimits, "maxBytes"> = XML_LIMITS,
): Promise<Uint8Array> {
  const { headers } = request;
  requireNoContentEncoding(headers);
  if ((readContentLength(headers) ?? 0) > maxBytes) throw tooLarge(maxBytes);
  let buffer: Uint8Array | undefined;
  let size = 0;
  for await (const chunk of readBody(request)) {
    if (chunk.byteLength === 0) continue;
    if (size === 0) requireXmlMediaType(headers);
    if (size + chunk.byteLength > maxBytes) throw tooLarge(maxBytes);
    // One buffer, so a body of tiny chunks costs no more than others.
    buffer ??= new Uint8Array(maxBytes);
    buffer.set(chunk, size);
    size += chunk.byteLength;
  }
  return buffer === undefined ? new Uint8Array() : buffer.subarray(0, size);
}

function tooLarge(maxBytes: number): Error {
  return createError("body-too-large", { values: { max: maxBytes } });
}
