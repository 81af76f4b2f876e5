import { RESERVED_NAME } from "../../account/path.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";

const ID = /^[0-9a-f]{32}$/;

/** Whether a text has the form of an id. */
export function isUploadId(text: string): boolean {
  return ID.test(text);
}

/** The path of an upload's URL. It has no scheme and host: a proxy in front may have others. */
export function toUploadPath({ root }: Pick<RequestContext, "root">, id: string): string {
  return `${toPrefix(root)}${id}`;
}

/** The id that the path of an upload's URL has; `undefined` for another path. */
export function parseUploadPath({ root }: Pick<RequestContext, "root">, path: string): string | undefined {
  const prefix = toPrefix(root);
  const id = path.startsWith(prefix) ? path.slice(prefix.length) : "";
  return isUploadId(id) ? id : undefined;
}

function toPrefix(root: string): string {
  return `${root}${RESERVED_NAME}/uploads/`;
}

/** The id that the URL of the request has. The routes have checked it. */
export function toUploadId({ path }: Pick<RequestContext, "path">): string {
  return path.segments.at(-1) ?? "";
}

/** `POST` on the URL of an upload stands for other methods only. */
export async function refuseMethod(): Promise<Reply> {
  throw createError("method-not-allowed");
}
