import { VERSION } from "../../../src/config/version.ts";
import type { WireExchange } from "./connection-reader.ts";

/** A server that hands on what a service answers. */
export interface Between {
  /** Names of fields that it adds, in lower case. */
  readonly adds?: readonly string[];
  /** Names of fields that it takes away. */
  readonly drops?: readonly string[];
  /** Whether it is nginx, which puts its name in place of the service's, and has answers of its own. */
  readonly isNginx?: boolean;
  /** Whether what is seen goes to a proxy that sends files in place of the service, and reports that. */
  readonly isOffloaded?: boolean;
}

/** What a service tells a proxy, and no client. */
const FOR_PROXIES = ["x-accel-redirect", "x-sendfile", "x-offload-id"];

const between = new Map<number, Between>();

/** Says who stands between clients and the service at a port, as long as these tests run. */
export function standBetween(port: number, what: Between): void {
  between.set(port, what);
}

/** The names of fields that are not seen at a port though the service has sent them. */
export function droppedAt(port: number): readonly string[] {
  return between.get(port)?.drops ?? [];
}

/**
 * An exchange as the service has answered it; `undefined` where nginx itself has: a page whose type tells no charset,
 * which no service has. A report of a proxy is none of a client.
 */
export function seeThrough(exchange: WireExchange): WireExchange | undefined {
  const { adds = [], isNginx = false, isOffloaded = false } = between.get(exchange.port) ?? {};
  if (isOffloaded && exchange.request?.target.startsWith("/__svc__/offload/")) return undefined;
  const added = isOffloaded ? [...adds, ...FOR_PROXIES] : adds;
  const fields = Object.fromEntries(Object.entries(exchange.fields).filter(([name]) => !added.includes(name)));
  if (!isNginx || !/^nginx\b/.test(fields.server ?? "")) return { ...exchange, fields };
  if (fields["content-type"] === "text/html") return undefined;
  return { ...exchange, fields: { ...fields, server: `fileferry/${VERSION}` } };
}
