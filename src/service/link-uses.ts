import type { AccountFiles } from "../account/files.ts";
import type { AccountUpload } from "../account/uploads/account-uploads.ts";
import { tap, toByteSource } from "../contracts/byte-source.ts";
import type { Placement } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import { type Reply, type ReplyBody, releaseBody } from "../http/reply.ts";
import type { AccountContext } from "../request/context.ts";
import { waitUntil } from "../request/wait-until.ts";
import type { LinkRecord } from "../sharing/record.ts";
import type { LimitedLink, LinkUses } from "../sharing/uses.ts";

/** The uses of the link of one request (SHARING 7). */
export interface RequestUses {
  /** Adds to files that each one that is stored takes a use, before its content is read. */
  limit(files: AccountFiles): AccountFiles;
  /**
   * Takes a use for the download of a file or an archive. If another server sends it, `whenReportedCut` reports that it
   * was cut.
   * @throws HttpError `link-used-up`
   */
  limitDownload(reply: Reply, whenReportedCut?: AccountContext["whenReportedCut"]): Promise<Reply>;
}

/** Creates the uses of a request; `undefined` for a link without a limit. */
export function createRequestUses(
  context: Pick<AccountContext, "connection" | "report">,
  record: LinkRecord,
  uses: LinkUses | undefined,
): RequestUses | undefined {
  const { id, expires, maxUses } = record;
  if (uses === undefined || maxUses === undefined) return undefined;
  const link: LimitedLink = { id, expires, maxUses };

  async function take(counts: LinkUses, count = 1): Promise<void> {
    if (!(await counts.take(link, count))) throw createError("link-used-up");
  }

  /**
   * Gives uses back, also if the client has disconnected: runtimes that end the request then are kept alive for it. A
   * failure is reported.
   */
  function giveBack(counts: LinkUses, reason: "upload" | "download", count = 1): Promise<void> {
    const giving = counts.giveBack(link, reason, count).catch((error: unknown) => context.report(error));
    waitUntil(context, giving);
    return giving;
  }

  async function storing<T>(counts: LinkUses, store: () => Promise<T>): Promise<T> {
    await take(counts);
    try {
      return await store();
    } catch (error) {
      await giveBack(counts, "upload");
      throw error;
    }
  }

  /** A copy takes a use for each file in it. */
  async function copying(
    counts: LinkUses,
    copy: AccountFiles["copy"],
    [from, to, options]: Parameters<AccountFiles["copy"]>,
  ): Promise<Placement> {
    let taken = 0;
    const onFiles = async (count: number): Promise<void> => {
      if (count === 0) return;
      await take(counts, count);
      taken = count;
    };
    try {
      return await copy(from, to, { ...options, onFiles });
    } catch (error) {
      if (taken > 0) await giveBack(counts, "upload", taken);
      throw error;
    }
  }

  function limit(counts: LinkUses, files: AccountFiles): AccountFiles {
    const { uploads } = files;
    return {
      ...files,
      write: (...file) => storing(counts, () => files.write(...file)),
      copy: (...copy) => copying(counts, files.copy, copy),
      ...(uploads && {
        uploads: {
          ...uploads,
          // Partial uploads become one file when they are joined, which takes the use.
          create({ note, ...upload }) {
            const isCounted = hasUse({ note });
            const create = () => uploads.create({ ...upload, note });
            return isCounted ? storing(counts, create) : create();
          },
          join: (...join) => storing(counts, () => uploads.join(...join)),
          async discard(uploadId) {
            const upload = await uploads.peek(uploadId);
            const discarded = await uploads.discard(uploadId);
            if (discarded === "unfinished" && upload !== undefined && hasUse(upload)) await giveBack(counts, "upload");
            return discarded;
          },
        },
      }),
    };
  }

  async function limitDownload(
    counts: LinkUses,
    reply: Reply,
    whenReportedCut: AccountContext["whenReportedCut"],
  ): Promise<Reply> {
    try {
      await take(counts);
    } catch (error) {
      releaseBody(reply.body);
      throw error;
    }
    const onBroken = (): void => void giveBack(counts, "download");
    if (whenReportedCut !== undefined) {
      whenReportedCut(onBroken);
      return reply;
    }
    return { ...reply, body: reply.body && onCut(reply.body, toLength(reply), onBroken) };
  }

  return { limit: (files) => limit(uses, files), limitDownload: (...download) => limitDownload(uses, ...download) };
}

/** Takes a use for a reply that is the download of a file or an archive. No part of a file has a use of its own. */
export async function withUses(
  { request, path, whenReportedCut }: Pick<AccountContext, "request" | "path" | "whenReportedCut">,
  uses: RequestUses,
  reply: Reply,
): Promise<Reply> {
  const headers: Reply["headers"] = reply.headers.map(([name, value]) =>
    name === "Accept-Ranges" ? [name, "none"] : [name, value],
  );
  const isArchive = headers.some(([name, value]) => name === "Content-Type" && value === "application/zip");
  // A form can ask for an archive, too.
  const isSent = reply.status === 200 && request.method !== "HEAD";
  const isDownload = isSent && (isArchive || (request.method === "GET" && !path.isFolder));
  return isDownload ? uses.limitDownload({ ...reply, headers }, whenReportedCut) : { ...reply, headers };
}

/** Whether an upload has a use that it gives back. That of a joined file is in the file. */
function hasUse({ note }: Pick<AccountUpload, "note">): boolean {
  return note.concat !== "partial" && note.joined === undefined;
}

/** Whether a browser asks in advance, perhaps for nothing. */
export function isPrefetch(headers: Headers): boolean {
  return [headers.get("sec-purpose"), headers.get("purpose")].some((value) => /\bprefetch\b/i.test(value ?? ""));
}

/** Calls `act` if a body is not read to its end: `length` bytes, if that is known. */
function onCut(body: ReplyBody, length: number | undefined, act: () => void): ReplyBody {
  if (typeof body === "string" || "byteLength" in body) return body;
  let count = 0;
  const source = "readInto" in body ? body : toByteSource(body);
  return tap(source, {
    onBytes: (bytes) => {
      count += bytes;
    },
    onEnd: () => undefined,
    onError: act,
    // A server need not ask whether there are more bytes than it has announced.
    onClose: () => count !== length && act(),
  });
}

function toLength({ headers }: Reply): number | undefined {
  const length = headers.find(([name]) => name === "Content-Length")?.[1];
  return length === undefined ? undefined : Number(length);
}
