import type { OffloadConfig } from "../../config/offload.ts";
import { type ServiceConfig, toServiceConfig } from "../../config/service-config.ts";
import { isInNetworks } from "../../http/ip-network.ts";
import { type Finding, ok, problem } from "../findings.ts";
import type { Examined } from "./examined.ts";
import type { Arrival } from "./probe-server.ts";
import { askPublicly } from "./public-request.ts";
import { toProbeContent, toProbePath } from "./storage.ts";

/** A file in the storage for the server that sends downloads. */
export interface ProbeFile {
  readonly path: string;
  readonly size: number;
  readonly config: OffloadConfig;
}

/** Writes a file for the server in front; `undefined` if it sends none, or the storage fails. */
export async function writeProbeFile({ settings }: Examined): Promise<ProbeFile | undefined> {
  const { offload: config, storage } = toServiceConfig(settings.service);
  if (config === undefined || config.type === "presigned") return undefined;
  const path = toProbePath();
  const entry = await storage.write(path, toProbeContent()).catch(() => undefined);
  return entry && { path, size: entry.size, config };
}

export async function removeProbeFile({ settings }: Examined, file: ProbeFile | undefined): Promise<void> {
  if (file !== undefined) await settings.service.storage.remove(file.path).catch(() => undefined);
}

/** The header by which the service hands a file over. */
export function toHandOver({ path, config }: ProbeFile): Readonly<Record<string, string>> {
  if (config.type === "presigned") return {};
  const name = config.type === "nginx" ? "X-Accel-Redirect" : "X-Sendfile";
  return { [name]: `${config.base}${path.slice(1)}`, "Content-Type": "application/octet-stream" };
}

/** Lets the server in front send a file from the disk. */
export async function* examineOffload(
  { url, base }: { readonly url: URL; readonly base: string; readonly config: ServiceConfig },
  { address: peer }: Pick<Arrival, "address">,
  file: ProbeFile,
): AsyncGenerator<Finding> {
  const { config } = file;
  if (config.type === "presigned") return;
  if (!isInNetworks(peer, config.trustedPeers)) {
    yield problem("offload.trustedPeers", `the proxy is at ${peer}`, "add it: the service sends all files itself");
  }
  const response = await askPublicly({ origin: url, path: `${base}/offload` });
  yield "status" in response && response.body.length === file.size
    ? ok("offload", `${config.type} sends files from the storage`)
    : problem("offload", `${config.type} does not send a file of the storage`, toAdvice(config));
}

/** Downloads a file from where a bucket says it is. */
export async function* examinePresigned({ settings }: Examined): AsyncGenerator<Finding> {
  const { offload: config, storage } = toServiceConfig(settings.service);
  if (config?.type !== "presigned") return;
  const path = toProbePath();
  try {
    const { size, etag } = await storage.write(path, toProbeContent());
    const url = await config.presign(path, {
      seconds: config.seconds,
      contentType: "application/octet-stream",
      contentDisposition: "attachment",
      ...(etag !== undefined && { etag }),
    });
    if (url === undefined) {
      const advice = "let the bucket report the same entity-tag for a file until it changes";
      yield problem("offload", "no presigned URL was made for a file that was just written", advice);
      return;
    }
    const response = await fetch(url);
    const { byteLength } = await response.arrayBuffer();
    yield byteLength === size
      ? ok("offload", "the bucket sends files by presigned URLs")
      : problem("offload", `a presigned URL is ${response.status}`, toReadAdvice(url));
  } catch (error) {
    yield problem("offload", (error as Error).message);
  } finally {
    await storage.remove(path).catch(() => undefined);
  }
}

function toReadAdvice(url: string): string {
  const advice = "allow the key of the service to read objects";
  return new URL(url).searchParams.has("versionId") ? `${advice} by version (s3:GetObjectVersion)` : advice;
}

function toAdvice({ type }: OffloadConfig): string {
  return type === "nginx"
    ? "compare offload.prefix and storage.root with the internal location, and let nginx read the files"
    : "compare offload.root with storage.root, turn on XSendFile, and let Apache read the files";
}
