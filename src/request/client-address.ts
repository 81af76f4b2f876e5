import type { ServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import { readForwardedClient } from "../http/forwarded.ts";

/**
 * The connection as the client has it: its peer is the one that the named header tells of, else the remote end of the socket (CONTRACT 6.7), and its
 * security that of the public origin, where there is one.
 */
export function withClient(
  connection: Connection,
  { headers }: Request,
  config: Pick<ServiceConfig, "clientForwardedHeader" | "publicOrigin">,
): Connection {
  const { clientForwardedHeader: name, publicOrigin } = config;
  const client = name === "" ? undefined : readForwardedClient(headers, name);
  if (client === undefined && publicOrigin === "") return connection;
  return {
    ...connection,
    ...(client !== undefined && { peer: { ...client, protocol: "TCP" } }),
    ...(publicOrigin !== "" && { isSecure: publicOrigin.startsWith("https:") }),
  };
}
