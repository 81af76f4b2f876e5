import type { ClientCredentials, GetOptions, PutOptions } from "./options.ts";

/** The header fields of every request. */
export function toCommonHeaders(credentials: ClientCredentials): Readonly<Record<string, string>> {
  return {
    Accept: "application/json",
    // Keeps browsers from opening their own password dialog after a 401.
    "X-Requested-With": "XMLHttpRequest",
    ...(credentials !== "cookie" && { Authorization: toAuthorization(credentials) }),
  };
}

function toAuthorization(credentials: Exclude<ClientCredentials, "cookie">): string {
  if ("session" in credentials) return `session ${credentials.session}`;
  if ("token" in credentials) return `Bearer ${credentials.token}`;
  return `Basic ${btoa(toByteString(`${credentials.username}:${credentials.password}`))}`;
}

/** The header fields of a request's conditions and range. */
export function toConditionHeaders({
  range,
  ifRange,
  ifMatch,
  ifNoneMatch,
}: Pick<GetOptions, "range" | "ifRange" | "ifMatch" | "ifNoneMatch">): Readonly<Record<string, string>> {
  return {
    ...(range && { Range: `bytes=${range.start}-${range.end ?? ""}` }),
    ...(ifRange && { "If-Range": ifRange }),
    ...(ifMatch && { "If-Match": ifMatch }),
    ...(ifNoneMatch && { "If-None-Match": ifNoneMatch }),
  };
}

/** The header field with the metadata of an upload: quoted `key=value` items in UTF-8. */
export function toMetadataHeader(
  metadata: PutOptions["metadata"],
  header: string | undefined,
): Readonly<Record<string, string>> {
  if (metadata === undefined) return {};
  if (header === undefined) throw new TypeError("Metadata need the option metadataHeader of the client.");
  const items = Object.entries(metadata).flatMap(([key, values]) =>
    [values].flat().map((value) => `"${`${key}=${value}`.replaceAll('"', '""')}"`),
  );
  return { [header]: toByteString(items.join(", ")) };
}

/** The UTF-8 bytes of a text, a character each: `fetch` takes header values, and `btoa` its argument, only so. */
function toByteString(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}

/** The entity tag of a file; `undefined` if the storage has none. */
export function toEntityTag({ headers }: Response): string | undefined {
  return headers.get("ETag") ?? undefined;
}

/** The time of a file in POSIX seconds; `null` if the storage does not know it. */
export function toModified({ headers }: Response): number | null {
  const date = headers.get("Last-Modified");
  return date === null ? null : Date.parse(date) / 1000;
}
