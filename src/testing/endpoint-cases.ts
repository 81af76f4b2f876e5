import { knownAccountCases, wrongCredentialCases } from "./endpoint/accounts.ts";
import { responseCases, unknownAccountCases } from "./endpoint/answers.ts";
import type { EndpointCase } from "./endpoint/case.ts";
import { authorizationCases, requestCases } from "./endpoint/requests.ts";

/**
 * What an authentication endpoint promises (4.7, 7.2), asked over HTTP as a service asks, whatever it is written in. In this order, for
 * any test runner:
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
