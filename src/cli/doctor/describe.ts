import { X509Certificate } from "node:crypto";
import { toStoragePath } from "../../account/path.ts";
import { toServiceConfig } from "../../config/service-config.ts";
import { toResolver } from "../config/read/config-file.ts";
import type { ConfigFile } from "../config/schema.ts";
import { toStoreList } from "../config/store-list.ts";
import { type Finding, invalid, ok, problem, warning } from "../findings.ts";
import { findStoreProblem, type SharedStoreLocation } from "../shared-store.ts";
import { findWriteProblem } from "../write-problem.ts";
import { describeAccounts } from "./describe-accounts.ts";
import type { Examined } from "./examined.ts";
import { hostsOf } from "./hosts.ts";

const DAY_MS = 86_400_000;
/** A certificate that ends sooner is worth a warning. */
const RENEWAL_DAYS = 14;
const RETENTION_ADVICE = "choose a folder that contains no home, unless the rule is for all of them";
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

/** Says what a valid configuration would serve. */
export async function* describeConfiguration(examined: Examined): AsyncGenerator<Finding> {
  const { config } = examined;
  yield* describeAddresses(examined);
  yield describeStorage(config, examined);
  const homes = yield* describeAccounts(examined);
  yield ok("folders", describeFolders(config));
  yield* describeRetention(config, homes);
  yield* describeStores(examined);
  yield ok("features", describeFeatures(config));
  yield* describeOutputs(examined);
}

async function* describeAddresses({ config, settings }: Examined): AsyncGenerator<Finding> {
  const { host, port, tls, service } = settings;
  const { basePath, publicOrigin } = toServiceConfig(service);
  const authority = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  yield ok("listen", `${tls === undefined ? "http" : "https"}://${authority}${basePath}/`);
  if (publicOrigin !== "") yield ok("publicOrigin", `${publicOrigin}${basePath}/`);
  if (tls !== undefined) yield describeCertificate(String(tls.cert));
  const isProxied = publicOrigin !== "" || config.clientForwardedHeader !== undefined;
  if (tls === undefined && !isProxied && !LOOPBACK.test(host)) {
    yield warning("listen", "passwords cross the network in plain text", "set listen.tls, or put a proxy in front");
  }
  if (publicOrigin !== "" && config.clientForwardedHeader === undefined && LOOPBACK.test(host)) {
    const text = "all clients have the address of the proxy, and share its limits";
    yield warning("clientForwardedHeader", text, "name the header that the proxy writes, such as X-Forwarded-For");
  }
  if (config.metrics !== undefined) {
    const { host: shown = "127.0.0.1", port: at } = config.metrics;
    yield ok("metrics", `http://${shown}:${at}/metrics, and /ready`);
  }
}

function describeCertificate(pem: string): Finding {
  const { subject, subjectAltName = subject, validTo } = new X509Certificate(pem);
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
  const text = `${subjectAltName.replaceAll("\n", ", ")}, valid until ${new Date(validTo).toISOString().slice(0, 10)}`;
  if (days < 0) return problem("listen.tls", text, "it has expired: renew it");
  return days < RENEWAL_DAYS ? warning("listen.tls", text, "renew it") : ok("listen.tls", text);
}

function describeStorage({ storage = { type: "disk", root: "./files" } }: ConfigFile, { file }: Examined): Finding {
  if (storage.type === "memory") return warning("storage", "memory: all files are gone when the process ends");
  if (storage.type === "s3")
    return ok("storage", `s3, bucket ${storage.bucket}${storage.prefix ? `, ${storage.prefix}` : ""}`);
  if (storage.type === "azure")
    return ok("storage", `azure, container ${storage.container}${storage.prefix ? `, ${storage.prefix}` : ""}`);
  const { durability = "fsync", links = "hidden" } = storage;
  return ok("storage", `disk, ${toResolver(file)(storage.root)}, durability ${durability}, links ${links}`);
}

function describeFolders({ groups = {}, authentication }: ConfigFile): string {
  const accounts = authentication.flatMap((entry) => (entry.type === "accounts" ? (entry.accounts ?? []) : []));
  const own = [...Object.values(groups), ...accounts].flatMap(({ virtual_folders = [] }) => virtual_folders);
  const shown = [...new Set(own.map((pair) => JSON.stringify(pair)))];
  return shown.length === 0 ? "the home of each account" : `the home of each account, and ${shown.join(", ")}`;
}

/** A rule may be meant for the home of one account, but is seldom meant for homes inside of its folder. */
function* describeRetention(
  { retention = [], trash }: ConfigFile,
  homes: readonly (readonly string[])[],
): Generator<Finding> {
  for (const { path, seconds } of retention) {
    const end = trash === undefined ? "are removed" : "are moved to the trash";
    const text = `${path}, files older than ${seconds} seconds ${end}`;
    const hasHomes = homes.some((home) => toStoragePath(home).startsWith(path === "/" ? "/" : `${path}/`));
    yield hasHomes
      ? warning("retention", `${text}, also in homes of accounts`, RETENTION_ADVICE)
      : ok("retention", text);
  }
}

async function* describeStores({ settings }: Examined): AsyncGenerator<Finding> {
  const usable: string[] = [];
  const stores = toStoreList(settings);
  for (const { store, key } of stores) {
    const about = key.split(": ").at(-1) ?? key;
    const missing = await findStoreProblem(store);
    if (missing === undefined) usable.push(`${about}: ${describeStore(store)}`);
    else yield invalid(about, missing);
  }
  if (stores.length === 0) yield ok("stores", "the memory of the process");
  if (usable.length > 0) yield ok("stores", usable.join(", "));
}

/** A store without its password. */
export function describeStore(store: SharedStoreLocation): string {
  return store.kind === "redis" ? `Redis at ${new URL(store.url).host}` : `SQLite in ${store.file}`;
}

function describeFeatures(config: ConfigFile): string {
  const { uploads, offload, passwordPolicy } = config;
  const keys = [
    "webdav",
    "links",
    "quota",
    "trash",
    "versions",
    "retention",
    "digests",
    "idempotency",
    "scan",
    "cors",
  ] as const;
  const named = keys.filter((key) => config[key] !== undefined);
  return (
    [
      ...named,
      ...(uploads === false ? [] : ["resumable uploads"]),
      ...(offload === undefined ? [] : [`offload by ${offload.type}`]),
      ...(passwordPolicy === undefined ? [] : ["a password policy"]),
    ].join(", ") || "none"
  );
}

async function* describeOutputs({ file, config, settings }: Examined): AsyncGenerator<Finding> {
  const { events = {}, log = {} } = config;
  const format = log.format ?? settings.logFormat ?? "text";
  yield log.file === undefined
    ? ok("log", `${format}, on stderr`)
    : await describeWritable("log.file", toResolver(file)(log.file), format);
  if (events.webhooks?.length) yield ok("events.webhooks", events.webhooks.map(({ url }) => hostsOf(url)).join(", "));
  if (events.file === undefined) return;
  yield await describeWritable("events.file", toResolver(file)(events.file));
}

async function describeWritable(about: string, path: string, format?: string): Promise<Finding> {
  const reason = await findWriteProblem(path);
  if (reason !== undefined) return invalid(about, `${path}: ${reason}`);
  return ok(about, format === undefined ? path : `${path}, ${format}`);
}
