import { StorageError } from "../../contracts/storage-adapter.ts";
import { toValidators } from "../../http/validators.ts";
import type { AccountContext, AccountEndpoint } from "../../request/context.ts";
import { evaluateIf, type IfList, parseIf, type ResourceState, resourcesOf, tokensOf } from "../../webdav/if-header.ts";
import { parseLockToken } from "../../webdav/lock-token.ts";
import { parseReference } from "../../webdav/reference.ts";
import { parseOwnPath, toOwnHosts } from "./own-path.ts";

/**
 * Reads the lock tokens of a request to a WebDAV endpoint, and checks its `If` header (RFC 4918 10.4), which
 * is checked again before the first change. A `Lock-Token`
 * counts as submitted too: a version of Office sends it in place of `If`.
 */
export function withSubmittedTokens(endpoint: AccountEndpoint): AccountEndpoint {
  return async (context) => {
    const { request, config, files } = context;
    if (config.webdav === undefined) return endpoint(context);
    const lists = parseIf(request.headers);
    const token = request.method === "UNLOCK" ? undefined : parseLockToken(request.headers);
    const check = async (): Promise<void> => {
      if (lists && !(await holds(context, lists))) throw new StorageError("precondition-failed");
    };
    files.submitTokens([...tokensOf(lists ?? []), ...(token === undefined ? [] : [token])], lists && check);
    await check();
    return endpoint(context);
  };
}

async function holds(context: AccountContext, lists: readonly IfList[]): Promise<boolean> {
  const resources = resourcesOf(lists);
  const states = await Promise.all(resources.map((resource) => findState(context, resource)));
  return evaluateIf(lists, (resource) => states[resources.indexOf(resource)]);
}

/** The state of what a URL names; `undefined` if there is nothing. */
async function findState(
  context: AccountContext,
  resource: string | undefined,
): Promise<ResourceState | "elsewhere" | undefined> {
  const segments = toSegments(context, resource);
  if (segments === "elsewhere" || segments === undefined) return segments;
  const found = await context.files.inspect(segments);
  if (found === undefined) return undefined;
  const { entry, isVisible } = found;
  const tokens = await context.files.tokensOf(segments);
  return { tokens, etag: isVisible && entry.kind === "file" ? toValidators(entry).etag : undefined };
}

function toSegments(
  context: AccountContext,
  resource: string | undefined,
): readonly string[] | "elsewhere" | undefined {
  if (resource === undefined) return context.path.segments;
  const reference = parseReference(resource, toOwnHosts(context));
  if (reference.kind !== "own") return "elsewhere";
  const path = parseOwnPath(reference.target, context);
  return typeof path === "string" ? undefined : path.segments;
}
