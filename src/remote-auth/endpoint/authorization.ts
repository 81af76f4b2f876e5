import { checkOption, OptionError } from "../../contracts/option-error.ts";
import { parseAuthorization } from "../../http/authorization.ts";
import { isToken } from "../../outbound/headers.ts";
import { createSecretComparison } from "../../platform/constant-time.ts";
import { hasLoneSurrogate } from "../../platform/text-encoding.ts";

/** How a service authenticates itself to the endpoint (5.2): by HTTP Basic, or by one header with an exact value. */
export type EndpointAuthorization =
  | { readonly username: string; readonly password: string }
  | { readonly header: string; readonly value: string };

/** Checks whether a service may use the endpoint. */
export interface Authorizer {
  /** Whether the header fields hold the secret. The comparison takes constant time. */
  isAuthorized(headers: Headers): Promise<boolean>;
  /** The `WWW-Authenticate` value of the refusal. */
  readonly challenge: string;
}

const REALM = 'realm="authentication requests"';
const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * Creates the check for one way of authentication.
 * @throws TypeError naming the member that is wrong.
 */
export function createAuthorizer(authorization: EndpointAuthorization): Authorizer {
  const keys = typeof authorization === "object" && authorization !== null ? Object.keys(authorization).sort() : [];
  switch (keys.join()) {
    case "password,username":
      return createBasicAuthorizer(authorization as { username: string; password: string });
    case "header,value":
      return createHeaderAuthorizer(authorization as { header: string; value: string });
    default:
      throw new OptionError("authorize", "an object with username and password, or with header and value, and no more");
  }
}

function createBasicAuthorizer({ username, password }: { username: string; password: string }): Authorizer {
  // RFC 7617 2: neither may hold control characters, and the user-id no colon.
  checkOption(
    isSecret(username) && !/[:\p{Cc}]/u.test(username),
    "authorize.username",
    "a text without a colon, not empty",
  );
  checkOption(isSecret(password) && !/\p{Cc}/u.test(password), "authorize.password", "a text, not empty");
  const isSame = createSecretComparison(`${username}:${password}`);
  return {
    async isAuthorized(headers) {
      const given = parseAuthorization(headers.get("authorization"));
      return given?.scheme === "basic" && (await isSame(`${given.username}:${given.password}`));
    },
    challenge: `Basic ${REALM}, charset="UTF-8"`,
  };
}

function createHeaderAuthorizer({ header, value }: { header: string; value: string }): Authorizer {
  checkOption(typeof header === "string" && isToken(header), "authorize.header", "the name of a header");
  checkOption(
    typeof value === "string" && HEADER_VALUE.test(value),
    "authorize.value",
    "printable ASCII, not empty, trimmed",
  );
  const isSame = createSecretComparison(value);
  return {
    async isAuthorized(headers) {
      const given = headers.get(header);
      return given !== null && (await isSame(given));
    },
    challenge: `${toScheme(header, value)} ${REALM}`,
  };
}

/**
 * The scheme for the challenge: a 401 must have one (RFC 9110 15.5.2), even if no registered scheme fits. Only for a
 * value of a scheme and one token is the first word certainly not part of the secret. A value of one word is the
 * secret, and a value of several words may be a sentence.
 */
function toScheme(header: string, value: string): string {
  const [scheme = "", token = "", ...others] = value.split(" ");
  const isScheme = header.toLowerCase() === "authorization" && isToken(scheme) && token !== "" && others.length === 0;
  return isScheme ? scheme : "Header";
}

function isSecret(text: unknown): text is string {
  return typeof text === "string" && text !== "" && !hasLoneSurrogate(text);
}
