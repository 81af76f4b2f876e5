import { createHash, randomUUID } from "node:crypto";
import type { GcsRefusal, GcsRequest } from "./gcs-rules.ts";

/** What a request gets. */
export interface GcsResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

interface GcsObject {
  readonly content: Buffer;
  readonly etag: string;
  readonly generation: number;
  readonly modified: Date;
  /** The type, and the metadata of its writer. */
  readonly headers: Readonly<Record<string, string>>;
}

interface GcsUpload {
  readonly key: string;
  readonly initiated: Date;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, { readonly content: Buffer; readonly etag: string }>;
}

/** A bucket in memory. */
export interface GcsBucket {
  readonly objects: ReadonlyMap<string, GcsObject>;
  readonly uploads: ReadonlyMap<string, GcsUpload>;
  /** Stores an object without any check. */
  store(key: string, content: Buffer): void;
  respond(request: GcsRequest): GcsResponse;
  refuse(refusal: GcsRefusal): GcsResponse;
}

const MEBIBYTE = 1_048_576;
const KEPT = /^(?:cache-control|content-(?:disposition|encoding|language|type)|x-amz-meta-.+)$/;
const NAMESPACE = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"';

/** Creates one, which is empty. */
export function createGcsBucket(name: string): GcsBucket {
  const objects = new Map<string, GcsObject>();
  const uploads = new Map<string, GcsUpload>();
  let generation = 1_700_000_000_000_000;

  function respond(request: GcsRequest): GcsResponse {
    const { method, path, query } = request;
    const [, bucket = "", ...rest] = path.split("/");
    if (decodeURIComponent(bucket) !== name) return refuse({ status: 404, code: "NoSuchBucket", details: "" });
    const key = decodeURIComponent(rest.join("/"));
    if (/[\r\n]/.test(key)) return refuse({ status: 400, code: "InvalidObjectName", details: "" });
    if (key === "") return respondOfBucket(request);
    const id = query.get("uploadId");
    if (id !== null) return respondOfUpload(id, key, request);
    return query.has("uploads") && method === "POST" ? beginUpload(key, request) : respondOfObject(key, request);
  }

  function respondOfObject(key: string, request: GcsRequest): GcsResponse {
    const { method, headers } = request;
    if (method === "PUT") return headers.has("x-amz-copy-source") ? copy(key, request) : put(key, request);
    if (method === "GET" || method === "HEAD") return read(key, request);
    if (method === "DELETE") return objects.delete(key) ? { status: 204 } : noSuchKey(key);
    return refuse({ status: 405, code: "MethodNotAllowed", details: "" });
  }

  function respondOfBucket(request: GcsRequest): GcsResponse {
    const { method, query } = request;
    if (method === "POST" && query.has("delete")) return removeAll(request.body.toString());
    if (method === "GET" && query.has("uploads")) return listUploads(query.get("prefix") ?? "");
    if (method === "GET" && query.get("list-type") === "2") return list(query);
    return refuse({ status: 501, code: "NotImplemented", details: "" });
  }

  function store(
    key: string,
    content: Buffer,
    headers: Readonly<Record<string, string>> = {},
    etag?: string,
  ): GcsObject {
    generation += 1;
    const tag = etag ?? `"${createHash("md5").update(content).digest("hex")}"`;
    const object = { content, etag: tag, generation, modified: new Date(), headers };
    objects.set(key, object);
    return object;
  }

  function put(key: string, { headers, body }: GcsRequest): GcsResponse {
    return { status: 200, headers: toHeaders(store(key, body, toKept(headers))) };
  }

  function copy(key: string, { headers }: GcsRequest): GcsResponse {
    const source = decodeURIComponent(headers.get("x-amz-copy-source") ?? "").replace(`/${name}/`, "");
    const found = objects.get(source);
    if (found === undefined) return noSuchKey(source);
    const wanted = headers.get("x-amz-copy-source-if-match");
    if (wanted !== null && wanted !== found.etag) return preconditionFailed();
    const isReplaced = headers.get("x-amz-metadata-directive") === "REPLACE";
    const { etag, modified } = store(key, found.content, isReplaced ? toKept(headers) : found.headers);
    const time = `<LastModified>${modified.toISOString()}</LastModified>`;
    return xml(`<CopyObjectResult ${NAMESPACE}>${time}<ETag>${escapeText(etag)}</ETag></CopyObjectResult>`);
  }

  function read(key: string, { headers, query }: GcsRequest): GcsResponse {
    const found = objects.get(key);
    if (found === undefined) return noSuchKey(key);
    const [ifMatch, ifNoneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
    if (ifMatch !== null && ifMatch !== found.etag) return preconditionFailed();
    if (ifNoneMatch === found.etag) return { status: 304, headers: toHeaders(found) };
    const shown = { ...toHeaders(found), ...toOverrides(query) };
    const { byteLength } = found.content;
    const [, first = "", last = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.get("range") ?? "") ?? [];
    if (first === "") return { status: 200, headers: shown, body: found.content };
    if (Number(first) >= byteLength) return refuse({ status: 416, code: "InvalidRange", details: "" });
    const end = Math.min(last === "" ? byteLength : Number(last) + 1, byteLength);
    const range = `bytes ${first}-${end - 1}/${byteLength}`;
    const body = found.content.subarray(Number(first), end);
    return { status: 206, headers: { ...shown, "content-range": range }, body };
  }

  function removeAll(text: string): GcsResponse {
    const keys = [...text.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = ""]) => unescapeText(key));
    if (keys.length > 1000) return refuse({ status: 400, code: "MalformedXML", details: "" });
    const results = keys.map((key) => {
      objects.delete(key);
      return `<Deleted><Key>${escapeText(key)}</Key></Deleted>`;
    });
    return xml(`<DeleteResult ${NAMESPACE}>${results.join("")}</DeleteResult>`);
  }

  function list(query: URLSearchParams): GcsResponse {
    const encode = query.get("encoding-type") === "url" ? encodeURIComponent : escapeText;
    const members = [...findMembers(query)];
    const most = Math.min(Number(query.get("max-keys") ?? 1000), 1000);
    const isTruncated = members.length > most;
    const shown = members.slice(0, most);
    const next = Buffer.from(shown.at(-1) ?? "").toString("base64");
    const more = isTruncated ? `<NextContinuationToken>${next}</NextContinuationToken>` : "";
    const type = query.has("encoding-type") ? "<EncodingType>url</EncodingType>" : "";
    const head = `<Name>${name}</Name><KeyCount>${shown.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>`;
    const [delimiter, start] = [query.get("delimiter"), query.get("prefix")?.length];
    const isPrefix = (member: string): boolean => delimiter !== null && member.includes(delimiter, start);
    const entries = shown.map((member) => (isPrefix(member) ? toPrefix(member, encode) : toContents(member, encode)));
    return xml(`<ListBucketResult ${NAMESPACE}>${head}${type}${more}${entries.join("")}</ListBucketResult>`);
  }

  /** The keys and common prefixes of a listing, in the order of their bytes. */
  function findMembers(query: URLSearchParams): ReadonlySet<string> {
    const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
    const token = query.get("continuation-token");
    const after = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64").toString();
    const members = new Set<string>();
    for (const key of [...objects.keys()].filter((one) => one.startsWith(prefix)).sort(compareBytes)) {
      const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
      const member = end < 0 ? key : key.slice(0, end + 1);
      // A token is the last member: after a common prefix, what is below it does not follow.
      if (compareBytes(token === null ? key : member, after) > 0) members.add(member);
    }
    return members;
  }

  function toContents(key: string, encode: (text: string) => string): string {
    const { etag, modified, content, generation: own } = objects.get(key) as GcsObject;
    const members = `<Generation>${own}</Generation><MetaGeneration>1</MetaGeneration><Size>${content.byteLength}</Size>`;
    const time = `<LastModified>${modified.toISOString()}</LastModified>`;
    return `<Contents><Key>${encode(key)}</Key>${members}${time}<ETag>${escapeText(etag)}</ETag></Contents>`;
  }

  function beginUpload(key: string, { headers }: GcsRequest): GcsResponse {
    const id = randomUUID();
    uploads.set(id, { key, initiated: new Date(), headers: toKept(headers), parts: new Map() });
    const members = `<Bucket>${name}</Bucket><Key>${escapeText(key)}</Key><UploadId>${id}</UploadId>`;
    return xml(`<InitiateMultipartUploadResult ${NAMESPACE}>${members}</InitiateMultipartUploadResult>`);
  }

  function respondOfUpload(id: string, key: string, request: GcsRequest): GcsResponse {
    const upload = uploads.get(id);
    if (upload?.key !== key) return refuse({ status: 404, code: "NoSuchUpload", details: "" });
    if (request.method === "PUT") return putPart(upload, request);
    if (request.method === "GET") return listParts(upload);
    if (request.method === "POST") return complete(id, upload, request.body.toString());
    uploads.delete(id);
    return { status: 204 };
  }

  /** There are no copies of parts: the header that asks for one is not looked at, and the part is what was sent. */
  function putPart({ parts }: GcsUpload, { query, body }: GcsRequest): GcsResponse {
    const number = Number(query.get("partNumber"));
    if (!(number >= 1 && number <= 10_000)) return refuse({ status: 400, code: "InvalidArgument", details: "" });
    const etag = `"${createHash("md5").update(body).digest("hex")}"`;
    parts.set(number, { content: body, etag });
    return { status: 200, headers: { etag } };
  }

  function listParts({ parts }: GcsUpload): GcsResponse {
    const entries = [...parts].map(
      ([number, { etag, content }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${escapeText(etag)}</ETag><Size>${content.byteLength}</Size></Part>`,
    );
    return xml(`<ListPartsResult ${NAMESPACE}>${entries.join("")}</ListPartsResult>`);
  }

  function complete(id: string, upload: GcsUpload, text: string): GcsResponse {
    const named = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>([^<]*)<\/ETag>/g)];
    const parts = named.map(([, number, etag = ""]) => {
      const part = upload.parts.get(Number(number));
      return part?.etag === unescapeText(etag) ? part : undefined;
    });
    if (parts.length === 0 || parts.includes(undefined)) {
      return refuse({ status: 400, code: "InvalidPart", details: "" });
    }
    const contents = parts.map((part) => part?.content ?? Buffer.alloc(0));
    if (contents.slice(0, -1).some(({ byteLength }) => byteLength < 5 * MEBIBYTE)) {
      return refuse({ status: 400, code: "EntityTooSmall", details: "" });
    }
    uploads.delete(id);
    // That of an object in parts is no hash.
    const etag = `"-${Buffer.from(String(generation)).toString("base64")}="`;
    const object = store(upload.key, Buffer.concat(contents), upload.headers, etag);
    const members = `<Bucket>${name}</Bucket><Key>${escapeText(upload.key)}</Key><ETag>${escapeText(object.etag)}</ETag>`;
    return xml(`<CompleteMultipartUploadResult ${NAMESPACE}>${members}</CompleteMultipartUploadResult>`);
  }

  function listUploads(prefix: string): GcsResponse {
    const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const entries = found.map(([id, { key, initiated }]) => {
      const time = `<Initiated>${initiated.toISOString()}</Initiated>`;
      return `<Upload><Key>${escapeText(key)}</Key><UploadId>${id}</UploadId>${time}</Upload>`;
    });
    return xml(`<ListMultipartUploadsResult ${NAMESPACE}>${entries.join("")}</ListMultipartUploadsResult>`);
  }

  return { objects, uploads, store, respond, refuse };
}

function refuse({ status, code, details }: GcsRefusal): GcsResponse {
  const error = `<Error><Code>${code}</Code><Message>${code}.</Message><Details>${escapeText(details)}</Details></Error>`;
  return { ...xml(error), status };
}

function noSuchKey(key: string): GcsResponse {
  return refuse({ status: 404, code: "NoSuchKey", details: `No such object: ${key}` });
}

function preconditionFailed(): GcsResponse {
  return refuse({ status: 412, code: "PreconditionFailed", details: "" });
}

function xml(text: string): GcsResponse {
  return { status: 200, body: `<?xml version='1.0' encoding='UTF-8'?>${text}` };
}

/** The headers of an object, for a request with keys of HMAC. */
function toHeaders({ content, etag, generation, modified, headers }: GcsObject): Record<string, string> {
  return {
    ...{ "cache-control": "private, max-age=0", "accept-ranges": "bytes", "content-type": "binary/octet-stream" },
    ...headers,
    ...{ etag, "last-modified": modified.toUTCString(), "x-goog-generation": `${generation}` },
    ...{ "x-goog-metageneration": "1", "x-goog-stored-content-encoding": "identity" },
    "x-goog-stored-content-length": `${content.byteLength}`,
  };
}

function toOverrides(query: URLSearchParams): Record<string, string> {
  const names = ["content-type", "content-disposition"];
  const given = names.map((name) => [name, query.get(`response-${name}`)] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

function toKept(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => KEPT.test(name)));
}

function toPrefix(prefix: string, encode: (text: string) => string): string {
  return `<CommonPrefixes><Prefix>${encode(prefix)}</Prefix></CommonPrefixes>`;
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function unescapeText(text: string): string {
  const decoded = text.replace(/&#(x?)([0-9a-f]+);/gi, (_all, isHex, digits) =>
    String.fromCodePoint(Number.parseInt(digits, isHex === "" ? 10 : 16)),
  );
  const names = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&" };
  return Object.entries(names).reduce((former, [name, sign]) => former.replaceAll(name, sign), decoded);
}
