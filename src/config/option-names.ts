import { checkNames } from "../contracts/option-error.ts";
import type { LimitOptions } from "./limits.ts";
import type { FileServiceOptions } from "./options.ts";

/** The options of a service, and the members of those that are plain objects. */
const NAMES: Readonly<Record<keyof FileServiceOptions, readonly string[] | undefined>> = {
  storage: undefined,
  authentication: undefined,
  identify: undefined,
  identifiedBy: undefined,
  anonymous: undefined,
  groups: undefined,
  basePath: undefined,
  server: ["name", "uuid"],
  component: ["uuid"],
  publicError: undefined,
  usernameOfCertificate: undefined,
  session: ["store", "idleSeconds", "maxSeconds", "maxPerAccount", "announce", "cookie"],
  passwordPolicy: ["minLength", "maxLength", "requireClasses", "allowUserName", "estimate", "minEstimate"],
  webdav: ["lockStore", "maxLockSeconds", "locksPerAccount", "infiniteDepth"],
  uploads: ["idleSeconds", "maxSeconds", "keepSeconds", "maxAppendBytes"],
  links: ["secret", "store", "passwordHasher", "defaultSeconds", "maxSeconds", "maxPerAccount"],
  digests: ["store", "computeBytes"],
  idempotency: ["store", "seconds"],
  basicCacheSeconds: undefined,
  quota: undefined,
  trash: undefined,
  retention: undefined,
  versions: undefined,
  offload: undefined,
  limits: [
    "maxFileBytes",
    "loginAttempts",
    "loginWindowSeconds",
    "loginStore",
    "maxLoginBytes",
    "maxJsonBytes",
    "maxCommands",
    "maxFormParts",
    "maxPartHeaderBytes",
    "maxFormFieldBytes",
    "transfersPerAccount",
    "transfersPerAddress",
    "transfersPerLink",
    "pageBytesPerAccount",
    "pageBytesPerAddress",
    "pageBytesPerProcess",
    "uploadsPerAccount",
    "uploadBytesPerAccount",
    "searchResults",
    "searchMembers",
    "searchSeconds",
  ] satisfies readonly (keyof LimitOptions)[],
  archive: ["method"],
  clientForwardedHeader: undefined,
  trustedProxies: undefined,
  publicOrigin: undefined,
  acceptedOrigins: undefined,
  cors: ["origins", "maxAgeSeconds"],
  triggers: undefined,
  branding: ["name", "logo", "accent", "footnote"],
  languages: undefined,
  apiPage: undefined,
  frameAncestors: undefined,
  metadataFields: undefined,
  beforeCommit: undefined,
  onEvent: undefined,
  logger: undefined,
  clock: undefined,
};

/**
 * Checks that a service has no option of an unknown name: a mistyped one could be one that forbids something.
 * @throws OptionError with the name, and with the one that was probably meant.
 */
export function checkOptionNames(options: object): void {
  checkNames(options, Object.keys(NAMES), "");
  for (const [name, members] of Object.entries(NAMES)) {
    const value: unknown = (options as Record<string, unknown>)[name];
    if (members !== undefined && typeof value === "object" && value !== null) checkNames(value, members, `${name}.`);
  }
}
