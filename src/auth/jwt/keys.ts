import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from "jose";
import { checkOption, OptionError } from "../../contracts/option-error.ts";
import { createRetryError } from "../../http/errors.ts";
import { readBytes } from "../../platform/read-bytes.ts";
import { type JwtIdentifierOptions, toSecretBytes } from "./options.ts";

/**
 * After a fetch that has failed, the next one waits for this time: anyone can send tokens that need keys, and each of
 * them would be a request to the issuer.
 */
const RETRY_MS = 1000;
/** Maximum size of a key set that is fetched: `jose` has no limit of its own. */
const MAX_KEY_SET_BYTES = 1_048_576;

/**
 * Makes the function that returns the key of a token by its header. Only the configured keys count: those that a token
 * itself names or contains (`jku`, `x5u`, `jwk`) are never used.
 * @throws TypeError naming the option that is wrong.
 */
export function createKeyResolver({ jwks, key }: Pick<JwtIdentifierOptions, "jwks" | "key">): JWTVerifyGetKey {
  if (key !== undefined) {
    const usable = toSecretBytes(key) ?? (key as Exclude<typeof key, string>);
    return () => usable;
  }
  if (isKeySet(jwks)) return createLocalKeys(jwks);
  const url = String(jwks);
  checkOption(/^https?:/.test(url) && URL.canParse(url), "jwks", "a JSON Web Key Set, or its https: or http: URL");
  return createRemoteKeys(new URL(url));
}

function isKeySet(jwks: JwtIdentifierOptions["jwks"]): jwks is JSONWebKeySet {
  return typeof jwks === "object" && jwks !== null && "keys" in jwks;
}

function createLocalKeys(jwks: JSONWebKeySet): JWTVerifyGetKey {
  try {
    return createLocalJWKSet(jwks);
  } catch (cause) {
    throw new OptionError("jwks", "a valid JSON Web Key Set", { cause });
  }
}

function createRemoteKeys(url: URL): JWTVerifyGetKey {
  let retryAt = 0;
  let failure: unknown;

  const fetchKeys: FetchImplementation = async (href, options) => {
    if (Date.now() < retryAt) throw failure;
    return readComplete(await fetch(href, options));
  };
  const resolveKey = createRemoteJWKSet(url, { [customFetch]: fetchKeys });

  return async (header, token) => {
    try {
      return await resolveKey(header, token);
    } catch (error) {
      if (isFaultOfToken(error)) throw error;
      if (Date.now() >= retryAt) {
        retryAt = Date.now() + RETRY_MS;
        failure = error;
      }
      throw createRetryError("token-keys-unavailable", error);
    }
  };
}

/** Reads the complete response. Rejects unless its status is 200, or if it is too large. */
async function readComplete({ status, body }: Response): Promise<Response> {
  const reader = body?.getReader();
  try {
    if (status !== 200) throw new Error(`The response with the JSON Web Key Set has the status ${status}.`);
    const bytes = reader && (await readBytes(reader, MAX_KEY_SET_BYTES));
    if (bytes === undefined) throw new RangeError("The JSON Web Key Set has no bytes, or more than 1 MiB.");
    return new Response(bytes);
  } finally {
    reader?.cancel().catch(() => undefined);
  }
}

/** Whether the key set was available, and has no key for the token. */
function isFaultOfToken(error: unknown): boolean {
  const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported } = errors;
  return [JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JOSENotSupported].some((kind) => error instanceof kind);
}
