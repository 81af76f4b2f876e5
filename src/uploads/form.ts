import { HttpError } from "../http/http-error.ts";
import type { FormPart } from "../http/multipart.ts";
import { createUtf8Decoder } from "../platform/utf8.ts";
import { type FormFiles, isEmptyInput } from "./form-files.ts";

/** The actions of a folder's form that are built in (4.6); any other is a trigger's. */
export const FORM_ACTIONS = ["create-folder", "upload-file", "delete-members", "download-members"] as const;

/** The action that stores files (4.6). */
const UPLOAD_ACTION: (typeof FORM_ACTIONS)[number] = "upload-file";

/** The fields of a folder's form (4.6): how they are called, and what they hold. No other is read, and what is described is this. */
export const FORM_FIELDS = {
  action: { name: "action", holds: "action" },
  newFolder: { name: "new-folder", holds: "text" },
  file: { name: "upload-file", holds: "files" },
  member: { name: "selected-members", holds: "texts" },
} as const;

type FormField = keyof typeof FORM_FIELDS;

const FIELD_OF: ReadonlyMap<string, FormField> = new Map(
  (Object.keys(FORM_FIELDS) as FormField[]).map((field) => [FORM_FIELDS[field].name, field]),
);

/** What all fields of a form may hold together, in bytes, unless the caller says otherwise. */
const MAX_FIELD_BYTES = 1024 * 1024;

/** What the fields of a form say (4.6). */
export interface FormFields {
  readonly action: string;
  /** Each of them: what is done by it needs exactly one. */
  readonly newFolders: readonly string[];
  readonly members: readonly string[];
}

/**
 * Reads a form to its end and hands its files on as they arrive (CONTRACT 4.6). Fields of other names are passed over, as are those that the action does not
 * need: a page may have one form for all. `isAction` says which actions there are, `maxFieldBytes` what all texts may hold together: 1 MiB by default.
 * @throws HttpError `malformed` without exactly one such action, for a file in place of a text or the reverse, and as {@link readMultipart} does;
 * `too-large` for texts beyond that. Files that waited for the action are given up then.
 */
export async function receiveForm(
  parts: AsyncIterable<FormPart>,
  files: FormFiles,
  isAction: (name: string) => boolean,
  maxFieldBytes = MAX_FIELD_BYTES,
): Promise<FormFields> {
  const readField = createFieldReader(maxFieldBytes);
  const newFolders: string[] = [];
  const members: string[] = [];
  let action: string | undefined;

  async function receiveField({ name, body }: FormPart): Promise<void> {
    const value = await readField(body);
    switch (FIELD_OF.get(name)) {
      case "action":
        return receiveAction(value);
      case "newFolder":
        newFolders.push(value);
        return;
      case "member":
        members.push(value);
        return;
      case "file":
        throw new HttpError("malformed", "The form has text in a field for files.");
    }
  }

  async function receiveAction(value: string): Promise<void> {
    if (action !== undefined) throw new HttpError("malformed", "The form has more than one action.");
    if (!isAction(value)) throw new HttpError("malformed", "The form's action is unknown.");
    action = value;
    await files.decide(action === UPLOAD_ACTION);
  }

  async function receiveFile(part: FormPart): Promise<void> {
    if (FIELD_OF.get(part.name) === "file") return files.receive(part);
    // A file that nobody stores must not pass for one that was.
    if (!(await isEmptyInput(part)))
      throw new HttpError("malformed", "The form has a file in a field that takes no files.");
  }

  try {
    for await (const part of parts) await (part.filename === undefined ? receiveField(part) : receiveFile(part));
    if (action === undefined) throw new HttpError("malformed", "The form has no action.");
    return { action, newFolders, members };
  } finally {
    if (action === undefined) await files.decide(false);
  }
}

/** Reads texts, which may hold so much together. */
function createFieldReader(maxBytes: number): (body: AsyncIterable<Uint8Array>) => Promise<string> {
  let left = maxBytes;

  return async function readField(body) {
    const decoder = createUtf8Decoder();
    let text = "";
    for await (const chunk of body) {
      left -= chunk.byteLength;
      if (left < 0) throw new HttpError("too-large", `The form's fields have more than ${maxBytes} bytes.`);
      text += decode(decoder, chunk);
    }
    return text + decode(decoder);
  };
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new HttpError("malformed", "The form has a field that is not valid UTF-8.");
  }
}
