import type { Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { memoize } from "../platform/memoize.ts";

/**
 * The account versions of a chain's methods, each tagged with its method. Callers treat a tagged version as opaque
 * text.
 */
export interface AccountVersions {
  /**
   * Tags a version with its method. Returns `undefined` if the method has no `isCurrent`: the version could never be
   * checked again.
   */
  tag(method: Authenticator, version: unknown): string | undefined;
  /**
   * Splits what `tag` returned, in this process or another, into the method and its version. Returns `undefined` if the
   * chain has no such method with an `isCurrent` now.
   */
  read(tagged: string): { readonly method: Authenticator; readonly version: string } | undefined;
}

/**
 * Creates the versions of a chain. Methods with the same name are numbered in their order, so adding or removing a
 * method with another name between them changes no tag.
 */
export function createAccountVersions(methods: readonly Authenticator[], logger: Logger | undefined): AccountVersions {
  const tags = new Map<Authenticator, readonly [name: string, ordinal: number]>();
  const byTag = new Map<string, Authenticator>();
  const counts = new Map<string, number>();
  const warned = new Set<Authenticator>();
  for (const method of methods) {
    const ordinal = counts.get(method.name) ?? 0;
    counts.set(method.name, ordinal + 1);
    tags.set(method, [method.name, ordinal]);
    byTag.set(JSON.stringify([method.name, ordinal]), method);
  }

  /** Catches an easy mistake: a wrapper that forwards `authenticate` but not `isCurrent`. */
  function warn(method: Authenticator): void {
    if (warned.has(method)) return;
    warned.add(method);
    logger?.warn(
      { method: method.name },
      "An authentication method gives account versions but has no isCurrent: its sessions stay valid when accounts change.",
    );
  }

  const read = memoize((tagged) => {
    const [name, ordinal, version] = parse(tagged);
    const method = byTag.get(JSON.stringify([name, ordinal]));
    return typeof version === "string" && method?.isCurrent !== undefined ? { method, version } : undefined;
  });

  return {
    read,
    tag(method, version) {
      const tag = tags.get(method);
      if (typeof version !== "string" || tag === undefined) return undefined;
      if (method.isCurrent !== undefined) return JSON.stringify([...tag, version]);
      warn(method);
      return undefined;
    },
  };
}

/** Returns an empty list for text that `tag` did not write. */
function parse(tagged: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(tagged);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
