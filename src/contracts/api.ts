/** An API of the service (1.1). All APIs share one URL space. */
export type Api = "rest" | "webdav" | "browser";
