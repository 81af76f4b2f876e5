import { createError } from "../../http/errors.ts";
import { acceptsGzip } from "../../http/negotiate.ts";
import { bytesReply, type Reply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { toFileType } from "../../views/api-page.ts";
import { findAsset } from "../../views/assets.ts";
import { canCompress, compressAsset } from "./compress-asset.ts";

/**
 * `GET /__svc__/assets/<name>`: styles and scripts of the pages, for any client. Their names change with their content.
 */
export async function getAsset({ target, config, request }: RequestContext): Promise<Reply> {
  const name = target.path.slice(target.path.lastIndexOf("/") + 1);
  const { type, bytes } = await find(name, config);
  const isAccepted = canCompress() && acceptsGzip(request.headers.get("accept-encoding") ?? "");
  const zipped = isAccepted ? await compressAsset(name, bytes) : undefined;
  if (zipped === undefined) return bytesReply(200, bytes, { "Content-Type": type });
  return bytesReply(200, zipped, { "Content-Type": type, "Content-Encoding": "gzip" });
}

/** Finds the bytes of an asset and their type. @throws HttpError `not-found` */
async function find(name: string, { pages, apiPage }: RequestContext["config"]) {
  const asset = findAsset(name, pages.brandStyle);
  if (asset !== undefined) return { type: asset.type, bytes: new TextEncoder().encode(asset.text) };
  const file = (await apiPage?.load())?.find((one) => one.name === name);
  if (file === undefined) throw createError("not-found");
  return { type: toFileType(file), bytes: file.bytes };
}
