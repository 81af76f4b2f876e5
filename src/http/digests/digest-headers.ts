import { parseDictionary } from "structured-headers";
import { DIGEST_BYTES, type DigestAlgorithm, digestAlgorithms } from "../../platform/incremental-digest.ts";
import { createError } from "../errors.ts";

/** A digest that content must have. */
export interface ExpectedDigest {
  readonly algorithm: DigestAlgorithm;
  readonly bytes: Uint8Array;
}

/** The names of header fields with digests (RFC 9530 2, 3). */
export type DigestHeader = "Content-Digest" | "Repr-Digest";

/** An algorithm that these fields name, by the name in the field. Others are ignored, as RFC 9530 5 recommends. */
const ALGORITHMS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

type AlgorithmName = keyof typeof ALGORITHMS;

/** An algorithm of {@link DigestHeader}. */
export type FieldAlgorithm = (typeof ALGORITHMS)[AlgorithmName];

const NAMES = Object.keys(ALGORITHMS) as readonly AlgorithmName[];

/**
 * Reads the digests of a field by the known algorithms. If an algorithm is there twice, its last digest counts (RFC
 * 9651 3.2).
 * @throws HttpError `malformed` if the field is no dictionary, or if one of these digests is no byte sequence of the
 * right size.
 */
export function readDigests(headers: Headers, name: DigestHeader): readonly ExpectedDigest[] {
  const value = headers.get(name);
  if (value === null) return [];
  const digests = parseDigests(value);
  if (digests === undefined) throw createError("upload-digest-invalid", { values: { header: name } });
  return digests;
}

/** The known digests of a field; `undefined` if it is malformed. */
function parseDigests(value: string): readonly ExpectedDigest[] | undefined {
  const members = parseMembers(value);
  if (members === undefined) return undefined;
  const digests: ExpectedDigest[] = [];
  for (const [key, item] of members) {
    const algorithm = toAlgorithm(key);
    if (algorithm === undefined) continue;
    if (!(item instanceof ArrayBuffer) || item.byteLength !== DIGEST_BYTES[algorithm]) return undefined;
    digests.push({ algorithm, bytes: new Uint8Array(item) });
  }
  return digests;
}

/** As {@link readDigests}, without those that this runtime cannot verify. */
export function readVerifiableDigests(
  headers: Headers,
  name: DigestHeader,
  available = digestAlgorithms(),
): readonly ExpectedDigest[] {
  return readDigests(headers, name).filter(({ algorithm }) => available.includes(algorithm));
}

/**
 * Reads the digests that the content of an upload in one request must have: those of both fields.
 * @throws HttpError as {@link readDigests} does; `method-not-implemented` if this runtime does not have an algorithm.
 */
export function readExpectedDigests(headers: Headers, findAvailable = digestAlgorithms): readonly ExpectedDigest[] {
  const digests = [...readDigests(headers, "Content-Digest"), ...readDigests(headers, "Repr-Digest")];
  // Only for a request with digests: the algorithms of this runtime are found by trying them.
  if (digests.some(({ algorithm }) => !findAvailable().includes(algorithm))) throw createError("digests-unsupported");
  return digests;
}

/**
 * Reads the algorithm that a request prefers for a digest in the response (RFC 9530 4): of the known ones, the first
 * one with the highest preference from 1 to 10. A field that is malformed is ignored, as a preference may be.
 */
export function readWantedAlgorithm(
  headers: Headers,
  name: "Want-Content-Digest" | "Want-Repr-Digest",
  available = digestAlgorithms(),
): FieldAlgorithm | undefined {
  const value = headers.get(name);
  const members = value === null ? undefined : parseMembers(value);
  let wanted: FieldAlgorithm | undefined;
  let highest = 0;
  for (const [key, preference] of members ?? []) {
    const algorithm = toAlgorithm(key);
    if (algorithm === undefined || !available.includes(algorithm) || !isPreference(preference)) continue;
    if (preference > highest) [wanted, highest] = [algorithm, preference];
  }
  return wanted;
}

/** The value of a field with one digest. */
export function toDigestField(algorithm: FieldAlgorithm, digest: Uint8Array): string {
  const name = NAMES.find((key) => ALGORITHMS[key] === algorithm);
  return `${name}=:${btoa(String.fromCharCode(...digest))}:`;
}

/** Room for all registered algorithms. Parsing a longer field could take longer than its request. */
const MAX_CHARACTERS = 2048;

/** The members of a dictionary without their parameters; `undefined` if the value is malformed or too long. */
function parseMembers(value: string): ReadonlyMap<string, unknown> | undefined {
  if (value.length > MAX_CHARACTERS) return undefined;
  try {
    return new Map([...parseDictionary(value)].map(([key, [item]]): [string, unknown] => [key, item]));
  } catch {
    return undefined;
  }
}

function toAlgorithm(key: string): FieldAlgorithm | undefined {
  return Object.hasOwn(ALGORITHMS, key) ? ALGORITHMS[key as AlgorithmName] : undefined;
}

function isPreference(item: unknown): item is number {
  return typeof item === "number" && Number.isInteger(item) && item > 0 && item <= 10;
}
