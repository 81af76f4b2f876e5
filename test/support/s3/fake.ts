import { isAscii } from "node:buffer";
import { createHash } from "node:crypto";
import { createS3Storage, type S3Fetch, type S3Storage, type S3StorageOptions } from "../../../src/storage/s3.ts";
import { createFakeUploads, type FakeUploads, toTag } from "./fake-uploads.ts";

/** One request as the store gets it. */
export interface S3Call {
  readonly method: string;
  /** The part of the path after the bucket, decoded. */
  readonly key: string;
  /** As it was sent. */
  readonly url: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: string;
  readonly signal: AbortSignal | undefined;
}

/** Answers a call in place of the store. For `undefined` the store answers, as it does for `serve`. */
export type S3Script = (
  call: S3Call,
  number: number,
  serve: () => Response,
) => Response | Promise<Response> | undefined;

/** What a store does with conditions: obeys them, answers 501, ignores them, or only compares tags without quotes. */
export type S3Conditions = "kept" | "refused" | "ignored" | "bare";

/** What a store has of an object. */
export interface S3Object {
  readonly body: string;
  readonly headers: Headers;
}

/** A storage on a store in memory. The store acts like real ones, unless the script answers. */
export interface S3Fake {
  readonly storage: S3Storage;
  /** Answers requests to the store. */
  readonly fetch: S3Fetch;
  readonly calls: readonly S3Call[];
  readonly objects: Map<string, S3Object>;
  /** The unfinished multipart uploads. */
  readonly uploads: FakeUploads["uploads"];
}

/** What a store starts with. */
export type S3Content = Pick<S3Fake, "objects" | "uploads">;

/** Creates one. It signs with keys made for tests, which no test may find anywhere else. */
export function createFake(
  script: S3Script = () => undefined,
  options: Partial<S3StorageOptions> = {},
  conditions: S3Conditions = "kept",
  existing?: S3Content,
): S3Fake {
  const calls: S3Call[] = [];
  const objects: S3Fake["objects"] = new Map(existing?.objects);
  const { uploads, serveUpload } = createFakeUploads(refusal, existing?.uploads);

  async function answer(url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(url);
    const key = decodeURIComponent(pathname).replace(/^\/bucket\/?/, "");
    const body = await readText(new Response(init.body ?? null));
    const call: S3Call = {
      method: init.method ?? "GET",
      key,
      url,
      query: searchParams,
      headers: new Headers(init.headers),
      body,
      signal: init.signal ?? undefined,
    };
    calls.push(call);
    return (await script(call, calls.length, () => serve(call))) ?? serve(call);
  }

  function serve(call: S3Call): Response {
    const { method, key, query } = call;
    if (query.has("list-type")) return list(query);
    if (query.has("delete")) return removeAll(call);
    const source = call.headers.get("x-amz-copy-source");
    if (source !== null) return copy(call, source);
    const ofUpload = serveUpload(call, (body, headers, etag) => put({ ...call, body, headers }, etag));
    if (ofUpload !== undefined) return ofUpload;
    if (method === "PUT") return put(call);
    if (method === "DELETE") objects.delete(key);
    if (method === "DELETE") return new Response(null, { status: 204 });
    const found = objects.get(key);
    if (found === undefined) return refusal(404, "NoSuchKey", method);
    const headers = new Headers(found.headers);
    headers.set("content-length", String(found.body.length));
    return new Response(method === "HEAD" ? null : found.body, { headers });
  }

  function put({ key, body, headers }: Pick<S3Call, "key" | "body" | "headers">, etag = toTag(body)): Response {
    const [ifMatch, ifNoneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
    const tag = objects.get(key)?.headers.get("etag") ?? undefined;
    const refused = judge(tag, ifMatch, ifNoneMatch);
    if (refused !== undefined) return refused;
    const kept = new Headers({ etag, "last-modified": "Sun, 22 Nov 2026 00:00:00 GMT" });
    for (const [name, value] of headers) if (name.startsWith("x-amz-meta-")) kept.set(name, value);
    objects.set(key, { body, headers: kept });
    return new Response(null, { headers: { etag } });
  }

  /** Copies an object, or a range of one into a part. The outcome is in the body, as stores report it. */
  function copy(call: S3Call, source: string): Response {
    const found = objects.get(decodeURIComponent(source).replace(/^\/bucket\//, ""));
    if (found === undefined) return refusal(404, "NoSuchKey");
    const wanted = call.headers.get("x-amz-copy-source-if-match");
    if (wanted !== null && wanted !== found.headers.get("etag")) return refusal(412, "PreconditionFailed");
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(call.headers.get("x-amz-copy-source-range") ?? "") ?? [];
    const body = first === undefined ? found.body : found.body.slice(Number(first), Number(last) + 1);
    const part = serveUpload({ ...call, body }, () => refusal(400, "InvalidRequest"));
    const stored = part ?? put({ ...call, body });
    if (stored.status !== 200) return stored;
    const name = part === undefined ? "CopyObjectResult" : "CopyPartResult";
    return new Response(`<${name}><ETag>${stored.headers.get("etag")}</ETag></${name}>`);
  }

  function judge(tag: string | undefined, ifMatch: string | null, ifNoneMatch: string | null): Response | undefined {
    if (conditions === "ignored" || (ifMatch ?? ifNoneMatch) === null) return undefined;
    if (conditions === "refused") return refusal(501, "NotImplemented");
    if (ifMatch !== null && tag === undefined) return refusal(404, "NoSuchKey");
    const own = conditions === "bare" ? tag?.replaceAll('"', "") : tag;
    const isMet = ifMatch === null ? tag === undefined : ifMatch === own;
    return isMet ? undefined : refusal(412, "PreconditionFailed");
  }

  function list(query: URLSearchParams): Response {
    const prefix = query.get("prefix") ?? "";
    const delimiter = query.get("delimiter");
    const token = query.get("continuation-token");
    const start = token === null ? (query.get("start-after") ?? "") : Buffer.from(token, "base64url").toString();
    const keys = [...objects.keys()]
      .filter((key) => key.startsWith(prefix))
      .map((key) => {
        const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
        return end === -1 ? key : key.slice(0, end + 1);
      });
    // A prefix counts as a key: it is listed unless it comes before the start.
    const all = [...new Set(keys)].filter((key) => Buffer.compare(Buffer.from(key), Buffer.from(start)) > 0);
    all.sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    const most = Number(query.get("max-keys"));
    const page = all.slice(0, most);
    const isFolder = (key: string): boolean => delimiter !== null && key.endsWith(delimiter) && key !== prefix;
    const next = all.length > most ? Buffer.from(page.at(-1) ?? "").toString("base64url") : undefined;
    return listing(
      page.filter((key) => !isFolder(key)),
      page.filter(isFolder),
      next,
      (key) => objects.get(key),
    );
  }

  function removeAll({ body, headers }: S3Call): Response {
    const md5 = createHash("md5").update(body).digest("base64");
    if (headers.get("content-md5") !== md5) return refusal(400, "BadDigest");
    for (const [, key = ""] of body.matchAll(/<Key>([^<]*)<\/Key>/g)) objects.delete(key);
    return new Response("<DeleteResult/>");
  }

  const storage = createS3Storage({
    bucket: "bucket",
    endpoint: "http://store.test",
    accessKeyId: "ACCESSKEY",
    secretAccessKey: "SECRETKEY",
    retryDelaySeconds: 0.001,
    fetch: answer,
    ...options,
  });
  return { storage, fetch: answer, calls, objects, uploads };
}

/** A page of a listing; names of folders end with `/`. Without `find`, objects have seven bytes and the tag `tag`. */
export function listing(
  keys: readonly string[],
  folders: readonly string[] = [],
  token?: string,
  find: (key: string) => S3Object | undefined = () => undefined,
): Response {
  const file = (key: string) => {
    const { body, headers } = find(key) ?? { body: undefined, headers: new Headers({ etag: '"tag"' }) };
    const etag = headers.get("etag")?.replaceAll('"', "&quot;");
    return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>2026-11-22T00:00:00.789Z</LastModified><ETag>${etag}</ETag><Size>${body?.length ?? "007"}</Size></Contents>`;
  };
  const folder = (key: string) => `<CommonPrefixes><Prefix>${encodeURIComponent(key)}</Prefix></CommonPrefixes>`;
  const next = token === undefined ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`;
  return new Response(
    `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>${token !== undefined}</IsTruncated>${next}${keys.map(file).join("\n")}${folders.map(folder).join("")}</ListBucketResult>`,
  );
}

/** An error in the form of S3. */
export function refusal(status: number, code: string, method = "GET", headers: HeadersInit = {}): Response {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>quotes ACCESSKEY</Message></Error>`;
  return new Response(method === "HEAD" ? null : text, { status, headers });
}

/** Reads a body as `text()` does, in a tenth of the time where it is large and has only characters of ASCII. */
async function readText(response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer());
  return bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
}
