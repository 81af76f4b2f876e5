import { knownAccountCases, wrongCredentialCases } from "./endpoint/accounts.ts";
import { responseCases, unknownAccountCases } from "./endpoint/answers.ts";
import type { EndpointCase } from "./endpoint/case.ts";
import { authorizationCases, requestCases } from "./endpoint/requests.ts";

/**
 * The promises of an authentication endpoint (4.7, 7.2). The cases send the requests that a service sends, so the
 * endpoint may be written in any language. Run them in this order, with any test runner:
 *
 * ```ts
 * const context = { url, account: { username, password } };
 * for (const each of endpointCases) it.skipIf(!isPlayable(each, context))(each.name, () => each.run(context));
 * ```
 */
export const endpointCases: readonly EndpointCase[] = [
  ...responseCases,
  ...knownAccountCases,
  ...unknownAccountCases,
  ...requestCases,
  ...authorizationCases,
  ...wrongCredentialCases,
];
