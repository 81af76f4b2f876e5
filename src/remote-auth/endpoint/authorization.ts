import { checkOption, OptionError } from "../../contracts/option-error.ts";
import { parseAuthorization } from "../../http/authorization.ts";
import { isToken } from "../../outbound/headers.ts";
import { createSecretComparison } from "../../platform/constant-time.ts";
import { hasLoneSurrogate } from "../../platform/text-encoding.ts";

/** How a service proves to the endpoint that it may ask (5.2): by HTTP Basic, or by one header with its whole value. */
export type EndpointAuthorization =
  | { readonly username: string; readonly password: string }
  | { readonly header: string; readonly value: string };

/** Judges who asks. */
export interface Authorizer {
  /** Whether the header fields hold the secret, told in a time that does not tell how nearly. */
  isAuthorized(headers: Headers): Promise<boolean>;
  /** The `WWW-Authenticate` of the refusal. */
  readonly challenge: string;
}

const REALM = 'realm="authentication requests"';
const HEADER_VALUE = /^[!-~](?:[ -~]*[!-~])?$/;

/**
 * The judge of one means.
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
  // RFC 7617 2: control characters stand in neither, a colon not in the user-id.
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
 * A 401 has a challenge (RFC 9110 15.5.2), also where no registered scheme fits. Only of a scheme and one token the first word is
 * surely none of the secret: a value of one word is all secret, and one of several may be a sentence.
 */
function toScheme(header: string, value: string): string {
  const [scheme = "", token = "", ...others] = value.split(" ");
  const isScheme = header.toLowerCase() === "authorization" && isToken(scheme) && token !== "" && others.length === 0;
  return isScheme ? scheme : "Header";
}

function isSecret(text: unknown): text is string {
  return typeof text === "string" && text !== "" && !hasLoneSurrogate(text);
}
