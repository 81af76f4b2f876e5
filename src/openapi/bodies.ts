import type { DescribedOptions } from "./described-options.ts";
import type { RequestBodyObject, SchemaObject } from "./openapi-document.ts";
import { toSchemaRef } from "./schemas.ts";

const FORM = "application/x-www-form-urlencoded";
const JSON_TYPE = "application/json";
const text = { type: "string" } as const;
const NAMES = { username: "maria", password: "a long secret" };
const PASSWORDS = { current_password: "a long secret", new_password: "a longer secret" };

/** A text of a form: viewers fill fields without an example with words of their own. */
function textLike(example: string): SchemaObject {
  return { ...text, example };
}

/** A form of texts, whose fields may all be there. */
function toForm(fields: Readonly<Record<string, SchemaObject>>, required: readonly string[]): SchemaObject {
  return { type: "object", properties: fields, required };
}

/** The bodies of requests. */
const BODIES = {
  content: () => ({
    description: "The content of the file, in one coding: none.",
    required: false,
    content: { "*/*": { schema: { type: "string", format: "binary" } } },
  }),
  login: ({ basePath }) => ({
    description: "Name and password.",
    required: true,
    content: {
      [JSON_TYPE]: { schema: toSchemaRef("LoginRequest"), example: NAMES },
      [FORM]: {
        schema: toForm(
          {
            username: textLike(NAMES.username),
            password: textLike(NAMES.password),
            return: textLike(`${basePath}/home/`),
          },
          ["username", "password"],
        ),
      },
    },
  }),
  password: () => ({
    description: "The password as it is and as it is to be.",
    required: true,
    content: {
      [JSON_TYPE]: {
        schema: toSchemaRef("PasswordUpdateRequest"),
        example: PASSWORDS,
      },
      [FORM]: {
        schema: {
          ...toForm(
            {
              current_password: textLike(PASSWORDS.current_password),
              new_password: textLike(PASSWORDS.new_password),
            },
            ["current_password", "new_password"],
          ),
          additionalProperties: false,
        },
      },
    },
  }),
  folder: ({ formActions, triggers, variants }) => {
    const members: SchemaObject = { type: "array", items: text, example: [] };
    const files: SchemaObject = { type: "array", items: { type: "string", format: "binary" }, example: [] };
    const action: SchemaObject = { ...text, enum: [...formActions, ...triggers] };
    const fields = { action, "new-folder": textLike("example"), "upload-file": files, "selected-members": members };
    const commands = [
      { command: "create-folder-if-missing", target: "example" },
      { command: "create-folder-if-missing", target: "another example" },
    ];
    return {
      description: `Commands, or the form of a browser${variants.length === 1 ? "; either is answered in the way of this API" : ""}.`,
      required: true,
      content: {
        [JSON_TYPE]: { schema: toSchemaRef("CommandsRequest"), example: { commands } },
        "multipart/form-data": { schema: toForm(fields, ["action"]) },
      },
    };
  },
} as const satisfies Readonly<Record<string, (service: DescribedOptions) => RequestBodyObject>>;

/** One of the bodies. */
export type BodyName = keyof typeof BODIES;

/** A body of requests to this service. */
export function toRequestBody(name: BodyName, service: DescribedOptions): RequestBodyObject {
  return BODIES[name](service);
}
