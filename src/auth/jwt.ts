import { type JWTPayload, jwtVerify } from "jose";
import type { Identify, Identity } from "../contracts/identity.ts";
import { createError } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";
import { createKeyResolver } from "./jwt/keys.ts";
import { checkJwtOptions, type JwtIdentifierOptions } from "./jwt/options.ts";
import { toKeyId } from "./keys/key-text.ts";

export type { JwtAlgorithm, JwtIdentifierOptions } from "./jwt/options.ts";

/** RFC 6750 3: the challenge must have a parameter. */
const CHALLENGE = 'Bearer realm="Web files access"';
const INVALID_TOKEN = { headers: { "WWW-Authenticate": 'Bearer error="invalid_token"' } };

/** Longer tokens are refused before they are parsed. */
const MAX_TOKEN_LENGTH = 16_384;
/** The clocks of the issuer and this host may differ by this time. */
const CLOCK_TOLERANCE_SECONDS = 60;

/**
 * Makes a function for the option `identify` of a service: it identifies users by JSON Web Tokens (RFC 7519) in
 * `Authorization: Bearer`. Use it with `identifiedBy: "header"`. A request without such a header is left to the
 * service's own logins. A token that is not valid is 401; if the keys cannot be fetched, it is 503.
 * @throws TypeError naming the option that is wrong.
 */
export function createJwtIdentifier(options: JwtIdentifierOptions): Identify {
  checkJwtOptions(options);
  const { issuer, audience, algorithms, toAccount } = options;
  const resolveKey = createKeyResolver(options);
  const checks = {
    issuer: toList(issuer),
    audience: toList(audience),
    algorithms: [...algorithms],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["exp"],
  };

  async function verify(token: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, resolveKey, checks);
      return payload;
    } catch (error) {
      throw isHttpError(error) ? error : createError("token-invalid", { ...INVALID_TOKEN, cause: error });
    }
  }

  async function identify({ headers }: Request): Promise<Identity | undefined> {
    const token = readToken(headers.get("authorization"));
    if (token === undefined) return undefined;
    const identity = await toAccount(await verify(token));
    if (!identity) throw createError("token-without-account", INVALID_TOKEN);
    return identity;
  }

  return Object.assign(identify, { challenge: CHALLENGE });
}

/**
 * Returns the token of `Authorization: Bearer`; `undefined` without one, or if it is an API key, which the service
 * verifies. @throws HttpError `unauthorized`.
 */
function readToken(authorization: string | null): string | undefined {
  if (authorization === null || !/^bearer(?: |$)/i.test(authorization)) return undefined;
  const token = authorization.slice("bearer".length).trim();
  // The characters of a JWS in its compact form (RFC 7515 7.1). Two headers, which are joined by a comma, are no token.
  if (token.length > MAX_TOKEN_LENGTH || !/^[\w.-]+$/.test(token)) throw createError("token-invalid", INVALID_TOKEN);
  return toKeyId(token) === undefined ? token : undefined;
}

function toList(value: string | readonly string[]): string[] {
  return typeof value === "string" ? [value] : [...value];
}
