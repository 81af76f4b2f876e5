import type { AzureSettings } from "./options.ts";

/** The version of the REST API. */
export const API_VERSION = "2021-12-02";

/** What a signature covers. */
export interface SignedRequest {
  readonly method: string;
  /** The URL as it is sent. */
  readonly url: URL;
  /** All headers, by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentLength: number;
}

/** Headers that are signed by their place, whether or not a request has them. */
const PLACED = ["content-md5", "content-type", "date", "if-modified-since", "if-match", "if-none-match"];

/** Signs texts with the key of an account. */
export type SignText = (text: string) => Promise<string>;

/** Creates the function that signs with the key of an account: HMAC with SHA-256, in base64. */
export function createSignText({ key }: Pick<AzureSettings, "key">): SignText {
  let imported: Promise<CryptoKey> | undefined;
  return async (text) => {
    imported ??= crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const bytes = await crypto.subtle.sign("HMAC", await imported, new TextEncoder().encode(text));
    return btoa(String.fromCharCode(...new Uint8Array(bytes)));
  };
}

/**
 * Returns the text that the signature of a request covers.
 * @see https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key
 */
export function toSignedText(account: string, { method, url, headers, contentLength }: SignedRequest): string {
  const placed = (name: string): string => headers[name] ?? "";
  const own = Object.entries(headers).filter(([name]) => name.startsWith("x-ms-"));
  return [
    method,
    placed("content-encoding"),
    placed("content-language"),
    contentLength === 0 ? "" : contentLength,
    ...PLACED.map(placed),
    placed("if-unmodified-since"),
    placed("range"),
    ...toSortedLines(own, toHeaderOrder),
    `/${account}${url.pathname}`,
    ...toSortedLines([...url.searchParams]),
  ].join("\n");
}

/** What a URL with a signature says of the response. */
export interface SignedReadParameters {
  readonly rscc?: string;
  readonly rscd?: string;
  readonly rsce?: string;
  readonly rsct?: string;
}

/**
 * Returns the query with which everyone can read a blob for a time.
 * @see https://learn.microsoft.com/rest/api/storageservices/create-service-sas
 */
export async function toReadQuery(
  sign: SignText,
  { account, container, url, clock }: Pick<AzureSettings, "account" | "container" | "url" | "clock">,
  { key, seconds, ...others }: SignedReadParameters & { readonly key: string; readonly seconds: number },
): Promise<string> {
  const expiry = `${new Date(clock() + 1000 * seconds).toISOString().slice(0, 19)}Z`;
  const { rscc = "", rscd = "", rsce = "", rsct = "" } = others;
  const protocol = url.startsWith("https:") ? "https" : "https,http";
  const resource = `/blob/${account}/${container}/${key}`;
  const text = ["r", "", expiry, resource, "", "", protocol, API_VERSION, "b", "", "", rscc, rscd, rsce, "", rsct];
  const parameters = { sp: "r", se: expiry, spr: protocol, sv: API_VERSION, sr: "b", ...others };
  const query = new URLSearchParams(Object.entries({ ...parameters, sig: await sign(text.join("\n")) }));
  return query.toString().replaceAll("+", "%20");
}

/** Returns a line for each name and its value, in the order of the code units of what `toOrder` makes of the names. */
function toSortedLines(
  entries: readonly (readonly [string, string])[],
  toOrder = (name: string): string => name,
): readonly string[] {
  const sorted = [...entries].sort(([one], [other]) => (toOrder(one) < toOrder(other) ? -1 : 1));
  return sorted.map(([name, value]) => `${name.toLowerCase()}:${value}`);
}

/** The store orders headers by the rules of a language: without hyphens, and with `_` before digits and letters. */
function toHeaderOrder(name: string): string {
  return name.replaceAll("-", "").replaceAll("_", "!");
}
