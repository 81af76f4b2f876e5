import type { LockScope } from "../contracts/lock.ts";
import { createError } from "../http/errors.ts";
import { parseXmlBody } from "./xml.ts";
import { davChildren, elementsOf, isDav, withDavPrefix, type XmlElement } from "./xml-element.ts";
import { writeElement } from "./xml-write.ts";

/** The lock that a LOCK asks for. Its type is always `write`. */
export interface LockRequest {
  readonly scope: LockScope;
  /** `<D:owner>` with everything in it, as text that declares every prefix that it uses; empty if there is none. */
  readonly owner: string;
}

/** How much the owner of a lock may have, in bytes. */
const MAX_OWNER_BYTES = 4096;

/**
 * Parses the body of a LOCK (RFC 4918 14.11). Returns `undefined` if there is no body: the request refreshes a lock.
 * @throws HttpError as `parseXmlBody`, `malformed` if the body is something else, `unprocessable` for an unknown scope
 * or type, and `too-large` for an owner of more than 4 KiB.
 */
export function parseLockBody(bytes: Uint8Array): LockRequest | undefined {
  if (bytes.byteLength === 0) return undefined;
  const root = parseXmlBody(bytes);
  if (!isDav(root, "lockinfo")) throw createError("lock-malformed");
  const scope = toChoice(root, "lockscope");
  const type = toChoice(root, "locktype");
  const isScope = isDav(scope, "exclusive") || isDav(scope, "shared");
  if (!isScope || !isDav(type, "write")) throw createError("lock-unsupported");
  return { scope: scope.name === "shared" ? "shared" : "exclusive", owner: toOwner(root) };
}

/** The one child of the only element with this name. */
function toChoice(root: XmlElement, name: string): XmlElement {
  const choices = davChildren(root, name).flatMap(elementsOf);
  const [choice] = choices;
  if (choice === undefined || choices.length > 1) throw createError("lock-malformed");
  return choice;
}

function toOwner(root: XmlElement): string {
  const [owner, ...others] = davChildren(root, "owner");
  if (others.length > 0) throw createError("lock-malformed");
  if (owner === undefined) return "";
  const text = writeElement(withDavPrefix(owner), MAX_OWNER_BYTES);
  if (text === undefined) throw createError("lock-owner-too-large", { values: { max: MAX_OWNER_BYTES } });
  return text;
}
