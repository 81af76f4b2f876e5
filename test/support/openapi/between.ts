import { VERSION } from "../../../src/config/version.ts";
import type { WireExchange } from "./connection-reader.ts";

/** A server between clients and a service, which forwards the service's answers. */
export interface Between {
  /** Names of fields that it adds, in lower case. */
  readonly adds?: readonly string[];
  /** Names of fields that it removes. */
  readonly drops?: readonly string[];
  /** Whether it is nginx: it puts its name in place of the service's, and sends error pages of its own. */
  readonly isNginx?: boolean;
  /** Whether the exchanges are those with a proxy that sends files in place of the service and reports their ends. */
  readonly isOffloaded?: boolean;
}

/** Header fields that a service sends to a proxy, never to a client. */
const FOR_PROXIES = ["x-accel-redirect", "x-sendfile", "x-offload-id"];

const between = new Map<number, Between>();

/** Registers the server between clients and the service at a port, for the rest of the run. */
export function standBetween(port: number, what: Between): void {
  between.set(port, what);
}

/** The names of fields that the service at a port sends and that clients do not see. */
export function droppedAt(port: number): readonly string[] {
  return between.get(port)?.drops ?? [];
}

/**
 * Returns an exchange as the service has answered it. Returns `undefined` for an error page of nginx itself, whose type
 * has no charset, unlike every page of a service; and for the report of a proxy, which no client sends.
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
