/** Whether a method reads a resource: GET, or HEAD, which differs only in that its response has no content. */
export function isGetOrHead(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS", "PROPFIND"];

/** Whether a method changes nothing (RFC 9110 9.2.1, RFC 4918 9.1). */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.includes(method);
}

/** The methods that only WebDAV has (RFC 4918 9). MKCOL is not one of them: the service has it without WebDAV. */
export const WEBDAV_METHODS: readonly string[] = ["PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK"];
const OTHER_METHODS: readonly string[] = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "MKCOL", "OPTIONS"];

/** The methods that one or more URLs of the service have. Clients may invent any number of others. */
export const KNOWN_METHODS: ReadonlySet<string> = new Set([...OTHER_METHODS, ...WEBDAV_METHODS]);

/** Whether only WebDAV has a method. */
export function isWebdavMethod(method: string): boolean {
  return WEBDAV_METHODS.includes(method);
}
