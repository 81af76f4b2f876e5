import type { Presign } from "../contracts/downloads/presign.ts";
import { checkNames, checkOption } from "../contracts/option-error.ts";
import type { IpNetwork } from "../http/ip-network.ts";
import { isCount, isObject } from "./checks.ts";
import { toNetworks } from "./networks.ts";

/** The option `offload`: which other server sends the content of downloads. */
export type OffloadOptions = NginxOffload | ApacheOffload | PresignedOffload;

/** Members that nginx and Apache have both. */
interface ProxyOffload {
  /** Smaller files are sent by the service itself. Default: 0. */
  readonly minBytes?: number;
  /**
   * The addresses or networks of the proxy, as the socket sees them, before `clientForwardedHeader`. The service sends
   * files to anyone else itself. Default: `["127.0.0.1", "::1"]`.
   */
  readonly trustedPeers?: readonly string[];
  /** Whether the proxy reports the end of each transfer, by a request of its own. Default: false. */
  readonly report?: boolean;
}

/** nginx in front of the service sends files from the same disk (`X-Accel-Redirect`). */
export interface NginxOffload extends ProxyOffload {
  readonly type: "nginx";
  /** The path of an internal location of nginx whose files are those of the storage's root, such as `/protected/`. */
  readonly prefix: string;
}

/** Apache in front of the service, with mod_xsendfile, sends files from the same disk (`X-Sendfile`). */
export interface ApacheOffload extends ProxyOffload {
  readonly type: "apache";
  /** The storage's root as Apache sees it: an absolute path. */
  readonly root: string;
}

/** Clients download from where the files are stored, by a redirect (307) to a URL that is valid for a short time. */
export interface PresignedOffload {
  readonly type: "presigned";
  /** `presignRead` of a storage in S3, or a function of your own. */
  readonly presign: Presign;
  /** How long a URL is valid, in whole seconds, from 1 to 604,800. Default: 60. */
  readonly seconds?: number;
  /** Smaller files are sent by the service itself. Default: 1,048,576. */
  readonly minBytes?: number;
  /** Whether WebDAV clients are redirected, too. Many follow no redirect. Default: false. */
  readonly webdav?: boolean;
}

/** The option `offload` with its defaults. */
export type OffloadConfig = ProxyOffloadConfig | Required<PresignedOffload>;

/** nginx or Apache, with defaults. */
export interface ProxyOffloadConfig {
  readonly type: "nginx" | "apache";
  /** What stands before the path of a file: a path with a `/` at its end. */
  readonly base: string;
  readonly minBytes: number;
  readonly trustedPeers: readonly IpNetwork[];
  readonly report: boolean;
}

const OF_PROXIES = ["type", "minBytes", "trustedPeers", "report"];
const NAMES = {
  nginx: [...OF_PROXIES, "prefix"],
  apache: [...OF_PROXIES, "root"],
  presigned: ["type", "presign", "seconds", "minBytes", "webdav"],
} as const;

/** Checks the option. @throws OptionError for an option such as `offload.prefix`. */
export function toOffload(offload: OffloadOptions | undefined): OffloadConfig | undefined {
  if (offload === undefined) return undefined;
  const isKnown = isObject(offload) && Object.hasOwn(NAMES, offload.type);
  checkOption(isKnown, "offload.type", '"nginx", "apache" or "presigned"');
  checkNames(offload, NAMES[offload.type], "offload.");
  return offload.type === "presigned" ? toPresigned(offload) : toProxy(offload);
}

function toPresigned({ type, presign, seconds = 60, minBytes = 1_048_576, webdav = false }: PresignedOffload) {
  checkOption(typeof presign === "function", "offload.presign", "a function, such as presignRead of a storage in S3");
  checkOption(isCount(seconds) && seconds <= 604_800, "offload.seconds", "a whole number from 1 to 604800");
  checkBytes(minBytes);
  checkOption(typeof webdav === "boolean", "offload.webdav", "true or false");
  return { type, presign, seconds, minBytes, webdav };
}

function toProxy(offload: NginxOffload | ApacheOffload): ProxyOffloadConfig {
  const { type, minBytes = 0, trustedPeers = ["127.0.0.1", "::1"], report = false } = offload;
  checkBytes(minBytes);
  checkOption(typeof report === "boolean", "offload.report", "true or false");
  return {
    type,
    base: offload.type === "nginx" ? toPrefix(offload.prefix) : toRoot(offload.root),
    minBytes,
    trustedPeers: toNetworks(trustedPeers, "offload.trustedPeers"),
    report,
  };
}

function checkBytes(minBytes: number): void {
  checkOption(minBytes === 0 || isCount(minBytes), "offload.minBytes", "a whole number of bytes, or 0");
}

function toPrefix(prefix: string): string {
  const isPath = typeof prefix === "string" && /^\/(?:[\w.~-]+\/)+$/.test(prefix) && !/\/\.\.?\//.test(prefix);
  checkOption(isPath, "offload.prefix", "the path of a location, such as /protected/");
  return prefix;
}

function toRoot(root: string): string {
  const isPath = typeof root === "string" && /^\/[^%\p{Cc}\p{Cs}]*$/u.test(root);
  checkOption(isPath, "offload.root", "the absolute path of a folder without %, such as /srv/files");
  return `${root.replace(/\/+$/, "")}/`;
}
