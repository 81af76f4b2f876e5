import type { OffloadConfig } from "../config/offload.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { Connection } from "../contracts/connection.ts";
import { isInNetworks } from "../http/ip-network.ts";
import type { Offload } from "../request/offload.ts";
import { createTransferReports } from "../transfers/offload.ts";

/** The option `offload` of a service. */
export interface ServiceOffload {
  /** Returns what a request over a socket may use; `undefined` for a peer that is not trusted. */
  forConnection(connection: Connection): Offload | undefined;
  /** Ends downloads that were not reported for too long. Returns their number. */
  expire(): number;
}

/** Creates the offload of a service; `undefined` without the option. */
export function createOffload({
  offload: config,
  storage,
  clock,
}: Pick<ServiceConfig, "offload" | "storage" | "clock">): ServiceOffload | undefined {
  if (config === undefined) return undefined;
  const reports = config.type !== "presigned" && config.report ? createTransferReports(clock) : undefined;
  const offload: Offload = { config, locateFile: createLocate(config, storage), ...(reports && { reports }) };
  const expire = (): number => reports?.expire() ?? 0;

  function forConnection({ peer }: Connection): Offload | undefined {
    expire();
    if (config === undefined || config.type === "presigned") return offload;
    const isTrusted = peer !== undefined && isInNetworks(peer.address, config.trustedPeers);
    return isTrusted ? offload : undefined;
  }

  return { forConnection, expire };
}

/**
 * A proxy has the files of the disk whose root is that of the service's storage: not those of other storages of a tree,
 * nor those of another folder of the same disk.
 */
function createLocate(config: OffloadConfig, storage: ServiceConfig["storage"]): Offload["locateFile"] {
  if (config.type !== "presigned") {
    return async (files, segments) => {
      const [root, found] = await Promise.all([storage.locateContent?.("/"), files.locateContent(segments)]);
      if (root === undefined || found?.medium !== "disk" || found.storage !== root.storage) return undefined;
      const path = files.realPathOf(segments);
      return found.path === (root.path === "/" ? path : root.path + path) ? path : undefined;
    };
  }
  const { storage: only } = config.presign;
  if (only === undefined) return async (files, segments) => files.realPathOf(segments);
  return async (files, segments) => {
    const found = await files.locateContent(segments);
    return found?.storage === only ? found.path : undefined;
  };
}
