/** The value of `If-Match` or `If-None-Match`: `"*"` for any file, or entity-tags with their quotes. */
export type EntityTags = "*" | readonly string[];

/** Whether `If-Match` selects a file with this entity-tag, by the strong comparison (RFC 9110 8.8.3.2, 13.1.1). */
export function matchesStrongly(etag: string, tags: EntityTags): boolean {
  return tags === "*" || tags.some((tag) => isStrongMatch(tag, etag));
}

/** Whether `If-None-Match` lists a file with this entity-tag, by the weak comparison (RFC 9110 8.8.3.2, 13.1.2). */
export function matchesWeakly(etag: string, tags: EntityTags): boolean {
  return tags === "*" || tags.some((tag) => withoutPrefix(tag) === withoutPrefix(etag));
}

/** Whether two entity-tags are equal and neither is weak (RFC 9110 8.8.3.2). */
export function isStrongMatch(one: string, other: string): boolean {
  return one === other && toStrongTag(one) !== undefined;
}

/** Returns an entity-tag that `If-Match` can select by; `undefined` for a weak tag, and if there is none. */
export function toStrongTag(etag: string | undefined): string | undefined {
  return etag?.startsWith("W/") === true ? undefined : etag;
}

function withoutPrefix(etag: string): string {
  return etag.replace(/^W\//, "");
}
