import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { bytesReply, textReply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { toFileType } from "../../views/api-page.ts";
import { findAsset } from "../../views/assets.ts";

/**
 * `GET /__svc__/assets/<name>`: styles and scripts of the pages, for any client. Their names change with their content.
 */
export async function getAsset({ target, config }: RequestContext): Promise<Reply> {
  const name = target.path.slice(target.path.lastIndexOf("/") + 1);
  const asset = findAsset(name, config.pages.brandStyle);
  if (asset !== undefined) return textReply(200, asset.text, { "Content-Type": asset.type });
  const files = await config.apiPage?.load();
  const file = files?.find((one) => one.name === name);
  if (file === undefined) throw createError("not-found");
  return bytesReply(200, file.bytes, { "Content-Type": toFileType(file) });
}
