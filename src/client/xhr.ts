/** Sends an upload by XMLHttpRequest, as `fetch` does not report how much of a body is sent. */
export function sendByXhr(
  url: string,
  { method = "PUT", headers, signal }: SentRequest,
  body: Blob,
  onSent: (bytes: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onSent(loaded);
    request.onload = () => resolve(toResponse(request));
    request.onerror = () => reject(new TypeError("The connection failed."));
    request.onabort = () => reject(signal?.reason);
    request.onloadend = () => signal?.removeEventListener("abort", abort);
    signal?.addEventListener("abort", abort);
    request.send(body);
  });
}

/** What is read of a request. */
interface SentRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | null | undefined;
}

/** The header fields of responses to uploads that the client reads. */
const FIELDS = [
  "Error-Code",
  "Retry-After",
  "ETag",
  "Last-Modified",
  "Upload-Offset",
  "Upload-Complete",
  "Upload-Limit",
];

function toResponse(request: XMLHttpRequest): Response {
  const headers = new Headers();
  for (const name of FIELDS) {
    const value = request.getResponseHeader(name);
    if (value !== null) headers.set(name, value);
  }
  return new Response(request.responseText || null, { status: request.status, headers });
}
