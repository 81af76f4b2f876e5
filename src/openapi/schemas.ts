import { z } from "zod";
import { commandsErrorSchema, commandsResponseSchema, createCommandsRequestSchema } from "../schemas/commands.ts";
import { errorsSchema } from "../schemas/errors.ts";
import { listingSchema } from "../schemas/listing.ts";
import { loginRequestSchema, loginResponseSchema } from "../schemas/login.ts";
import { passwordUpdateRequestSchema, passwordUpdateResponseSchema } from "../schemas/password-update.ts";
import type { OpenApiOptions } from "./input-options.ts";
import type { ReferenceObject, SchemaObject } from "./types.ts";

/** The JSON bodies by their names in the document: the very schemas that check them. */
const SCHEMAS = {
  Listing: listingSchema,
  LoginRequest: loginRequestSchema,
  LoginResponse: loginResponseSchema,
  PasswordUpdateRequest: passwordUpdateRequestSchema,
  PasswordUpdateResponse: passwordUpdateResponseSchema,
  CommandResults: commandsResponseSchema,
  CommandErrors: commandsErrorSchema,
  Errors: errorsSchema,
} as const;

/** A JSON body of the service. */
export type SchemaName = keyof typeof SCHEMAS | "CommandsRequest";

/** The place of a schema in the document. */
export function toSchemaRef(name: SchemaName): ReferenceObject & SchemaObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** All schemas in the dialect of OpenAPI 3.0. */
export function toSchemas({ triggers, maxCommands }: OpenApiOptions): Readonly<Record<string, SchemaObject>> {
  const schemas: Readonly<Record<string, z.ZodType>> = {
    ...SCHEMAS,
    CommandsRequest: createCommandsRequestSchema(triggers, maxCommands),
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toSchema(schema)]));
}

/** A schema in the dialect of OpenAPI 3.0. */
export function toSchema(schema: z.ZodType): SchemaObject {
  return z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override: ({ jsonSchema }) => {
      // That code of ours does not write to a value says nothing about the body.
      delete jsonSchema.readOnly;
      // The one item of a tuple is no choice.
      const [only, ...others] = toChoice(jsonSchema.items);
      if (only !== undefined && others.length === 0) jsonSchema.items = only;
    },
  });
}

function toChoice(items: z.core.JSONSchema.BaseSchema["items"]): readonly z.core.JSONSchema._JSONSchema[] {
  return typeof items === "object" && "anyOf" in items ? (items.anyOf ?? []) : [];
}
