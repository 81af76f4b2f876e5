import { createError } from "../http/errors.ts";
import type { FormPart } from "../http/multipart.ts";
import { createByteCollector } from "../platform/byte-collector.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import { type FormFiles, type FormPermits, isEmptyInput } from "./form-files.ts";

/** The built-in actions of a folder's form (4.6). Any other action is the name of a trigger. */
export const FORM_ACTIONS = [
  "create-folder",
  "upload-file",
  "delete-members",
  "purge-members",
  "download-members",
  "rename-member",
  "move-members",
  "copy-members",
] as const;

/** The action that leads to the page for a new link to a member, if the service has links. */
export const SHARE_ACTION = "share-members";

/** The action that stores files (4.6). */
const UPLOAD_ACTION: (typeof FORM_ACTIONS)[number] = "upload-file";

/** The fields of a folder's form (4.6): their names and kinds. Others are ignored. The OpenAPI document uses this. */
export const FORM_FIELDS = {
  action: { name: "action", holds: "action" },
  newFolder: { name: "new-folder", holds: "text" },
  file: { name: "upload-file", holds: "files" },
  /** Uploads its files by itself: programs such as `curl -F file=@report.pdf` need no `action`. */
  plainFile: { name: "file", holds: "files", needsNoAction: true },
  member: { name: "selected-members", holds: "texts" },
  /** More members for `download-members`, separated by `/`: a form may have fewer parts than a folder has members. */
  downloadList: { name: "download-list", holds: "texts" },
  newName: { name: "new-name", holds: "text" },
  destination: { name: "destination", holds: "text" },
  /** The name of who sends the files, before them, or of who copies. Only for links that ask for it. */
  sender: { name: "sender", holds: "text" },
} as const;

/** The action that downloads members as an archive. */
export const DOWNLOAD_ACTION: (typeof FORM_ACTIONS)[number] = "download-members";

/** The maximum number of names in the field `download-list`. */
export const MAX_LISTED = 10_000;

type FormField = keyof typeof FORM_FIELDS;

const FIELD_OF: ReadonlyMap<string, FormField> = new Map(
  (Object.keys(FORM_FIELDS) as FormField[]).map((field) => [FORM_FIELDS[field].name, field]),
);

/** What a service knows about its forms, for {@link receiveForm}. */
export interface FormOptions {
  /** Decides which actions exist. */
  isAction(name: string): boolean;
  /** Limits all text fields together. */
  readonly maxFieldBytes: number;
  readonly permits: Pick<FormPermits, "holdBytes">;
  /** Called before each file, with the values of `sender` so far. Default: nothing. */
  onFile?(senders: readonly string[]): void;
}

/** The values of a form's fields (4.6). */
export interface FormFields {
  readonly action: string;
  /** All values of the field. The action that uses it needs exactly one. */
  readonly newFolders: readonly string[];
  readonly members: readonly string[];
  /** The names in the field `download-list`. */
  readonly listed: readonly string[];
  /** All values of each field. */
  readonly newNames: readonly string[];
  readonly destinations: readonly string[];
  readonly senders: readonly string[];
}

/**
 * Reads a form to its end and passes its files to `files` as they arrive (CONTRACT 4.6). Ignores unknown fields, and
 * fields that the action does not need: a page may have one form for all actions. A file in the field `file` before
 * any action means the action `upload-file`.
 * @throws HttpError `malformed` if the form does not have exactly one valid action, has a file in place of a text or
 * the reverse, lists too many names, or as {@link readMultipart} does; `too-large` if its texts exceed the limit; what
 * `permits` throw. Files that wait for the action are discarded then.
 */
export async function receiveForm(
  parts: AsyncIterable<FormPart>,
  files: FormFiles,
  { isAction, maxFieldBytes, permits, onFile }: FormOptions,
): Promise<FormFields> {
  const readField = createFieldReader(maxFieldBytes, permits);
  const texts = {
    newFolder: [] as string[],
    member: [] as string[],
    downloadList: [] as string[],
    newName: [] as string[],
    destination: [] as string[],
    sender: [] as string[],
  };
  let action: string | undefined;
  let isActionImplied = false;

  async function receiveField({ name, body }: FormPart): Promise<void> {
    const value = await readField(body);
    const field = FIELD_OF.get(name);
    switch (field) {
      case undefined:
        return;
      case "action":
        return receiveAction(value);
      case "file":
      case "plainFile":
        throw createError("form-text-unexpected");
      case "downloadList":
        return addListed(texts.downloadList, value);
      default:
        texts[field].push(value);
    }
  }

  async function receiveAction(value: string): Promise<void> {
    if (isActionImplied && value === UPLOAD_ACTION) return;
    if (action !== undefined) throw createError("form-action-repeated");
    if (!isAction(value)) throw createError("form-action-unknown");
    action = value;
    await files.decide(action === UPLOAD_ACTION);
  }

  async function receiveFile(part: FormPart): Promise<void> {
    const field = FIELD_OF.get(part.name);
    if (field === "file" || field === "plainFile") onFile?.(texts.sender);
    if (field === "plainFile" && action === undefined) {
      await receiveAction(UPLOAD_ACTION);
      isActionImplied = true;
    }
    if (field === "file" || field === "plainFile") return files.receive(part);
    // Ignoring the file would let the user believe that it was stored.
    if (!(await isEmptyInput(part))) throw createError("form-file-unexpected");
  }

  try {
    for await (const part of parts) await (part.filename === undefined ? receiveField(part) : receiveFile(part));
    if (action === undefined) throw createError("form-action-missing");
    return {
      action,
      newFolders: texts.newFolder,
      members: texts.member,
      listed: texts.downloadList,
      newNames: texts.newName,
      destinations: texts.destination,
      senders: texts.sender,
    };
  } finally {
    if (action === undefined) await files.decide(false);
  }
}

/** Adds the names of a list, without empty ones: no name has a `/`. */
function addListed(names: string[], list: string): void {
  names.push(...list.split("/", MAX_LISTED + 1).filter((name) => name !== ""));
  if (names.length > MAX_LISTED) throw createError("form-too-many-names", { values: { max: MAX_LISTED } });
}

/** Makes a reader of texts that limits their bytes together. */
function createFieldReader(
  maxBytes: number,
  permits: Pick<FormPermits, "holdBytes">,
): (body: AsyncIterable<Uint8Array>) => Promise<string> {
  let left = maxBytes;

  return async function readField(body) {
    const collector = createByteCollector();
    for await (const chunk of body) {
      left -= chunk.byteLength;
      if (left < 0) throw createError("form-fields-too-large", { values: { max: maxBytes } });
      permits.holdBytes(chunk.byteLength);
      collector.add(chunk);
    }
    const text = decodeUtf8(collector.bytes());
    if (text === undefined) throw createError("form-field-not-utf8");
    return text;
  };
}
