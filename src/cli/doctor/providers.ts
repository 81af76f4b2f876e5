import { createOidcProvider } from "../../auth/oidc/provider.ts";
import { toOidcRefusal } from "../../auth/oidc/refusals.ts";
import { describeSystemError } from "../failure.ts";
import { type Finding, ok, problem } from "../findings.ts";
import { describeProvider } from "./describe-accounts.ts";
import type { Examined } from "./examined.ts";

/** What the codes of the library mean. */
const MEANINGS: ReadonlyMap<unknown, string> = new Map([
  ["OAUTH_TIMEOUT", "no response in time"],
  ["OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED", "its configuration names another issuer"],
  ["OAUTH_PARSE_ERROR", "its configuration is not valid JSON"],
  ["OAUTH_INVALID_RESPONSE", "its configuration is not valid"],
]);

/** Asks each provider of OpenID Connect for its configuration, as the first login does. */
export async function* examineProviders({ config }: Examined): AsyncGenerator<Finding> {
  for (const [index, entry] of config.authentication.entries()) {
    if (entry.type !== "oidc") continue;
    const key = `authentication[${index}]`;
    const found = await describeProvider(key, entry.issuer);
    if (found.level === "error") {
      yield found;
      continue;
    }
    const { type: _, ...options } = entry;
    try {
      await createOidcProvider(options, Date.now).discover();
      yield ok(key, `oidc, ${entry.issuer} answers`);
    } catch (error) {
      const advice = "check issuer, and that this machine reaches it: without it no user can log in by it";
      yield problem(key, `oidc, ${entry.issuer}: ${describeFailure(error)}`, advice);
    }
  }
}

function describeFailure(error: unknown): string {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  const { status, message } = (cause ?? {}) as { readonly status?: unknown; readonly message?: unknown };
  if (typeof status === "number") return `answers with the status ${status}`;
  const meaning = MEANINGS.get(code);
  if (meaning !== undefined) return meaning;
  // Only the cause of an error of `fetch` says why.
  if (error instanceof TypeError && cause instanceof Error) return describeSystemError(cause);
  return typeof message === "string" ? message : toOidcRefusal(error).details;
}
