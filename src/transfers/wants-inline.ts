import type { RequestContext } from "../request/context.ts";

/**
 * Whether a GET or HEAD asks for a file to be shown in the browser: by the query `inline`, of any value. What is not of
 * a type that is shown is an attachment even so.
 */
export function wantsInline({ target: { query } }: Pick<RequestContext, "target">): boolean {
  return query !== "" && new URLSearchParams(query).has("inline");
}
