import type { AccountFiles } from "../../account/files.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { isTransfer, refuseTransfer } from "../../transfers/too-many-transfers.ts";
import { getFile } from "../files/get-file.ts";
import { requireVersions } from "./version-path.ts";

/** How much events have of an ID: a client may send anything. */
const MAX_ID_CHARACTERS = 64;

/**
 * `GET` and `HEAD /home/__svc__/versions/<id>?path=<path>`: the content of a version, as the download of its file with
 * conditions and ranges. Another server cannot send it: it would send what the file has now.
 */
export async function getVersion(context: AccountContext): Promise<Reply> {
  const { segments, versions } = requireVersions(context);
  const [, , id = ""] = context.path.segments;
  const files: AccountFiles = {
    ...context.files,
    stat: (path) => versions.stat(path, id),
    read: (path, range) => versions.read(path, id, range),
  };
  const own: AccountContext = {
    ...context,
    path: { segments, isFolder: false },
    files,
    version: id.slice(0, MAX_ID_CHARACTERS),
    offload: undefined,
  };
  if (isTransfer(own) && !own.transferPermit.acquire()) throw refuseTransfer(own);
  return getFile(own);
}
