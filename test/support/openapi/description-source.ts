import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { VERSION } from "../../../src/config/version.ts";
import type { WireExchange } from "./connection-reader.ts";
import type { WireTap } from "./wire-tap.ts";

/** Services name themselves in their answers, with the version, on every platform. Other servers do not. */
const NAME_END = `/${VERSION}`;
/** How long to wait for a description on a busy machine. */
const PATIENCE_MS = 30_000;

/** The address of a service. */
export interface Place {
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly basePath: string;
}

/** Whether a request asks for a description. */
export function isOfDescription({ request }: WireExchange): boolean {
  return request?.method === "GET" && /\/__svc__\/openapi\.json$/.test(request.target);
}

/** Whether an answer is a description: a test may have asked for it. */
export function isDescription(exchange: WireExchange): boolean {
  const { status, body } = exchange;
  return isOfDescription(exchange) && status === 200 && body !== undefined && namesItself(exchange);
}

/** Whether the answer is from a service. */
export function namesItself({ fields }: WireExchange): boolean {
  return fields.server?.endsWith(NAME_END) === true;
}

/** The base path of a target: what comes before a service's own paths. */
export function toBasePath(target = ""): string | undefined {
  return /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*?)\/(?:home|__svc__|____svc__)(?:[/?#]|$)/i.exec(target)?.[1];
}

/** The service of an exchange. */
export function toService({ host, port, isSecure, request }: WireExchange): Place | undefined {
  const basePath = toBasePath(request?.target);
  return basePath === undefined ? undefined : { host, port, isSecure, basePath };
}

/** Asks a service for its description, over a connection that `unheard` opens. */
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
