import { toStoragePath } from "../account/path.ts";
import { isStorageError, type StorageEntry, StorageError } from "../contracts/storage-adapter.ts";
import { emptyResponse, pageResponse, streamResponse } from "../http/responses.ts";
import { type SessionLinks, streamJsonListing, streamListingPage } from "../views/listing.ts";
import type { AccountExchange } from "./endpoint.ts";
import { passwordUpdatePath } from "./password-update.ts";

/** `GET` and `HEAD /home/<folder>/`: the members of a folder, as JSON or as a page (4.2, 4.6). */
export async function getFolder(exchange: AccountExchange): Promise<Response> {
  const { request, path, files, variant } = exchange;
  const members = files.list(path.segments)[Symbol.asyncIterator]();
  const first = await takeFirst(members);
  const type = { "Content-Type": `${variant === "html" ? "text/html" : "application/json"}; charset=utf-8` };
  if (request.method === "HEAD") {
    await members.return?.();
    return emptyResponse(200, type);
  }
  const listing = replay(first, members);
  return variant === "html" ? toPage(exchange, listing) : streamResponse(200, streamJsonListing(listing), type);
}

async function toPage(exchange: AccountExchange, listing: AsyncIterableIterator<StorageEntry>): Promise<Response> {
  const members: StorageEntry[] = [];
  for await (const member of listing) members.push(member);
  return pageResponse(
    200,
    streamListingPage(toStoragePath(exchange.path.segments), members, await toSessionLinks(exchange)),
  );
}

/** What a browser can do with its session beside the files (4.1, rule 4); a password that cannot be changed is not offered to be. */
async function toSessionLinks({ account, config, means, passwords }: AccountExchange): Promise<SessionLinks> {
  if (means !== "cookie") return {};
  const logout = `${config.basePath}/__svc__/logout`;
  const mayChange = account.allowPasswordChange && (await passwords.isPossible(account.name));
  return { logout, ...(mayChange && { passwordUpdate: passwordUpdatePath(config.basePath) }) };
}

/** The first step, at which a listing fails: the status is still open then. A file's name with a trailing `/` is nothing (CONTRACT 2.5). */
async function takeFirst(members: AsyncIterator<StorageEntry>): Promise<IteratorResult<StorageEntry>> {
  try {
    return await members.next();
  } catch (error) {
    const isFile = isStorageError(error) && error.code === "not-a-folder";
    throw isFile ? new StorageError("not-found", "a file, asked for as a folder", { cause: error }) : error;
  }
}

/** The whole iteration again, whose first step has been taken already. No generator: one that never started would not end `rest`. */
function replay(
  first: IteratorResult<StorageEntry>,
  rest: AsyncIterator<StorageEntry>,
): AsyncIterableIterator<StorageEntry> {
  let isFirst = true;
  return {
    next() {
      if (!isFirst) return rest.next();
      isFirst = false;
      return Promise.resolve(first);
    },
    return: async () => (await rest.return?.()) ?? { done: true, value: undefined },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
