import { beforeAll, describe, expect, it } from "vitest";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { LINK_SECRET } from "../support/links.ts";
import { VOCABULARY } from "../support/openapi/check-request.ts";
import { type ApiDocument, toOperations } from "../support/openapi/document.ts";
import { findReadNames } from "../support/openapi/read-names.ts";
import { createTestService } from "../support/service.ts";

/** Fields that are read and are no parameters, and where else the description has them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  accept: "as the representations of answers",
  "content-type": "as those of bodies",
  "accept-encoding": "as `Content-Encoding` of responses: HTTP clients write it by themselves",
  authorization: "as a way to log in",
  cookie: "as a way to log in",
  origin: "of the service as a whole: browsers write it",
  referer: "of the service as a whole: browsers write it",
  "access-control-request-method": "of the service as a whole: browsers write it",
  "sec-fetch-mode": "of the service as a whole: browsers write it",
  "x-messages": "nowhere: only the script of the pages sends it",
  "user-agent": "nowhere: it tells browsers from other programs",
  "sec-fetch-site": "of the service as a whole: browsers write it",
  depth: "nowhere: only methods of WebDAV have it, which OpenAPI has no place for",
  destination: "nowhere: only methods of WebDAV have it, which OpenAPI has no place for",
  if: "nowhere: only WebDAV clients send it, if the option is on",
  "lock-token": "nowhere: only WebDAV clients send it, if the option is on",
  timeout: "nowhere: only methods of WebDAV have it, which OpenAPI has no place for",
  overwrite: "nowhere: only methods of WebDAV have it, which OpenAPI has no place for",
  "x-expected-entity-length": "nowhere: Finder sends it with a PUT, if the option is on",
  "x-oc-mtime": "nowhere: WebDAV clients send it with a PUT, if the option is on",
  host: "nowhere: it is part of the URL (RFC 9110 7.2)",
  "content-length": "nowhere: it is how the body is sent (RFC 9112 6)",
  "transfer-encoding": "nowhere: it is how the body is sent (RFC 9112 6)",
  "content-range": "in the words of the only request that it refuses",
  forwarded: "nowhere: a proxy writes it",
  via: "nowhere: a proxy writes it",
  "x-forwarded-for": "nowhere: a proxy writes it",
  "x-real-ip": "nowhere: a proxy writes it",
  "x-bytes": "nowhere: a proxy writes it, to a URL that is for it alone",
  "x-completed": "nowhere: a proxy writes it, to a URL that is for it alone",
  expect: "nowhere: the client's HTTP library writes it",
  purpose: "nowhere: browsers write it, and links with limited uses refuse it",
  "sec-purpose": "nowhere: browsers write it, and links with limited uses refuse it",
  brief: "nowhere: it is for PROPFIND, a method that OpenAPI 3.0.3 cannot describe",
  "x-text": "nowhere: it is what a platform is tried by",
};

/** Fields that the options name: the description has them by that name, or they are a proxy's. */
const NAMED_BY_OPTIONS = [
  "endpoints/folders/post-form.ts: metadataFields.header",
  "http/forwarded.ts: name",
  "uploads/metadata-header.ts: header",
];

const read = { headers: [] as readonly string[], query: [] as readonly string[], open: [] as readonly string[] };
const documented = { header: [] as readonly string[], query: [] as readonly string[] };

beforeAll(async () => {
  const { Headers, URLSearchParams } = findReadNames();
  read.headers = [...Headers.names].sort();
  read.query = [...URLSearchParams.names].sort();
  read.open = [...Headers.open, ...URLSearchParams.open].sort();

  const { call } = await createTestService({
    links: { secret: LINK_SECRET },
    digests: {},
    idempotency: { store: createMemoryKeyValueStore() },
  });
  const { text } = await call("GET", "/__svc__/openapi.json", { as: null });
  const parameters = [...toOperations(JSON.parse(text) as ApiDocument).values()].flatMap((one) => one.parameters);
  const namesIn = (place: string) => [
    ...new Set(parameters.filter((one) => one.in === place).map(({ name }) => name.toLowerCase())),
  ];
  documented.header = namesIn("header").sort();
  documented.query = namesIn("query").sort();
}, 120_000);

describe("what the code of the service reads of a request", () => {
  it("is in the description where it is a header, and nothing else is there", () => {
    expect(read.headers.filter((name) => ELSEWHERE[name] === undefined)).toEqual(documented.header);
  });

  it("is in the description where it is of the query, and nothing else is there", () => {
    expect(read.query).toEqual(documented.query);
  });

  it("has a name in the code, but what the options name", () => {
    expect(read.open).toEqual(NAMED_BY_OPTIONS);
  });

  it("is still read where the description has it elsewhere", () => {
    expect(Object.keys(ELSEWHERE).filter((name) => !read.headers.includes(name))).toEqual([]);
  });

  it("is what requests of the tests are looked through for", () => {
    expect(documented.header.filter((name) => !VOCABULARY.includes(name))).toEqual([]);
  });
});
