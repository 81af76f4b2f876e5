import type { ClientCertificate } from "../../contracts/connection.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { toPem } from "../client-identity.ts";

/** What Cloudflare tells of a client certificate, in `request.cf.tlsClientAuth`: texts, the flags as `"0"` and `"1"`. */
export interface WorkersTlsClientAuth {
  /** `SUCCESS`, `NONE`, or `FAILED:` and why. */
  readonly certVerified?: string;
  readonly certRevoked?: string;
  /** The subject as RFC 2253 writes it, such as `CN=alice,O=Example`. */
  readonly certSubjectDNRFC2253?: string;
  /** The certificate as RFC 9440 writes it, `:` and its base64 and `:`; empty where it has more than 10 KiB. */
  readonly certRFC9440?: string;
}

/** The certificate in the contract's terms, where Cloudflare has verified it, it was not revoked, and there is one to hand on. */
export function toClientCertificate(auth: WorkersTlsClientAuth | null | undefined): ClientCertificate | undefined {
  if (auth?.certVerified !== "SUCCESS" || auth.certRevoked !== "0") return undefined;
  const [, base64] = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(auth.certRFC9440 ?? "") ?? [];
  if (base64 === undefined) return undefined;
  const commonName = readCommonName(auth.certSubjectDNRFC2253 ?? "");
  return { pem: toPem(base64), ...(commonName !== undefined && { commonName }) };
}

/** An attribute of a name: its type, and its value as it is written, quoted or with escapes. */
const ATTRIBUTE = /^\s*([\w.-]+)\s*=\s*("(?:[^"\\]|\\.)*"|(?:[^",+;\\]|\\.)*)\s*(?:[,+;]|$)/s;

/**
 * The common name of a subject, where it has exactly one. A name that cannot be read to its end has none: what a part of it means is not decidable
 * (RFC 2253, 4).
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

/** A run of plain text, an escaped byte, or an escaped character. */
const PIECE = /([^\\]+)|\\([0-9a-f]{2})|\\(.)/gisy;

/** The text of a value; `undefined` for an empty one, one that is no UTF-8, and one that is given in hexadecimal (`#` and its BER). */
function unescapeValue(value: string): string | undefined {
  if (value.startsWith("#")) return undefined;
  const written = value.startsWith('"') ? value.slice(1, -1) : value.trim();
  const pieces = [...written.matchAll(PIECE)];
  if (pieces.map(([piece]) => piece).join("") !== written) return undefined;
  // Escaped bytes are UTF-8 together, whatever stands between them.
  const bytes = pieces.flatMap(([, plain, byte, character]) =>
    byte === undefined ? [...new TextEncoder().encode(plain ?? character)] : [Number.parseInt(byte, 16)],
  );
  return decodeUtf8(new Uint8Array(bytes)) || undefined;
}
