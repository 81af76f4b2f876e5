import type { ConfigFile } from "./schema.ts";

/** The keys that are options of the service with the same name. */
export function toServiceOptions(config: ConfigFile) {
  const { groups, basePath, server, session, acceptedOrigins, passwordPolicy, limits, clientForwardedHeader } = config;
  const {
    basicCacheSeconds,
    webdav,
    uploads,
    digests,
    cors,
    component,
    publicError,
    branding,
    frameAncestors,
    archive,
    metadataFields,
    publicOrigin,
    trustedProxies,
    retention,
    anonymous,
  } = config;
  const { store: _store, ...ownSession } = session ?? {};
  const { lockStore: _lockStore, ...ownWebdav } = webdav ?? {};
  return {
    ...withoutUndefined({
      component,
      publicError,
      metadataFields,
      branding,
      frameAncestors,
      archive,
      passwordPolicy,
      uploads,
      digests,
      basicCacheSeconds,
      limits,
      clientForwardedHeader,
      trustedProxies,
      publicOrigin,
      groups,
      basePath,
      server,
      acceptedOrigins,
      cors,
      retention,
      anonymous,
    }),
    ...(webdav === undefined ? undefined : { webdav: ownWebdav }),
    session: ownSession,
  };
}

function withoutUndefined<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
