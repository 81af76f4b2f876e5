import type { ApiSchema } from "./document.ts";

/** The fields of a request or an answer, by their names in lower case. */
export type Fields = Readonly<Record<string, string>>;

/** A request, and its answer as a client saw it. */
export interface ApiExchange {
  readonly method: string;
  /** The request's target, or its whole URL. */
  readonly target: string;
  readonly requestFields: Fields;
  /** `undefined` if there is none, or if it cannot be read here. */
  readonly requestBody?: Uint8Array | undefined;
  readonly status: number;
  readonly fields: Fields;
  /** `undefined` if it was not read. */
  readonly body?: Uint8Array | undefined;
  /** Whether the client sent a certificate, which OpenAPI 3.0 cannot describe. */
  readonly isCertified?: boolean;
  /** Whether it may contain something undocumented. It is compared only if it was served. */
  readonly isProbe?: boolean | undefined;
}

/** Fields with their names in lower case. */
export function toFields(entries: Iterable<readonly [string, string]>): Fields {
  return Object.fromEntries([...entries].map(([name, value]) => [name.toLowerCase(), value]));
}

/** The media type of a `Content-Type` without its parameters, in lower case. */
export function toMediaType(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Finds the documented media type, or range of types, that fits a `Content-Type` best. */
export function findMediaType(documented: readonly string[], contentType: string | undefined): string | undefined {
  const type = toMediaType(contentType);
  const wanted = [contentType?.toLowerCase(), type, `${type.split("/", 1)[0]}/*`, "*/*"];
  for (const name of wanted) {
    const found = documented.find((key) => key.toLowerCase() === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Reads the fields of a request's body, to compare them with its schema. Returns `undefined` for content without
 * fields.
 */
export function readFieldsOf(
  bytes: Uint8Array,
  contentType: string,
  schema: ApiSchema,
): { readonly value: unknown } | undefined {
  const text = Buffer.from(bytes).toString();
  const type = toMediaType(contentType);
  if (type === "application/json") return { value: JSON.parse(text) };
  if (type === "application/x-www-form-urlencoded") return { value: gather([...new URLSearchParams(text)], schema) };
  return type === "multipart/form-data" ? { value: gather(readParts(text, contentType), schema) } : undefined;
}

/** The parts of a form, with files as texts. */
function readParts(text: string, contentType: string): readonly (readonly [string, string])[] {
  const [, quoted, token] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? [];
  const parts = text.split(`--${quoted ?? token}`).slice(1, -1);
  return parts.map((part) => {
    const end = part.indexOf("\r\n\r\n");
    const [, name = ""] = /[; ]name="([^"]*)"/i.exec(part.slice(0, end)) ?? [];
    return [name, part.slice(end + 4, -2)] as const;
  });
}

/** Makes lists of fields that may repeat, and of fields that repeat though they may not. */
function gather(entries: readonly (readonly [string, string])[], schema: ApiSchema): Readonly<Record<string, unknown>> {
  const names = [...new Set(entries.map(([name]) => name))];
  return Object.fromEntries(
    names.map((name) => {
      const values = entries.filter(([other]) => other === name).map(([, value]) => value);
      const isList = schema.properties?.[name]?.type === "array" || values.length > 1;
      return [name, isList ? values : values[0]];
    }),
  );
}
