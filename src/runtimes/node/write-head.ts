import { ServerResponse } from "node:http";

/** The fields of the host that stay in addition to the service's: its cookies, and what its responses vary with. */
const KEPT = ["set-cookie", "vary"];

/**
 * Writes the head of a response, with what the host has set before, as a middleware does. Fields of the service replace
 * those of the host, but for {@link KEPT}.
 * @param fields names and values in turn.
 */
export function writeHead(res: ServerResponse, status: number, fields: readonly string[]): void {
  // A middleware that replaces the method may not know a flat list: on-headers before 1.1.0 takes it for one of pairs.
  const isPlain = res.writeHead === ServerResponse.prototype.writeHead;
  if (isPlain && res.getHeaderNames().length === 0) {
    res.writeHead(status, fields as string[]);
    return;
  }
  // If fields are set already, Node's `writeHead` keeps only the last of several with one name.
  for (const [name, values] of joinFields(res, fields)) {
    // Middleware expects a text where there is one value.
    res.setHeader(name, values.length > 1 ? values : values.join());
  }
  res.writeHead(status);
}

function joinFields(res: ServerResponse, fields: readonly string[]): ReadonlyMap<string, string[]> {
  const joined = new Map<string, string[]>();
  for (const name of KEPT) if (res.hasHeader(name)) joined.set(name, [res.getHeader(name) ?? []].flat().map(String));
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string;
    const key = KEPT.find((kept) => kept === name.toLowerCase()) ?? name;
    joined.set(key, [...(joined.get(key) ?? []), fields[at + 1] as string]);
  }
  return joined;
}
