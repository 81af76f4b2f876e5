import type { ServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import { type ForwardedClient, readForwardedClient } from "../http/forwarded.ts";
import { isInNetworks } from "../http/ip-network.ts";

type ProxyConfig = Pick<ServiceConfig, "clientForwardedHeader" | "publicOrigin" | "trustedProxies">;

/**
 * The connection from the client's point of view. Its peer comes from the option `clientForwardedHeader` if the request
 * has this header, otherwise from the socket (CONTRACT 6.7). If the option `publicOrigin` is set, its scheme decides
 * `isSecure`.
 */
export function withForwardedPeer(
  connection: Connection,
  { headers }: Pick<Request, "headers">,
  config: ProxyConfig,
): Connection {
  const { publicOrigin } = config;
  const client = findForwardedClient(connection, headers, config);
  if (client === undefined && publicOrigin === "") return connection;
  return {
    ...connection,
    ...(client !== undefined && { peer: { ...client, protocol: "TCP" } }),
    ...(publicOrigin !== "" && { isSecure: publicOrigin.startsWith("https:") }),
  };
}

function findForwardedClient(
  { peer }: Connection,
  headers: Headers,
  { clientForwardedHeader: name, trustedProxies }: ProxyConfig,
): ForwardedClient | undefined {
  if (name === "") return undefined;
  // Without this, a client that bypasses the proxy could choose its own address.
  if (trustedProxies !== undefined && !(peer && isInNetworks(peer.address, trustedProxies))) return undefined;
  return readForwardedClient(headers, name, trustedProxies);
}
