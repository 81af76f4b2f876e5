import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { VERSION } from "../../../src/config/version.ts";
import type { WireExchange } from "./connection-reader.ts";
import type { WireTap } from "./wire-tap.ts";

/** Services name themselves in their answers, with the version, wherever they run; nobody else does. */
const NAME_END = `/${VERSION}`;
/** So long is waited for a description, on a machine that has much to do. */
const PATIENCE_MS = 30_000;

/** Where a service is. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly basePath: string;
}

/** Whether somebody has asked for it. */
export function isOfDescription({ request }: WireExchange): boolean {
  return request?.method === "GET" && /\/__svc__\/openapi\.json$/.test(request.target);
}

/** Whether it is one: a test may have asked for it itself. */
export function isDescription(exchange: WireExchange): boolean {
  const { status, body } = exchange;
  return isOfDescription(exchange) && status === 200 && body !== undefined && namesItself(exchange);
}

/** Whether it is a service that answers. */
export function namesItself({ fields }: WireExchange): boolean {
  return fields.server?.endsWith(NAME_END) === true;
}

/** The base path, as a target has it before what is a service's. */
export function toBasePath(target = ""): string | undefined {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*?)\/(?:home|__svc__|____svc__)(?:[/?#]|$)/i.exec(target)?.[1];
}

/** The service that an exchange is with. */
export function toService({ host, port, isSecure, request }: WireExchange): Place | undefined {
  const basePath = toBasePath(request?.target);
  return basePath === undefined ? undefined : { host, port, isSecure, basePath };
}

/** Asks a service for its description, over a connection that is opened as `unheard` has it. */
export function fetchDescription(
  { basePath, isSecure, ...place }: Place,
  unheard: WireTap["unheard"] = (open) => open(),
): Promise<string> {
  const path = `${basePath}/__svc__/openapi.json`;
  const options = { ...place, path, headers: { accept: "application/json" }, agent: false, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const asking = unheard(() => (isSecure ? httpsRequest : httpRequest)(options));
    asking.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        response.statusCode === 200 ? resolve(text) : reject(new Error(`It answers ${response.statusCode}.`)),
      );
      response.on("error", reject);
    });
    asking.on("error", reject);
    asking.setTimeout(PATIENCE_MS, () => asking.destroy(new Error("It does not answer.")));
    asking.end();
  });
}
