import { createHash, createHmac } from "node:crypto";
import { encodePart } from "../../../src/storage/object-store/http/encode.ts";

/** HMAC keys of a service account. */
export interface GcsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** A request behind the front end. */
export interface GcsRequest {
  readonly method: string;
  readonly target: string;
  /** As it was sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly body: Buffer;
}

/** Why a request is refused. */
export interface GcsRefusal {
  readonly status: number;
  readonly code: string;
  readonly details: string;
}

/** The parameters that the reference names, and those of signatures in the URL. Others are an error. */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...["continuation-token", "delete", "delimiter", "encoding-type", "fetch-owner", "list-type", "max-keys", "prefix"],
  ...["start-after", "uploads", "uploadId", "partNumber", "max-parts", "max-uploads", "part-number-marker"],
  ...["key-marker", "upload-id-marker", "generation", "response-content-disposition", "response-content-type"],
  ...["X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature"],
]);
/** The headers of S3 that have a counterpart there. Checksums, trailers and conditions of copies' targets have none. */
const HEADERS =
  /^x-amz-(?:acl|content-sha256|copy-source(?:-if-(?:match|none-match|modified-since|unmodified-since))?|date|meta-.+|metadata-directive|storage-class)$/;

/** Why a request is refused before its bucket is looked at; `undefined` if it is not. */
export function findRefusal(request: GcsRequest, keys: GcsKeys): GcsRefusal | undefined {
  const { method, query, headers, body } = request;
  if (!isSigned(request, keys)) return { status: 403, code: "SignatureDoesNotMatch", details: "" };
  const parameters = [...query.keys()].filter((name) => !PARAMETERS.has(name));
  if (parameters.length > 0) return invalid(`Invalid query parameter(s): [${parameters}]`);
  const unknown = [...headers.keys()].filter((name) => name.startsWith("x-amz-") && !HEADERS.test(name));
  if (unknown.length > 0) return invalid(`Unsupported header(s): [${unknown}]`);
  if (headers.get("content-encoding")?.includes("aws-chunked")) return invalid("aws-chunked");
  if (headers.has("transfer-encoding") && !headers.has("x-amz-decoded-content-length")) {
    return { status: 411, code: "MissingContentLength", details: "" };
  }
  // Only reads have conditions by entity-tags; those of writes are x-goog-if-generation-match.
  const isRead = method === "GET" || method === "HEAD";
  const conditions = ["if-match", "if-none-match"].filter((name) => !isRead && headers.has(name));
  if (conditions.length > 0) return invalid(`A condition of reads: [${conditions}]`);
  const md5 = headers.get("content-md5");
  if (md5 !== null && md5 !== createHash("md5").update(body).digest("base64")) {
    return { status: 400, code: "BadDigest", details: "" };
  }
  return undefined;
}

function invalid(details: string): GcsRefusal {
  return { status: 400, code: "InvalidArgument", details };
}

/** Whether the signature (AWS4-HMAC-SHA256), of the headers or of the URL, is that of the keys. */
function isSigned(request: GcsRequest, { accessKeyId, secretAccessKey }: GcsKeys): boolean {
  const { method, path, query, headers, body } = request;
  const given = query.has("X-Amz-Signature") ? ofUrl(query) : ofHeaders(headers);
  const [id, date = "", region = "", service, end] = given.credential.split("/");
  if (id !== accessKeyId || service !== "s3" || end !== "aws4_request") return false;
  const sha256 = headers.get("x-amz-content-sha256") ?? "UNSIGNED-PAYLOAD";
  if (sha256 !== "UNSIGNED-PAYLOAD" && sha256 !== createHash("sha256").update(body).digest("hex")) return false;
  const parameters = [...query].filter(([name]) => name !== "X-Amz-Signature");
  const canonicalQuery = parameters.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).sort();
  const names = given.names.split(";");
  // Every header of Google's or of AWS's is signed.
  const extensions = [...headers.keys()].filter((name) => /^x-(?:amz|goog)-/.test(name));
  if (!names.includes("host") || extensions.some((name) => !names.includes(name))) return false;
  const canonical = [
    ...[method, path, canonicalQuery.join("&")],
    ...names.map((name) => `${name}:${(headers.get(name) ?? "").trim().replace(/ +/g, " ")}`),
    ...["", given.names, sha256],
  ].join("\n");
  const scope = `${date}/${region}/s3/aws4_request`;
  const hash = createHash("sha256").update(canonical).digest("hex");
  let key: Buffer | string = `AWS4${secretAccessKey}`;
  for (const part of [date, region, "s3", "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  const text = `AWS4-HMAC-SHA256\n${given.time}\n${scope}\n${hash}`;
  return createHmac("sha256", key).update(text).digest("hex") === given.signature;
}

function ofUrl(query: URLSearchParams) {
  const get = (name: string): string => query.get(`X-Amz-${name}`) ?? "";
  return {
    credential: get("Credential"),
    names: get("SignedHeaders"),
    signature: get("Signature"),
    time: get("Date"),
  };
}

function ofHeaders(headers: Headers) {
  const form = /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/;
  const [, credential = "", names = "", signature = ""] = form.exec(headers.get("authorization") ?? "") ?? [];
  return { credential, names, signature, time: headers.get("x-amz-date") ?? "" };
}
