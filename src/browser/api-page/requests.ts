/** A request that the viewer is about to send. It takes what is changed in it. */
export interface ViewerRequest {
  url: string;
  headers: Record<string, string>;
  credentials?: RequestCredentials;
}

/** What came of it. */
export interface ViewerResponse {
  readonly url: string;
  readonly status: number;
}

/** The type of any content is none: a browser knows that of a file. */
const ANY_TYPE = "*/*";

/**
 * Makes a request of the viewer one that the service takes. `service` is the URL that the service stands at, without a `/` at its end. What goes elsewhere is left as it is.
 */
export function prepareRequest(request: ViewerRequest, service: string): ViewerRequest {
  if (!request.url.startsWith(`${service}/`)) return request;
  request.url = withSlashes(request.url, `${service}/home/`);
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.toLowerCase() === "content-type" && value === ANY_TYPE) delete request.headers[name];
  }
  // Each of the two keeps a browser from asking for name and password itself, in a box of its own, when they are wrong or missing.
  const isIdentified = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
  if (isIdentified) request.credentials = "omit";
  else request.headers["X-Requested-With"] = "XMLHttpRequest";
  return request;
}

/**
 * The `/` of a path stands for itself again, which the viewer has encoded as if the whole path were one name. It stays encoded, and is refused, where a browser would take a
 * segment for a way out of the folder: `..%2f` is not to become `../`.
 */
function withSlashes(url: string, home: string): string {
  if (!url.startsWith(home)) return url;
  const end = url.slice(home.length).search(/[?#]/);
  const path = end < 0 ? url.slice(home.length) : url.slice(home.length, home.length + end);
  const split = path.replace(/%2f/gi, "/");
  const isSafe = !split.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (isSafe) return home + split + url.slice(home.length + path.length);
  // What no slash is left encoded in would be taken for that way out as it is.
  return /%2f/i.test(path) ? url : `${home}${path.replace(/\/?$/, "%2F")}${url.slice(home.length + path.length)}`;
}
