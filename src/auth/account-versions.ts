import type { Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";

/** The versions that the methods of a chain give of accounts, each with the name of its method: nobody else has to know what it stands for. */
export interface AccountVersions {
  /** A method's version as the chain gives it; `undefined` where the method has no `isCurrent`, as nobody could say then how long it stands. */
  tag(method: Authenticator, version: unknown): string | undefined;
  /** The method and its version behind what `mark` gave, in this process or another; `undefined` where no method of that name has an `isCurrent` any more. */
  read(tagged: string): { readonly method: Authenticator; readonly version: string } | undefined;
}

/** Makes the versions of a chain. Methods of one name are told from each other by their order, so that others may come and go between them. */
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

  /** A wrapper that hands on what is accepted, and not `isCurrent`, is an easy mistake. */
  function warn(method: Authenticator): void {
    if (warned.has(method)) return;
    warned.add(method);
    logger?.warn(
      { method: method.name },
      "An authentication method gives versions of accounts and has no isCurrent: its sessions outlive changes of accounts.",
    );
  }

  return {
    tag(method, version) {
      const tag = tags.get(method);
      if (typeof version !== "string" || tag === undefined) return undefined;
      if (method.isCurrent !== undefined) return JSON.stringify([...tag, version]);
      warn(method);
      return undefined;
    },
    read(tagged) {
      const [name, ordinal, version] = parse(tagged);
      const method = byTag.get(JSON.stringify([name, ordinal]));
      return typeof version === "string" && method?.isCurrent !== undefined ? { method, version } : undefined;
    },
  };
}

/** What is in no form of ours is nobody's. */
function parse(tagged: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(tagged);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}
