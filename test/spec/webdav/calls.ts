import {
  type Answer,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

const files = {
  "/alice/a.txt": "a",
  "/alice/f/b & c.txt": "bc",
  "/alice/f/sub/deep.txt": "deep",
  "/alice/g/": "",
};

/** The methods are not in the OpenAPI document, which has no place for them. */
export const undescribed = "OpenAPI has no place for the methods of WebDAV";

/** A service with the option `webdav` and some files of alice. The account root sees them below `/alice/`. */
export function createDav(options: TestServiceOptions = {}): Promise<TestService> {
  return createTestService({ files, webdav: {}, ...options });
}

/** Sends a request of a WebDAV client. */
export function call(
  test: TestService,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
  options: CallOptions = {},
): Promise<Answer> {
  const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/xml" };
  return test.call(method, path, { ...options, headers: { ...type, ...headers }, body, undescribed });
}

/** The contents of all `href` elements. */
export function hrefsOf({ text }: Answer): readonly string[] {
  return [...text.matchAll(/<D:href>([^<]*)<\/D:href>/g)].map(([, href = ""]) => href);
}

/** The body of a PROPFIND for some properties. */
export function prop(names: string): string {
  return `<propfind xmlns="DAV:" xmlns:x="urn:x"><prop>${names}</prop></propfind>`;
}

/** The body of a PROPPATCH that sets properties. */
export function set(xml: string): string {
  return `<d:propertyupdate xmlns:d="DAV:" xmlns:x="urn:x"><d:set><d:prop>${xml}</d:prop></d:set></d:propertyupdate>`;
}
