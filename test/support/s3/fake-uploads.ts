import { createHash } from "node:crypto";
import type { refusal, S3Call } from "./fake.ts";

/** An unfinished multipart upload. */
interface Upload {
  readonly key: string;
  /** The headers of the object. */
  readonly headers: Headers;
  readonly initiated: string;
  readonly parts: ReadonlyMap<number, Part>;
}

interface Part {
  readonly body: string;
  readonly etag: string;
}

/** Stores the joined parts with an entity-tag, if the conditions of the call hold. */
type Put = (body: string, headers: Headers, etag: string) => Response;

/** The multipart uploads of a store. */
export interface FakeUploads {
  readonly uploads: ReadonlyMap<string, Upload>;
  /** Answers a request about uploads; `undefined` for any other request. */
  serveUpload(call: S3Call, put: Put): Response | undefined;
}

/** Creates the multipart uploads of one store. `existing`: those that it starts with. */
export function createFakeUploads(refuse: typeof refusal, existing: FakeUploads["uploads"] = new Map()): FakeUploads {
  const uploads = new Map(existing);
  let begun = 0;

  function serveUpload(call: S3Call, put: Put): Response | undefined {
    const { method, query } = call;
    if (query.has("uploads")) return method === "POST" ? begin(call) : list(query.get("prefix") ?? "");
    const id = query.get("uploadId");
    if (id === null) return undefined;
    const upload = uploads.get(id);
    if (upload === undefined) return refuse(404, "NoSuchUpload");
    if (method === "PUT") return addPart(id, upload, call);
    if (method === "POST") return complete(id, upload, call, put);
    if (method === "GET") return listParts(upload);
    uploads.delete(id);
    return new Response(null, { status: 204 });
  }

  function begin({ key, headers }: S3Call): Response {
    do {
      begun += 1;
    } while (uploads.has(`upload-${begun}`));
    const id = `upload-${begun}`;
    uploads.set(id, { key, headers, initiated: new Date().toISOString(), parts: new Map() });
    return new Response(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  function list(prefix: string): Response {
    const found = [...uploads].filter(([, { key }]) => key.startsWith(prefix));
    const entries = found.map(
      ([id, { key, initiated }]) =>
        `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${initiated}</Initiated></Upload>`,
    );
    return new Response(`<ListMultipartUploadsResult>${entries.join("")}</ListMultipartUploadsResult>`);
  }

  function addPart(id: string, upload: Upload, { query, body }: S3Call): Response {
    const number = Number(query.get("partNumber"));
    const etag = toTag(body);
    uploads.set(id, { ...upload, parts: new Map([...upload.parts, [number, { body, etag }]]) });
    return new Response(null, { headers: { etag } });
  }

  function listParts({ parts }: Upload): Response {
    const entries = [...parts.keys()].map((number) => `<Part><PartNumber>${number}</PartNumber></Part>`);
    return new Response(`<ListPartsResult>${entries.join("")}</ListPartsResult>`);
  }

  /** The conditions are in this request. Everything else was in the one that created the upload. */
  function complete(id: string, upload: Upload, { body, headers }: S3Call, put: Put): Response {
    const numbers = [...body.matchAll(/<PartNumber>(\d+)</g)].map(([, number]) => Number(number));
    const tags = [...body.matchAll(/<ETag>([^<]*)</g)].map(([, tag = ""]) => tag.replaceAll("&#34;", '"'));
    const parts = numbers.flatMap((number) => upload.parts.get(number) ?? []);
    const isSame = parts.length === numbers.length && parts.every(({ etag }, index) => etag === tags[index]);
    if (!isSame) return refuse(400, "InvalidPart");
    const kept = new Headers(upload.headers);
    for (const name of ["if-match", "if-none-match"]) {
      const condition = headers.get(name);
      if (condition !== null) kept.set(name, condition);
    }
    const stored = put(parts.map((part) => part.body).join(""), kept, toTag(tags.join("")));
    if (stored.status !== 200) return stored;
    uploads.delete(id);
    const etag = stored.headers.get("etag") ?? "";
    return new Response(`<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`, {
      headers: { etag },
    });
  }

  return { uploads, serveUpload };
}

/** Returns the entity-tag that a store gives to what has this content. */
export function toTag(body: string): string {
  return `"${createHash("md5").update(body).digest("hex")}"`;
}
