import * as z from "zod";
import { accountInfoSchema } from "../schemas/account-info.ts";
import { keyListSchema, keyResultsSchema, newKeySchema } from "../schemas/api-keys.ts";
import {
  commandsErrorSchema,
  commandsResponseSchema,
  createCommandsRequestSchema,
  createOutcomeSchemas,
} from "../schemas/commands.ts";
import { errorsSchema } from "../schemas/errors.ts";
import { linkListSchema, linkResultsSchema, newLinkSchema } from "../schemas/links.ts";
import { listingSchema, searchSchema } from "../schemas/listing.ts";
import { loginRequestSchema, loginResponseSchema } from "../schemas/login.ts";
import { passwordUpdateRequestSchema, passwordUpdateResponseSchema } from "../schemas/password-update.ts";
import { quotaSchema } from "../schemas/quota.ts";
import { createTrashCommandsSchema, trashListSchema } from "../schemas/trash.ts";
import { unfinishedUploadsSchema } from "../schemas/uploads.ts";
import { createVersionCommandsSchema, versionListSchema } from "../schemas/versions.ts";
import type { OpenApiOptions } from "./input-options.ts";
import type { ReferenceObject, SchemaObject } from "./types.ts";

/** The JSON bodies by their names in the document. The service validates bodies with the same schemas. */
const SCHEMAS = {
  Listing: listingSchema,
  Search: searchSchema,
  LoginRequest: loginRequestSchema,
  LoginResponse: loginResponseSchema,
  AccountInfo: accountInfoSchema,
  Quota: quotaSchema,
  TrashList: trashListSchema,
  VersionList: versionListSchema,
  UploadList: unfinishedUploadsSchema,
  KeyList: keyListSchema,
  KeyResults: keyResultsSchema,
  NewKeyRequest: newKeySchema,
  LinkList: linkListSchema,
  LinkResults: linkResultsSchema,
  NewLinkRequest: newLinkSchema,
  PasswordUpdateRequest: passwordUpdateRequestSchema,
  PasswordUpdateResponse: passwordUpdateResponseSchema,
  CommandResults: commandsResponseSchema,
  CommandErrors: commandsErrorSchema,
  Errors: errorsSchema,
} as const;

/** The name of a JSON body's schema. */
export type SchemaName = keyof typeof SCHEMAS | "CommandsRequest" | "TrashCommandsRequest" | "VersionCommandsRequest";

/** Returns a reference to a schema of the document. */
export function toSchemaRef(name: SchemaName): ReferenceObject & SchemaObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Converts all schemas to the dialect of OpenAPI 3.0. */
export function toSchemas(service: OpenApiOptions): Readonly<Record<string, SchemaObject>> {
  const { triggers, maxCommands, hasLinks, hasTrash } = service;
  const schemas: Readonly<Record<string, z.ZodType>> = {
    ...SCHEMAS,
    ...((hasLinks || hasTrash) && createOutcomeSchemas(service)),
    CommandsRequest: createCommandsRequestSchema({ triggers, maxTargets: maxCommands, hasLinks }),
    TrashCommandsRequest: createTrashCommandsSchema(maxCommands),
    VersionCommandsRequest: createVersionCommandsSchema(maxCommands),
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema(schema)]));
}

/** Most schemas are constants, and a process may have many services. */
const converted = new WeakMap<z.ZodType, SchemaObject>();

/** Converts a schema to the dialect of OpenAPI 3.0. */
export function toSchema(schema: z.ZodType): SchemaObject {
  const known = converted.get(schema) ?? convert(schema);
  converted.set(schema, known);
  return known;
}

function convert(schema: z.ZodType): SchemaObject {
  return z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override: ({ jsonSchema }) => {
      // `readonly()` in a zod schema is about our code. In OpenAPI, `readOnly` would mean that clients must not send
      // the member.
      delete jsonSchema.readOnly;
      // zod writes a tuple of one item as a choice of one schema.
      const [only, ...others] = toChoice(jsonSchema.items);
      if (only !== undefined && others.length === 0) jsonSchema.items = only;
    },
  });
}

function toChoice(items: z.core.JSONSchema.BaseSchema["items"]): readonly z.core.JSONSchema._JSONSchema[] {
  return typeof items === "object" && "anyOf" in items ? (items.anyOf ?? []) : [];
}
