import { hasCode } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent, toFileLocation } from "../../request/emit-event.ts";
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
/** For operators; clients get the status of each property. */
const NOT_CHANGEABLE = "A property of the request cannot be changed as it asks.";

/** Explorer sets times after each upload. Accounts that may write succeed, even if the time stays as it is. */
async function setWindowsTime({ files, path }: AccountContext, { modified }: ChangePlan): Promise<Failed> {
  const { segments } = path;
  const maySet = await files.may(segments, "set-attributes");
  if (!maySet && !(await files.may(segments, "write"))) throw createError("denied");
  if (maySet && modified !== undefined) await files.setAttributes(segments, { modified }).catch(ignoreUnsupported);
  else await files.requireUnlocked(segments);
  return NONE;
}

async function change(context: AccountContext, plan: ChangePlan): Promise<Failed> {
  const { files, path } = context;
  const { properties, modified, timeKeys, refused } = plan;
  if (refused.size > 0 && (await files.may(path.segments, "set-attributes"))) return refuse(context, refused);
  try {
    await files.setAttributes(path.segments, { properties, ...(modified && { modified }) });
    return NONE;
  } catch (error) {
    const isTimeNeedless = modified !== undefined && timeKeys.length === 0 && properties.size > 0;
    // The time is that of Explorer, which must not fail.
    if (isUnsupported(error) && isTimeNeedless) return change(context, { ...plan, modified: undefined });
    return toFailed(error, plan);
  }
}

/** Refuses changes that are never possible: none is made, and the event says so. */
async function refuse(context: AccountContext, refused: Failed): Promise<Failed> {
  const { files, path } = context;
  await files.requireUnlocked(path.segments);
  emitEvent(context, { id: 49007, data: { ...toFileLocation(context, path.segments), details: NOT_CHANGEABLE } });
  return refused;
}

/** The statuses of the properties for an error of the storage. @throws any other error. */
function toFailed(error: unknown, { names, properties, timeKeys }: ChangePlan): Failed {
  const keys = names.map(toPropertyKey);
  if (isUnsupported(error)) return new Map((timeKeys.length > 0 ? timeKeys : keys).map((key) => [key, 403]));
  if (!hasCode(error, "no-space")) throw error;
  return new Map(keys.filter((key) => properties.has(key)).map((key) => [key, 507]));
}

function isUnsupported(error: unknown): boolean {
  return hasCode(error, "unsupported");
}

function ignoreUnsupported(error: unknown): void {
  if (!isUnsupported(error)) throw error;
}
