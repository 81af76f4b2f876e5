import type { ClientCertificate } from "../../contracts/connection.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { toPem } from "../client-identity.ts";

/**
 * What Cloudflare passes about a client certificate in `request.cf.tlsClientAuth`: texts, and flags as `"0"` and `"1"`.
 */
export interface WorkersTlsClientAuth {
  /** `SUCCESS`, `NONE`, or `FAILED:` and the reason. */
  readonly certVerified?: string;
  readonly certRevoked?: string;
  /** The subject in the form of RFC 2253, such as `CN=alice,O=Example`. */
  readonly certSubjectDNRFC2253?: string;
  /** The certificate in the form of RFC 9440, `:<base64>:`; empty if it is larger than 10 KiB. */
  readonly certRFC9440?: string;
}

/** Creates the contract's certificate, if Cloudflare has passed and verified one that is not revoked. */
export function toClientCertificate(auth: WorkersTlsClientAuth | null | undefined): ClientCertificate | undefined {
  if (auth?.certVerified !== "SUCCESS" || auth.certRevoked !== "0") return undefined;
  const [, base64] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(auth.certRFC9440 ?? "") ?? [];
  if (base64 === undefined) return undefined;
  const commonName = readCommonName(auth.certSubjectDNRFC2253 ?? "");
  return { pem: toPem(base64), ...(commonName !== undefined && { commonName }) };
}

/** An attribute of a name: its type, and its raw value, quoted or with escapes. */
const ATTRIBUTE = /^\s*([\w.-]+)\s*=\s*("(?:[^"\\]|\\.)*"|(?:[^",+;\\]|\\.)*)\s*(?:[,+;]|$)/s;

/**
 * The common name of a subject, if it has exactly one. A subject that cannot be parsed to its end has none, because the
 * meaning of its parts is unknown (RFC 2253 4).
 */
function readCommonName(subject: string): string | undefined {
  const found: string[] = [];
  for (let rest = subject; rest !== ""; ) {
    const match = ATTRIBUTE.exec(rest);
    if (match === null) return undefined;
    const [text, type = "", value = ""] = match;
    if (/^(?:cn|2\.5\.4\.3|oid\.2\.5\.4\.3)$/i.test(type)) found.push(value);
    rest = rest.slice(text.length);
  }
  const [only] = found;
  return only === undefined || found.length > 1 ? undefined : unescapeValue(only);
}

/** Plain text, an escaped byte, or an escaped character. */
const PIECE = /([^\\]+)|\\([0-9a-f]{2})|\\(.)/gisy;

/** The text of a value; `undefined` if it is empty, not UTF-8, or in hexadecimal (`#` and its BER). */
function unescapeValue(value: string): string | undefined {
  if (value.startsWith("#")) return undefined;
  const written = value.startsWith('"') ? value.slice(1, -1) : value.trim();
  const pieces = [...written.matchAll(PIECE)];
  if (pieces.map(([piece]) => piece).join("") !== written) return undefined;
  // Escaped bytes form UTF-8 together with the text between them.
  const bytes = pieces.flatMap(([, plain, byte, character]) =>
    byte === undefined ? [...new TextEncoder().encode(plain ?? character)] : [Number.parseInt(byte, 16)],
  );
  return decodeUtf8(new Uint8Array(bytes)) || undefined;
}
