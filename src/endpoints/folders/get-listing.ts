import { toUrlPath } from "../../account/path.ts";
import { matchesWeakly } from "../../contracts/entity-tags.ts";
import { toBatches } from "../../contracts/member-batches.ts";
import { parseEntityTags } from "../../http/conditional.ts";
import { createError } from "../../http/errors.ts";
import { prefersNameOrder } from "../../http/preferences.ts";
import { emptyReply, type HeaderFields, JSON_FIELDS, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { listingEvents, type SourceResponse, sendTracked } from "../../transfers/download-events.ts";
import { openJsonListing } from "../../views/json-listing.ts";
import { throwNotListed } from "../trailing-slash.ts";
import { holdOpenFolder, toListingResponse } from "./hold-open-folder.ts";
import { parseCursor, toCursor } from "./listing-cursor.ts";
import { readFirstMembers, readMembersByName, toPieces } from "./listing-members.ts";

const SORTED = { "Preference-Applied": "order=name" };

/** `GET` and `HEAD /home/<folder>/` as JSON: all members (2.1), or a page of them. */
export async function getListing(context: AccountContext): Promise<Reply> {
  const { request, target, files } = context;
  const page = target.query === "" ? undefined : parsePage(new URLSearchParams(target.query));
  const isByName = prefersNameOrder(request);
  const tag = files.listingTag && (await findTag(context, isByName));
  if (tag !== undefined && isUnchanged(request, tag)) return emptyReply(304, { ETag: tag });
  const fields = { ...JSON_FIELDS, ETag: tag };
  if (page !== undefined)
    return send(context, () => openPage(context, page, isByName ? { ...fields, ...SORTED } : fields));
  if (isByName) return send(context, () => openSorted(context, fields));
  if (request.method !== "HEAD") return sendTracked(context, listingEvents, () => openMembers(context, fields));
  await files.checkListing(context.path.segments).catch(throwNotListed);
  return emptyReply(200, fields);
}

/** The page of a listing that a request names. */
interface Page {
  readonly limit: number;
  readonly cursor: string | undefined;
}

const MAX_LIMIT = 10_000;

/** Reads `limit=<number>&cursor=<text>`. Returns `undefined` without either. @throws HttpError `malformed`. */
function parsePage(query: URLSearchParams): Page | undefined {
  const [limits, cursors] = [query.getAll("limit"), query.getAll("cursor")];
  if (limits.length + cursors.length === 0) return undefined;
  const [text = ""] = limits;
  const limit = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : 0;
  if (limits.length !== 1 || limit === 0 || limit > MAX_LIMIT) {
    throw createError("limit-invalid", { values: { max: MAX_LIMIT } });
  }
  if (cursors.length > 1) throw createError("cursor-invalid");
  return { limit, cursor: cursors[0] };
}

/** The weak entity-tag of the listing: the order of its members may change without a change of the folder. */
async function findTag({ files, path }: AccountContext, isByName: boolean): Promise<string | undefined> {
  const tag = await files.listingTag?.(path.segments);
  return tag && `W/"${tag}${isByName ? "-name" : ""}"`;
}

/** Whether `If-None-Match` has the tag: the only condition that listings have. @throws HttpError `malformed`. */
function isUnchanged({ headers }: Request, tag: string): boolean {
  const tags = parseEntityTags(headers, "if-none-match");
  return tags !== undefined && matchesWeakly(tag, tags);
}

/** Responds with a listing whose header fields are known only when it is open; to HEAD without the content. */
async function send(context: AccountContext, open: () => Promise<SourceResponse>): Promise<Reply> {
  if (context.request.method !== "HEAD") return sendTracked(context, listingEvents, open);
  const { source, fields } = await open();
  await source.close();
  return emptyReply(200, fields);
}

async function openMembers(context: AccountContext, fields: HeaderFields): Promise<SourceResponse> {
  const listing = await openJsonListing(toBatches(context.files.list(context.path.segments))).catch(throwNotListed);
  return holdOpenFolder(context, listing, fields);
}

async function openSorted(context: AccountContext, fields: HeaderFields): Promise<SourceResponse> {
  const { batches, isSorted } = await readMembersByName(context).catch(throwNotListed);
  const listing = await openJsonListing(batches);
  if (isSorted) return toListingResponse(listing, { ...fields, ...SORTED });
  return holdOpenFolder(context, listing, fields);
}

async function openPage(context: AccountContext, page: Page, fields: HeaderFields): Promise<SourceResponse> {
  const { limit, cursor } = page;
  const { segments } = context.path;
  const listing = JSON.stringify([await context.files.listedKinds(segments), ...segments]);
  const after = cursor === undefined ? "" : parseCursor(cursor, listing);
  // One more member than the page has: if there is one, there is a next page.
  const found = await readFirstMembers(context, { after, limit: limit + 1 }).catch(throwNotListed);
  const members = found.slice(0, limit);
  const part = await openJsonListing(toPieces(members));
  const last = members.at(-1);
  if (found.length === members.length || last === undefined) return toListingResponse(part, fields);
  return toListingResponse(part, { ...fields, Link: toNextLink(context, toCursor(last.name, listing)) });
}

/** The value of `Link` (RFC 8288 3): the URL of the request with another cursor. */
function toNextLink({ root, path, target }: AccountContext, cursor: string): string {
  const query = new URLSearchParams(target.query);
  query.set("cursor", cursor);
  return `<${root}${toUrlPath(path)}?${query}>; rel="next"`;
}
