/** A request that the viewer is about to send. Changes to this object take effect. */
export interface ViewerRequest {
  url: string;
  headers: Record<string, string>;
  credentials?: RequestCredentials;
}

/** The response to a request of the viewer. */
export interface ViewerResponse {
  readonly url: string;
  readonly status: number;
}

/** The viewer sends this range as a type. Without it, the browser sends the file's own type. */
const ANY_TYPE = "*/*";

/**
 * Adapts a request of the viewer to the service. `service` is the base URL of the service without a trailing `/`.
 * Requests to other URLs are not changed.
 */
export function prepareRequest(request: ViewerRequest, service: string): ViewerRequest {
  if (!request.url.startsWith(`${service}/`)) return request;
  request.url = withSlashes(request.url, `${service}/home/`);
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.toLowerCase() === "content-type" && value === ANY_TYPE) delete request.headers[name];
  }
  // Each of the two keeps the browser from opening its own login dialog when credentials are wrong or missing.
  const isIdentified = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
  if (isIdentified) request.credentials = "omit";
  else request.headers["X-Requested-With"] = "XMLHttpRequest";
  return request;
}

/**
 * Decodes each `%2F` of a path, because the viewer encodes the complete path as if it were one name. If a segment is
 * `.` or `..`, it stays encoded and the service rejects it: a browser would resolve `../`, so `..%2f` must not become
 * `../`.
 */
function withSlashes(url: string, home: string): string {
  if (!url.startsWith(home)) return url;
  const end = url.slice(home.length).search(/[?#]/);
  const path = end < 0 ? url.slice(home.length) : url.slice(home.length, home.length + end);
  const split = path.replace(/%2f/gi, "/");
  const isSafe = !split.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (isSafe) return home + split + url.slice(home.length + path.length);
  // Without any encoded slash, the browser would resolve the `..`: add one, so that the service rejects the path.
  return /%2f/i.test(path) ? url : `${home}${path.replace(/\/?$/, "%2F")}${url.slice(home.length + path.length)}`;
}
