import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { isHttpError } from "../../http/http-error.ts";
import { toContentType } from "../../http/media-types/by-name.ts";
import { prefersMinimalReturn } from "../../http/preferences.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { listingEvents, sendTracked } from "../../transfers/download-events.ts";
import { openTextSource } from "../../views/text-source.ts";
import { parseDepth } from "../../webdav/depth.ts";
import { QUOTA_PROPERTIES } from "../../webdav/live-properties.ts";
import {
  encodeSegment,
  MULTISTATUS_END,
  MULTISTATUS_START,
  writeError,
  XML_TYPE,
  xmlReply,
} from "../../webdav/multistatus.ts";
import { davKey } from "../../webdav/property-name.ts";
import { asksFor, parsePropfindBody } from "../../webdav/propfind-body.ts";
import {
  type AskedLocks,
  createResponseWriter,
  type ResponseWriter,
  toAskedLocks,
} from "../../webdav/propfind-response.ts";
import { readXmlBody } from "../../webdav/read-xml-body.ts";
import { holdOpenFolder } from "../folders/hold-open-folder.ts";
import { createQuotaProperties, type QuotaPropertiesOf } from "./quota-properties.ts";
import { findResource, toContentLocation, toHref } from "./resource.ts";
import { findLocks, findLocksOfMembers, NO_LOCKS } from "./resource-locks.ts";
import { walkFolders } from "./walk-folders.ts";

/**
 * `PROPFIND` (RFC 4918 9.1): the properties of a file or folder, with `Depth: 1` also of the members. It is sent while
 * the members are read, in the order of the storage. A failure in the middle breaks the connection off.
 */
export async function findProperties(context: AccountContext): Promise<Reply> {
  const { request, path, config } = context;
  const propfind = await readPropfind(request);
  const { write } = propfind;
  const { entry, isVisible } = await findResource(context);
  const isFolder = entry.kind === "folder";
  const depth = isFolder ? parseDepth("PROPFIND", request.headers) : "0";
  if (depth === "infinity" && config.webdav?.infiniteDepth !== true) {
    return xmlReply(403, writeError("propfind-finite-depth"));
  }
  const dead = isVisible && entry.hasProperties ? await context.files.properties(path.segments) : undefined;
  const quotaOf = propfind.needsQuota ? createQuotaProperties(context) : undefined;
  const properties = isFolder && isVisible && quotaOf ? await quotaOf(path.segments, entry, dead) : dead;
  const href = toHref(context, { segments: path.segments, isFolder });
  const locks = isVisible ? await findLocks(context, propfind, path.segments) : NO_LOCKS;
  const own = write({ href, entry, properties, ...locks, isHidden: !isVisible });
  const fields = { ...toContentLocation(context, isFolder), "Content-Type": XML_TYPE };
  if (depth === "0") return xmlReply(207, MULTISTATUS_START + own + MULTISTATUS_END, fields);
  return sendTracked(
    context,
    listingEvents,
    async () => {
      const pieces = writeMembers(context, { ...propfind, quotaOf }, MULTISTATUS_START + own, depth === "infinity");
      const listing = await openTextSource({
        next: async () => (await pieces.next()).value ?? undefined,
        close: async () => void (await pieces.return(undefined)),
      });
      return holdOpenFolder(context, listing, fields);
    },
    207,
  );
}

/** `PROPFIND` of `/` and `/home`: a folder with the member `home/`. */
export async function findRootProperties({ request, config, target }: AccountContext): Promise<Reply> {
  const { write } = await readPropfind(request);
  const depth = parseDepth("PROPFIND", request.headers);
  if (depth === "infinity" && config.webdav?.infiniteDepth !== true) {
    return xmlReply(403, writeError("propfind-finite-depth"));
  }
  const toFolder = (name: string): StorageEntry => ({
    name,
    kind: "folder",
    size: 0,
    modified: new Date(config.clock()),
  });
  const own = write({ href: target.path, entry: toFolder(""), mayWrite: false });
  const home = write({ href: `${config.basePath}/home/`, entry: toFolder("home"), mayWrite: false });
  return xmlReply(207, MULTISTATUS_START + own + (depth === "0" ? "" : home) + MULTISTATUS_END);
}

/** What a PROPFIND asks for, and the writer of its responses. */
interface PropfindRequest extends AskedLocks {
  readonly write: ResponseWriter;
  readonly needsQuota: boolean;
}

/** What the responses of members need. */
interface MembersRequest extends PropfindRequest {
  readonly quotaOf: QuotaPropertiesOf | undefined;
}

async function readPropfind(request: Request): Promise<PropfindRequest> {
  const query = parsePropfindBody(await readXmlBody(request));
  const write = createResponseWriter(query, { contentTypeOf: toContentType, isMinimal: prefersMinimalReturn(request) });
  return { write, needsQuota: asksFor(query, QUOTA_PROPERTIES.map(davKey)), ...toAskedLocks(query) };
}

/**
 * The length from which a text is sent before more members are written. Otherwise an attacker could fill the memory: by
 * a name of many kilobytes that is written for each member, in requests whose responses it reads slowly.
 */
const MAX_PIECE = 65_536;

type LocksOf = Awaited<ReturnType<typeof findLocksOfMembers>>;

async function* writeMembers(
  context: AccountContext,
  propfind: MembersRequest,
  start: string,
  isDeep: boolean,
): AsyncGenerator<string, undefined> {
  const { files, path } = context;
  const { quotaOf } = propfind;
  yield start;
  let current: { readonly folder: readonly string[]; readonly base: string; readonly locksOf: LocksOf } | undefined;
  for await (const { folder, members } of walkFolders(context, path.segments, isDeep)) {
    // Once for a folder, whose members may come in a hundred parts.
    if (current?.folder !== folder) {
      const base = toHref(context, { segments: folder, isFolder: true });
      current = { folder, base, locksOf: await findLocksOfMembers(context, propfind, folder) };
    }
    const { base, locksOf } = current;
    let text = "";
    for (const entry of members) {
      const segments = [...folder, entry.name];
      const dead = entry.hasProperties ? await files.properties(segments).catch(noneIfHidden) : undefined;
      const properties = entry.kind === "folder" && quotaOf ? await quotaOf(segments, entry, dead) : dead;
      const locks = locksOf === undefined ? NO_LOCKS : await locksOf(entry.name);
      text += propfind.write({ href: toMemberHref(base, entry), entry, properties, ...locks });
      if (text.length < MAX_PIECE) continue;
      yield text;
      text = "";
    }
    yield text;
  }
  yield MULTISTATUS_END;
}

/** Ignores the error for a member that was removed meanwhile, or whose properties the account may not see. */
function noneIfHidden(error: unknown): undefined {
  const isHidden = isHttpError(error) ? error.failure === "denied" : hasCode(error, "not-found");
  if (!isHidden) throw error;
}

function toMemberHref(base: string, { name, kind }: StorageEntry): string {
  return `${base}${encodeSegment(name)}${kind === "folder" ? "/" : ""}`;
}
