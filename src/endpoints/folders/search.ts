import { tap } from "../../contracts/byte-source.ts";
import { createError } from "../../http/errors.ts";
import { emptyReply, type HeaderFields, HTML_FIELDS, JSON_FIELDS, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { listingEvents, type SourceResponse, sendTracked } from "../../transfers/download-events.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { openSearchPage } from "../../views/folder/search-page.ts";
import { openJsonSearch } from "../../views/json-listing.ts";
import { type FoundMember, parseMemberOrder } from "../../views/member-order.ts";
import { toPageFields } from "../../views/page.ts";
import { withNavigation } from "../session-navigation.ts";
import { throwNotListed } from "../trailing-slash.ts";
import { createFindDenied } from "./allowed-actions.ts";
import { type SearchWalk, walkForSearch } from "./search-walk.ts";

/** As long as the longest name of common systems. */
const MAX_CHARACTERS = 255;

/**
 * Returns the text of the query `q`; `undefined` without one. A form of a page sends an empty text for nothing.
 * @throws HttpError `search-invalid`
 */
export function findSearch({ target, variant }: AccountContext): string | undefined {
  if (target.query === "") return undefined;
  const texts = new URLSearchParams(target.query).getAll("q");
  const [text = ""] = texts;
  if (texts.length === 0 || (variant === "html" && texts.length === 1 && text.trim() === "")) return undefined;
  if (texts.length === 1 && text.length <= MAX_CHARACTERS && toFolded(text) !== "") return text;
  throw createError("search-invalid", { values: { max: MAX_CHARACTERS } });
}

/**
 * `GET` and `HEAD /home/<folder>/?q=<text>`: the members below a folder whose names have a text, as JSON or as a page,
 * sent while the folders are read. It counts as a transfer.
 */
export async function searchFolder(context: AccountContext, text: string): Promise<Reply> {
  const { request, files, path, link, variant } = context;
  if (link?.isDropFolder) throw createError("denied");
  const fields = variant === "html" ? { ...toPageFields(context), ...HTML_FIELDS } : JSON_FIELDS;
  if (request.method === "HEAD") {
    await files.checkListing(path.segments).catch(throwNotListed);
    return emptyReply(200, fields);
  }
  return sendTracked(context, listingEvents, () => openSearch(context, text, fields));
}

async function openSearch(context: AccountContext, text: string, fields: HeaderFields): Promise<SourceResponse> {
  const { files, path, request, variant, target, link } = context;
  acquireTransfer(context);
  await files.checkListing(path.segments).catch(throwNotListed);
  const closing = new AbortController();
  const signal = AbortSignal.any([request.signal, closing.signal]);
  const wanted = toFolded(text);
  const walk = walkForSearch(context, (name) => toFolded(name).includes(wanted), signal);
  const { source } =
    variant === "html"
      ? await openSearchPage(await withNavigation(context), {
          isTruncated: walk.isTruncated,
          batches: withDenied(context, walk.batches),
          text,
          order: parseMemberOrder(new URLSearchParams(target.query)),
          folder: toFolderName(context),
          isViewable: link?.record.maxUses === undefined,
        })
      : await openJsonSearch(walk.batches, walk.isTruncated);
  // A host may cancel the response and leave the signal of the request as it is.
  return { source: tap(source, { onClose: () => closing.abort() }), fields };
}

/** Adds what the account may not do with what was found. */
async function* withDenied(
  context: AccountContext,
  batches: SearchWalk["batches"],
): AsyncGenerator<readonly FoundMember[], void> {
  const findDenied = await createFindDenied(context);
  for await (const batch of batches) {
    const members: FoundMember[] = [];
    for (const member of batch) {
      members.push({ ...member, denied: await findDenied(member.path, member.kind === "folder") });
    }
    yield members;
  }
}

/** The folder's own name; the root of a link has the name of what the link leads to. */
function toFolderName({ path, link, texts }: AccountContext): string {
  return path.segments.at(-1) ?? link?.record.path.at(-1) ?? texts.home;
}

/** Letters count the same in both cases, and with or without their accents. */
function toFolded(text: string): string {
  // Most names are ASCII, which the rest would leave as it is.
  if (/^[ -~]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}
