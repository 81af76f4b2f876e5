import ajvDraft04 from "ajv-draft-04";
import type { ApiDocument, ApiSchema } from "./document.ts";

const ajv = new ajvDraft04.default({ strict: false, allErrors: true, validateFormats: false });

type Components = Readonly<Record<string, ApiSchema>>;

/** Returns what is wrong with a value: nothing if it is valid. */
type Judge = (value: unknown) => readonly string[];

/** The judges of all documents, by the text of their schemas: most documents have the same ones. */
const compiled = new Map<string, Judge>();

/**
 * Creates judges of a document's schemas. Each is compiled once, at its first value. OpenAPI 3.0 is close to draft 4 of
 * JSON Schema; its `nullable` is converted to a type.
 */
export function createSchemaJudges(document: ApiDocument): (schema: ApiSchema) => Judge {
  const judges = new Map<ApiSchema, Judge>();
  const schemas = document.components?.schemas ?? {};

  function toJudge(schema: ApiSchema): Judge {
    const whole = { allOf: [toDraft04(schema)], components: { schemas: toDraft04(namedBy(schema, schemas)) } };
    const text = JSON.stringify(whole);
    const judge = compiled.get(text) ?? compile(whole);
    compiled.set(text, judge);
    return judge;
  }

  return (schema) => {
    const judge = judges.get(schema) ?? toJudge(schema);
    judges.set(schema, judge);
    return judge;
  };
}

function compile(schema: object): Judge {
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) => {
      const { additionalProperty } = params as { additionalProperty?: string };
      return `${instancePath || "the value"} ${message}${additionalProperty === undefined ? "" : `: ${additionalProperty}`}`;
    });
  };
}

/** The components that a schema refers to, directly or through others. */
function namedBy(schema: ApiSchema, schemas: Components): Components {
  const named: Record<string, ApiSchema> = {};
  const unread = [schema];
  for (let next = unread.pop(); next !== undefined; next = unread.pop()) {
    for (const [, name = ""] of JSON.stringify(next).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      const found = schemas[name];
      if (found === undefined || Object.hasOwn(named, name)) continue;
      named[name] = found;
      unread.push(found);
    }
  }
  return named;
}

function toDraft04(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toDraft04);
  if (typeof value !== "object" || value === null) return value;
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, key === "example" ? undefined : toDraft04(item)]),
  );
  if (nullable !== true) return typeof nullable === "object" ? { ...rest, nullable } : rest;
  return typeof rest.type === "string" ? { ...rest, type: [rest.type, "null"] } : { anyOf: [rest, { type: "null" }] };
}

/** A schema, and the value at the same place if a value is walked too. */
interface Place {
  readonly schema: ApiSchema;
  /** The path of the fields so far, such as `commands[].target`. In a component it starts with the component's name. */
  readonly at: string;
  readonly held: { readonly value: unknown } | undefined;
  /** The components that were walked already. */
  readonly open: readonly string[];
}

/** All fields of a schema by their paths. */
export function listFields(document: ApiDocument, schema: ApiSchema, at: string): Iterable<string> {
  return walk(document, { schema, at, held: undefined, open: [] });
}

/** The fields of a schema that a value has. */
export function fieldsIn(document: ApiDocument, schema: ApiSchema, at: string, value: unknown): Iterable<string> {
  return walk(document, { schema, at, held: { value }, open: [] });
}

function* walk(document: ApiDocument, place: Place): Generator<string> {
  const { schema, open, held } = place;
  if (schema.$ref !== undefined) {
    const name = schema.$ref.replace("#/components/schemas/", "");
    const target = document.components?.schemas?.[name];
    if (target === undefined || (held === undefined && open.includes(name))) return;
    yield* walk(document, { ...place, schema: target, at: `${name}: `, open: [...open, name] });
    return;
  }
  for (const part of [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) {
    yield* walk(document, { ...place, schema: part });
  }
  yield* walkItems(document, place);
  yield* walkProperties(document, place);
}

function* walkItems(document: ApiDocument, place: Place): Generator<string> {
  const { items } = place.schema;
  if (items === undefined) return;
  const at = `${place.at}[]`;
  if (place.held === undefined) yield* walk(document, { ...place, schema: items, at });
  else if (Array.isArray(place.held.value)) {
    for (const value of place.held.value) yield* walk(document, { ...place, schema: items, at, held: { value } });
  }
}

function* walkProperties(document: ApiDocument, place: Place): Generator<string> {
  const { at, held } = place;
  const values = toRecord(held?.value);
  for (const [name, schema] of Object.entries(place.schema.properties ?? {})) {
    if (held !== undefined && !Object.hasOwn(values, name)) continue;
    const field = at.endsWith(": ") ? at + name : `${at}.${name}`;
    yield field;
    yield* walk(document, { ...place, schema, at: field, held: held && { value: values[name] } });
  }
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
