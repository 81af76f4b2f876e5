/** A certificate in base64 as PEM text: lines of 64 (RFC 7468). */
export function toPem(base64: string): string {
  return `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}(?=.)/g, "$&\n")}\n-----END CERTIFICATE-----\n`;
}
