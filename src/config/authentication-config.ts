import type { Authenticator } from "../contracts/authenticator.ts";
import type { Identify } from "../contracts/identity.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { SignOnMethods } from "../contracts/sign-on/method.ts";
import { hasMethods } from "./checks.ts";
import type { FileServiceOptions } from "./options.ts";
import { toSignOns } from "./sign-ons.ts";

/** How a service finds out who a user is. */
export interface AuthenticationConfig {
  readonly authentication: readonly Authenticator[];
  /** Those of them by which users log in at another site. */
  readonly signOns: SignOnMethods;
  /** Absent: the host identifies no users. */
  readonly identify: Identify | undefined;
  readonly identifiedBy: "cookie" | "header";
  /** The challenge of the host's function. */
  readonly identityChallenge: string | undefined;
}

/** Checks the options about authentication. @throws OptionError */
export function toAuthenticationConfig(options: FileServiceOptions): AuthenticationConfig {
  const { authentication, identify, identifiedBy = "cookie" } = options;
  const authenticators: readonly Authenticator[] = Array.isArray(authentication)
    ? [...authentication]
    : [authentication];
  const areAuthenticators = authenticators.every((one) => hasMethods(one, ["authenticate"]));
  checkOption(
    areAuthenticators && authenticators.length > 0,
    "authentication",
    "an authenticator, or a list of at least one",
  );
  checkOption(identify === undefined || typeof identify === "function", "identify", "a function");
  const identityChallenge = identify?.challenge;
  const isChallenge = identityChallenge === undefined || isHeaderText(identityChallenge);
  checkOption(isChallenge, "identify.challenge", "a challenge such as Bearer");
  checkOption(identifiedBy === "cookie" || identifiedBy === "header", "identifiedBy", '"cookie" or "header"');
  const signOns = toSignOns(authenticators);
  return { authentication: authenticators, signOns, identify, identifiedBy, identityChallenge };
}

/** Whether a text begins with a token and is printable ASCII, as the value of a header must be. */
function isHeaderText(text: unknown): boolean {
  return typeof text === "string" && /^[!#$%&'*+.^_`|~\w-]+(?: [ -~]*)?$/.test(text);
}
