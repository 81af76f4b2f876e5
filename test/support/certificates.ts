import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** The arguments of `openssl req` for a new key on the curve P-256, without a passphrase. */
export const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"] as const;

/** The subject of a certificate, its names, and the files of its key and of itself. */
export interface CertificateOptions {
  /** Default: `/CN=localhost`. */
  readonly subject?: string;
  /** Such as `IP:127.0.0.1,DNS:localhost`. Default: none. */
  readonly altNames?: string;
  /** Default: `key.pem`. */
  readonly key?: string;
  /** Default: `cert.pem`. */
  readonly cert?: string;
}

/** Whether `openssl` is installed: without it no certificates can be made. */
export function hasOpenssl(): boolean {
  try {
    execFileSync("openssl", ["version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Runs `openssl` in a folder. */
export function runOpenssl(folder: string, ...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
}

/** Makes a key and its self-signed certificate in a folder, valid for two days. Returns the paths of both. */
export function makeCertificate(
  folder: string,
  { subject = "/CN=localhost", altNames, key = "key.pem", cert = "cert.pem" }: CertificateOptions = {},
): { readonly key: string; readonly cert: string } {
  const names = altNames === undefined ? [] : ["-addext", `subjectAltName=${altNames}`];
  const files = ["-keyout", key, "-out", cert];
  runOpenssl(folder, "req", "-x509", ...NEW_KEY, "-subj", subject, ...names, "-days", "2", ...files);
  return { key: join(folder, key), cert: join(folder, cert) };
}
