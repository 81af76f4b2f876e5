import type { CryptoKey, JSONWebKeySet, JWK, JWTPayload } from "jose";
import type { Identity } from "../../contracts/identity.ts";
import { checkNames, checkOption } from "../../contracts/option-error.ts";

const SECRET_ALGORITHMS: readonly JwtAlgorithm[] = ["HS256", "HS384", "HS512"];
const PUBLIC_KEY_ALGORITHMS: readonly JwtAlgorithm[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** A signature algorithm of tokens (RFC 7518 3.1, RFC 8037, RFC 9864). */
export type JwtAlgorithm = `${"HS" | "RS" | "PS" | "ES"}${256 | 384 | 512}` | "EdDSA" | "Ed25519";

/** Options of `createJwtIdentifier`. Either `jwks` or `key` is needed. */
export interface JwtIdentifierOptions {
  /** The accepted values of the claim `iss`. */
  readonly issuer: string | readonly string[];
  /** The accepted values of the claim `aud`: what the issuer calls this service. */
  readonly audience: string | readonly string[];
  /** The accepted algorithms: those that the issuer signs with. `HS…` needs a secret as `key`. */
  readonly algorithms: readonly JwtAlgorithm[];
  /**
   * The issuer's public keys, as a JSON Web Key Set or its URL. A URL is fetched with the first token, again after 10
   * minutes, and for an unknown key at most every 30 seconds.
   */
  readonly jwks?: string | URL | JSONWebKeySet;
  /** The issuer's only public key, or the secret that it shares with this service, of at least 32 bytes. */
  readonly key?: string | Uint8Array | CryptoKey | JWK;
  /**
   * Returns the account of a verified token; `undefined` if it belongs to none, which is 401. An `HttpError` that it
   * throws becomes the response.
   */
  readonly toAccount: (claims: JWTPayload) => Identity | undefined | Promise<Identity | undefined>;
}

const NAMES: Readonly<Record<keyof JwtIdentifierOptions, true>> = {
  issuer: true,
  audience: true,
  algorithms: true,
  jwks: true,
  key: true,
  toAccount: true,
};

/** The shortest secret that RFC 7518 3.2 allows. */
const MIN_SECRET_BYTES = 32;

/** Checks the options. The keys are checked by `createKeyResolver`. @throws TypeError naming the wrong one. */
export function checkJwtOptions(options: JwtIdentifierOptions): void {
  if (typeof options !== "object" || options === null) throw new TypeError("createJwtIdentifier needs options.");
  checkNames(options, Object.keys(NAMES), "");
  const { issuer, audience, algorithms, jwks, key, toAccount } = options;
  checkOption(isTextOrList(issuer), "issuer", "a text, or a list of at least one");
  checkOption(isTextOrList(audience), "audience", "a text, or a list of at least one");
  const known: readonly string[] = [...SECRET_ALGORITHMS, ...PUBLIC_KEY_ALGORITHMS];
  const areKnown = Array.isArray(algorithms) && algorithms.length > 0 && algorithms.every((one) => known.includes(one));
  checkOption(areKnown, "algorithms", `a list of at least one of ${known.join(", ")}`);
  checkOption((jwks === undefined) !== (key === undefined), "jwks", "given, or key, and not both");
  checkOption(typeof toAccount === "function", "toAccount", "a function");
  if (key !== undefined)
    checkOption(isUsableKey(key), "key", "a public key (CryptoKey or JWK), or a secret of at least 32 bytes");
  // A public key is no secret: accepted as one, it would let anyone sign tokens.
  const usable: readonly string[] = key !== undefined && isSecret(key) ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  const fit = algorithms.every((one) => usable.includes(one));
  checkOption(fit, "algorithms", `of the kind of the keys, which is ${usable.join(", ")}`);
}

type Key = NonNullable<JwtIdentifierOptions["key"]>;

/** Returns the bytes of a secret that is given as a text or as bytes; `undefined` for other keys. */
export function toSecretBytes(key: Key): Uint8Array | undefined {
  if (typeof key === "string") return new TextEncoder().encode(key);
  return ArrayBuffer.isView(key) ? key : undefined;
}

function isSecret(key: Key): boolean {
  if (toSecretBytes(key) !== undefined) return true;
  const { type, kty } = key as { readonly type?: unknown; readonly kty?: unknown };
  return type === "secret" || kty === "oct";
}

function isUsableKey(key: Key): boolean {
  const secret = toSecretBytes(key);
  // A key in PEM is no secret: as one, a public key would let anyone sign tokens.
  if (secret !== undefined) return secret.byteLength >= MIN_SECRET_BYTES && !isPem(secret);
  if (typeof key !== "object" || key === null) return false;
  if (!("kty" in key)) return "type" in key && (key.type === "public" || key.type === "secret");
  // In Base64, four characters are three bytes.
  if (key.kty === "oct") return typeof key.k === "string" && (key.k.length * 3) / 4 >= MIN_SECRET_BYTES;
  return typeof key.kty === "string" && !("d" in key);
}

function isPem(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes.subarray(0, 64)).trimStart().startsWith("-----BEGIN ");
}

function isTextOrList(value: unknown): boolean {
  const isText = (one: unknown) => typeof one === "string" && one !== "";
  return isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText));
}
