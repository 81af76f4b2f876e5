import type { z } from "zod";
import { DRAFT_MEDIA_TYPE, TUS_MEDIA_TYPE } from "../http/uploads/vocabulary.ts";
import { keyFormSchema, type NewKeyBody, revokeFormSchema } from "../schemas/api-keys.ts";
import { linkFormSchema, type NewLinkBody, unlockFormSchema, withdrawFormSchema } from "../schemas/links.ts";
import { type LoginRequest, loginFormSchema } from "../schemas/login.ts";
import { type PasswordUpdateRequest, passwordUpdateFormSchema } from "../schemas/password-update.ts";
import { trashFormSchema } from "../schemas/trash.ts";
import { versionFormSchema } from "../schemas/versions.ts";
import type { OpenApiFormField, OpenApiOptions } from "./input-options.ts";
import { toSchema, toSchemaRef } from "./schemas.ts";
import type { RequestBodyObject, SchemaObject } from "./types.ts";

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const text = { type: "string" } as const;
const BYTES = { schema: { ...text, format: "binary" } } as const;
const NAMES: LoginRequest = { username: "maria", password: "a long secret" };
const LOGIN = { ...NAMES, one_time_password: "287082" } as const;
const NEW_LINK: NewLinkBody = { path: "/reports", permissions: ["allow-read", "allow-list"], expires_in: 86_400 };
const NEW_KEY: NewKeyBody = { label: "backup", permissions: ["allow-read", "allow-list"], expires_in: 7_776_000 };
const PASSWORDS: PasswordUpdateRequest = { current_password: "a long secret", new_password: "a longer secret" };

/** Returns the schema of a form of texts. Each field needs an example, because viewers fill in fields without one. */
function toForm<T extends z.ZodObject>(form: T, examples: Required<z.input<T>>): SchemaObject {
  const schema = toSchema(form);
  const fields = Object.entries(schema.properties as Readonly<Record<string, SchemaObject>>);
  const own: Readonly<Record<string, unknown>> = examples;
  return {
    ...schema,
    properties: Object.fromEntries(fields.map(([name, field]) => [name, { ...field, example: own[name] }])),
  };
}

/** Returns the schema of a folder's form, from the fields that the form parser reads. */
function toFolderForm({ formFields, formActions, triggers }: OpenApiOptions): SchemaObject {
  const schemas: Readonly<Record<OpenApiFormField["holds"], SchemaObject>> = {
    action: { ...text, enum: [...formActions, ...triggers] },
    text: { ...text, example: "example" },
    texts: { type: "array", items: text, example: [] },
    files: { type: "array", items: { type: "string", format: "binary" }, example: [] },
  };
  const sufficient = formFields.filter(({ holds, needsNoAction }) => holds === "action" || needsNoAction);
  const properties = Object.fromEntries(formFields.map(({ name, holds }) => [name, schemas[holds]]));
  return {
    type: "object",
    properties,
    // The form that generators of types understand: `anyOf` alone would be an alternative to the properties, and
    // `required` alone means any object.
    allOf: [
      {
        anyOf: sufficient.map(({ name }) => ({
          type: "object",
          properties: { [name]: properties[name] },
          required: [name],
        })),
      },
    ],
  };
}

/** The request bodies, by name. */
const BODIES: Readonly<Record<BodyName, (service: OpenApiOptions) => RequestBodyObject>> = {
  content: () => ({
    description: "The content of the file, without a content coding.",
    required: false,
    content: { "*/*": { schema: { type: "string", format: "binary" } } },
  }),
  part: () => ({
    description: "The next bytes of the file, without a content coding.",
    required: false,
    content: { [TUS_MEDIA_TYPE]: BYTES, [DRAFT_MEDIA_TYPE]: BYTES },
  }),
  folderOrPart: (service) => {
    const { description, content } = BODIES.folder(service);
    return {
      description: `${description} Of a request that creates an upload: the first bytes of the file.`,
      required: false,
      content: { ...content, "*/*": BYTES },
    };
  },
  login: ({ basePath }) => ({
    description: "User name and password; with two-factor login also a one-time password or recovery code.",
    required: true,
    content: {
      [JSON_TYPE]: { schema: toSchemaRef("LoginRequest"), example: NAMES },
      [FORM]: { schema: toForm(loginFormSchema, { ...LOGIN, return: `${basePath}/home/` }) },
    },
  }),
  password: () => ({
    description: "The current and the new password.",
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: toSchemaRef("PasswordUpdateRequest"),
        example: PASSWORDS,
      },
      [FORM]: { schema: toForm(passwordUpdateFormSchema, { ...PASSWORDS, repeated_password: PASSWORDS.new_password }) },
    },
  }),
  link: () => ({
    description: "What the link is to be.",
    required: true,
    content: {
      [JSON_TYPE]: { schema: toSchemaRef("NewLinkRequest"), example: NEW_LINK },
      [FORM]: { schema: toSchema(linkFormSchema), example: { ...NEW_LINK, expires_in: "86400" } },
    },
  }),
  key: () => ({
    description: "What the API key is to be.",
    required: true,
    content: {
      [JSON_TYPE]: { schema: toSchemaRef("NewKeyRequest"), example: NEW_KEY },
      [FORM]: { schema: toSchema(keyFormSchema), example: { ...NEW_KEY, expires_in: "7776000" } },
    },
  }),
  revocation: () => ({
    description: "The action of the form.",
    required: true,
    content: { [FORM]: { schema: toForm(revokeFormSchema, { action: "revoke" }) } },
  }),
  trash: () => ({
    description: "Commands, or the form of the page.",
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: toSchemaRef("TrashCommandsRequest"),
        example: { commands: [{ command: "restore", target: "20181113T142000123Z-3f5a9c0e7b1d2468" }] },
      },
      [FORM]: { schema: toForm(trashFormSchema, { action: "restore-members", "selected-members": [] }) },
    },
  }),
  versions: () => ({
    description: "Commands, or the form of the page.",
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: toSchemaRef("VersionCommandsRequest"),
        example: { commands: [{ command: "restore", target: "20181113T142000123Z-3f5a9c0e7b1d2468" }] },
      },
      [FORM]: { schema: toForm(versionFormSchema, { action: "restore-members", "selected-members": [] }) },
    },
  }),
  withdrawal: () => ({
    description: "The action of the form.",
    required: true,
    content: { [FORM]: { schema: toForm(withdrawFormSchema, { action: "withdraw" }) } },
  }),
  folderOfLink: (service) => withPassword(BODIES.folder(service)),
  folderOrPartOfLink: (service) => withPassword(BODIES.folderOrPart(service)),
  folder: (service) => {
    const commands = [
      { command: "create-folder-if-missing", target: "example" },
      { command: "create-folder-if-missing", target: "another example" },
    ];
    return {
      description: `Commands, or a form of the folder's page${toWay(service)}.`,
      required: true,
      content: {
        [JSON_TYPE]: { schema: toSchemaRef("CommandsRequest"), example: { commands } },
        "multipart/form-data": { schema: toFolderForm(service) },
      },
    };
  },
};

/** Adds the form of the page that asks for the password of a link. */
function withPassword({ description, required, content }: RequestBodyObject): RequestBodyObject {
  const form = { schema: toForm(unlockFormSchema, { password: "a long secret" }) };
  return {
    description: `${description} Or the password of the link.`,
    required,
    content: { ...content, [FORM]: form },
  };
}

/** Says how the REST API alone responds to commands and forms. */
function toWay({ variants }: OpenApiOptions): string {
  return variants.length > 1 ? "" : "; the response to either has the format of this API";
}

/** The name of a request body. */
export type BodyName =
  | "content"
  | "part"
  | "login"
  | "password"
  | "folder"
  | "folderOrPart"
  | "folderOfLink"
  | "folderOrPartOfLink"
  | "key"
  | "revocation"
  | "link"
  | "withdrawal"
  | "trash"
  | "versions";

/** Returns a request body of a service. */
export function toRequestBodyObject(name: BodyName, service: OpenApiOptions): RequestBodyObject {
  return BODIES[name](service);
}
