import { isStorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { MULTISTATUS_END, MULTISTATUS_START, type PropertyStatus, xmlReply } from "../../webdav/multistatus.ts";
import { type ChangePlan, needsOnlyWrite, planChanges, writeChanges } from "../../webdav/property-changes.ts";
import { toPropertyKey } from "../../webdav/property-name.ts";
import { PROPPATCH_LIMITS, parseProppatchBody } from "../../webdav/proppatch-body.ts";
import { readXmlBody } from "../../webdav/read-xml-body.ts";
import { findResource, toContentLocation, toHref } from "./resource.ts";

/** `PROPPATCH` (RFC 4918 9.2): sets and removes properties, all or nothing. */
export async function patchProperties(context: AccountContext): Promise<Reply> {
  const { request, path, config } = context;
  const plan = planChanges(parseProppatchBody(await readXmlBody(request, PROPPATCH_LIMITS)), config.clock());
  const { entry } = await findResource(context);
  const failed = needsOnlyWrite(plan) ? await setWindowsTime(context, plan) : await change(context, plan);
  const isFolder = entry.kind === "folder";
  const response = writeChanges(toHref(context, { segments: path.segments, isFolder }), plan, failed);
  const fields = toContentLocation(context, isFolder);
  return xmlReply(207, `${MULTISTATUS_START}${response}${MULTISTATUS_END}`, fields);
}

type Failed = ReadonlyMap<string, PropertyStatus>;

const NONE: Failed = new Map();

/** Explorer sets times after each upload. Accounts that may write succeed, even if the time stays as it is. */
async function setWindowsTime({ files, path }: AccountContext, { modified }: ChangePlan): Promise<Failed> {
  const { segments } = path;
  const maySet = await files.may(segments, "set-attributes");
  if (!maySet && !(await files.may(segments, "write"))) throw createError("denied");
  if (maySet && modified !== undefined) await files.setAttributes(segments, { modified }).catch(ignoreUnsupported);
  return NONE;
}

async function change({ files, path }: AccountContext, plan: ChangePlan): Promise<Failed> {
  const { segments } = path;
  const { properties, modified, timeKeys, refused } = plan;
  if (!(await files.may(segments, "set-attributes"))) throw createError("denied");
  if (refused.size > 0) return refused;
  const mustSetTime = timeKeys.length > 0;
  try {
    await files.setAttributes(segments, { properties, ...(modified && mustSetTime && { modified }) });
  } catch (error) {
    if (!isStorageError(error) || (error.code !== "unsupported" && error.code !== "no-space")) throw error;
    const keys = plan.names.map(toPropertyKey);
    if (error.code === "no-space") return new Map(keys.filter((key) => properties.has(key)).map((key) => [key, 507]));
    return new Map((mustSetTime ? timeKeys : keys).map((key) => [key, 403]));
  }
  if (modified && !mustSetTime) await files.setAttributes(segments, { modified }).catch(ignoreUnsupported);
  return NONE;
}

function ignoreUnsupported(error: unknown): void {
  if (!isStorageError(error) || error.code !== "unsupported") throw error;
}
