import { toHex } from "../platform/sha256.ts";

/**
 * Seals texts into tokens that only this service can read or make (SHARING 2). A token is a compact JWE without its
 * constant parts: `<kid>.<iv>.<ciphertext>.<tag>`.
 */
export interface Seal {
  seal(text: string): Promise<string>;
  /** Returns the text of a token; `undefined` if the token is not valid. */
  open(token: string): Promise<string | undefined>;
}

interface SealKey {
  /** Names the key in tokens: the first 8 hexadecimal digits of its SHA-256. */
  readonly kid: string;
  readonly key: CryptoKey;
}

const ALGORITHMS = { alg: "dir", enc: "A256GCM" } as const;
/** Longer texts are no tokens. */
const MAX_CHARACTERS = 4096;
/** The parts in Base64 without padding, and without bits that no byte needs: a token is written in one way only. */
const PART = String.raw`(?:[\w-]{4})*(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?`;
const TOKEN = new RegExp(`^([0-9a-f]{8})\\.([\\w-]{16})\\.(${PART})\\.([\\w-]{21}[AQgw])$`);

/** Loads `jose` with the first token: services without links need not have it in memory. */
const loadEncryption = () => import("jose/jwe/compact/encrypt");
const loadDecryption = () => import("jose/jwe/compact/decrypt");

/**
 * Creates a seal. The first secret seals, all of them open. Seals of a different `purpose` do not open each other's
 * tokens.
 */
export function createSeal(secrets: readonly string[], purpose: string): Seal {
  let keys: readonly SealKey[] | undefined;

  async function deriveKeys(): Promise<readonly SealKey[]> {
    keys ??= await Promise.all(secrets.map((secret) => deriveKey(secret, purpose)));
    return keys;
  }

  async function seal(text: string): Promise<string> {
    const [first] = (await deriveKeys()) as readonly [SealKey];
    const { CompactEncrypt } = await loadEncryption();
    const encryption = new CompactEncrypt(new TextEncoder().encode(text));
    const jwe = await encryption.setProtectedHeader({ ...ALGORITHMS, kid: first.kid }).encrypt(first.key);
    return [first.kid, ...jwe.split(".").slice(2)].join(".");
  }

  async function open(token: string): Promise<string | undefined> {
    if (token.length > MAX_CHARACTERS) return undefined;
    const [, kid, iv, ciphertext, tag] = TOKEN.exec(token) ?? [];
    if (kid === undefined) return undefined;
    const found = (await deriveKeys()).find((one) => one.kid === kid);
    if (found === undefined) return undefined;
    const { compactDecrypt } = await loadDecryption();
    try {
      const { plaintext } = await compactDecrypt(`${toHeader(kid)}..${iv}.${ciphertext}.${tag}`, found.key, {
        keyManagementAlgorithms: [ALGORITHMS.alg],
        contentEncryptionAlgorithms: [ALGORITHMS.enc],
      });
      return new TextDecoder().decode(plaintext);
    } catch {
      return undefined;
    }
  }

  return { seal, open };
}

/** The protected header of the JWE, which is the same for all tokens of a key. */
function toHeader(kid: string): string {
  return btoa(JSON.stringify({ ...ALGORITHMS, kid }))
    .replace(/=+$/, "")
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

async function deriveKey(secret: string, purpose: string): Promise<SealKey> {
  const { subtle } = crypto;
  const encoder = new TextEncoder();
  const material = await subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveBits"]);
  const parameters = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encoder.encode(purpose) };
  const bits = await subtle.deriveBits(parameters, material, 256);
  const key = await subtle.importKey("raw", bits, "AES-GCM", false, ["encrypt", "decrypt"]);
  return { key, kid: toHex(new Uint8Array(await subtle.digest("SHA-256", bits))).slice(0, 8) };
}
