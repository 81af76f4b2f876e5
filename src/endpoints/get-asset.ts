import { HttpError } from "../http/http-error.ts";
import { textResponse } from "../http/responses.ts";
import { findAsset } from "../views/assets.ts";
import type { Exchange } from "./endpoint.ts";

/** `GET /__svc__/assets/<name>`: style and script of the pages, for anybody. Names change with what is in them. */
export async function getAsset({ target, config }: Exchange): Promise<Response> {
  const name = target.path.slice(target.path.lastIndexOf("/") + 1);
  const asset = findAsset(name, config.pages.brandStyle);
  if (asset === undefined) throw new HttpError("not-found", "Not found.");
  return textResponse(200, asset.text, { "Content-Type": asset.type });
}
