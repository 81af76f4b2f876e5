import type { Account } from "../account/account.ts";
import type { AuthenticationChain } from "../auth/chain.ts";
import { createLinkAccess, toEventLink } from "../auth/link-access.ts";
import { createPasswordHasher } from "../auth/passwords/hash.ts";
import type { LoginThrottle } from "../auth/throttle.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import type { AccountSettings } from "../contracts/account.ts";
import type { Link, Links, NewLink } from "../contracts/links.ts";
import { toLink } from "../endpoints/links/describe-link.ts";
import { toLinkCreated, toLinkWithdrawn } from "../endpoints/links/link-events.ts";
import { type LinkOwner, makeLink, parseLinkPath } from "../endpoints/links/make-link.ts";
import type { Emit } from "../events/emitter.ts";
import { createError, type ErrorCode } from "../http/errors.ts";
import { isHttpError } from "../http/http-error.ts";
import { createReservedNames } from "../limits/reserved-names.ts";
import type { LinkService } from "../request/context.ts";
import { type ReportError, reportAsHttpError } from "../request/errors.ts";
import { describeLinkProblem, type LinkOptionsBody, linkOptionsSchema } from "../schemas/links.ts";
import { createSealedLinks } from "../sharing/links.ts";
import { isLinkOf, type LinkRecord } from "../sharing/record.ts";
import type { StoredLinks } from "../sharing/stored-links.ts";
import { adoptKeyv } from "../stores/keyv.ts";
import { type StorageAccounts, toCheckedSettings } from "./storage-accounts.ts";

/** What the links of a service need. */
export interface LinkServiceOptions {
  readonly config: Pick<ServiceConfig, "links" | "logger" | "clock">;
  readonly chain: Pick<AuthenticationChain, "lookup">;
  readonly throttle: LoginThrottle;
  /** @throws HttpError `denied` if the account cannot be used. */
  readonly resolve: (username: string, settings: AccountSettings) => Account;
}

/** Creates what the links of a service share; `undefined` without the option `links`. */
export function createLinkService(options: LinkServiceOptions): LinkService | undefined {
  const { config, chain, throttle, resolve } = options;
  const { links, logger, clock } = config;
  if (links === undefined) return undefined;
  const { secrets, passwordHasher: hasher = createPasswordHasher() } = links;
  const store = links.store && adoptKeyv(links.store, { logger, name: "store of links" });
  const sealed = createSealedLinks({ secrets, store, clock });

  function mayHave(record: LinkRecord, settings: AccountSettings): boolean {
    try {
      const account = resolve(record.username, settings);
      return account.allowLinks && isLinkOf(account)(record);
    } catch (error) {
      if (isHttpError(error) && error.failure === "denied") return false;
      throw error;
    }
  }

  const access = createLinkAccess({ links: sealed, chain, throttle, hasher, mayHave, clock });
  return {
    config: links,
    sealed,
    access,
    hasher,
    names: createReservedNames(),
    lookup: (username) => chain.lookup(username),
  };
}

/** What the links for the application of a service need. */
export interface HostLinksOptions {
  readonly links: LinkService | undefined;
  readonly accounts: StorageAccounts;
  readonly config: Pick<ServiceConfig, "basePath" | "publicOrigin" | "clock" | "component">;
  readonly emit: Emit;
  readonly report: ReportError;
}

/** Creates the links for the application of a service. */
export function createHostLinks(options: HostLinksOptions): Links {
  const { links, accounts, config, emit, report } = options;
  if (links === undefined) return refuseAll("links-unsupported");
  const service = links;
  const place = { basePath: config.basePath, origin: config.publicOrigin };

  async function findOwner({ username, settings }: NewLink): Promise<LinkOwner> {
    const found = settings === undefined ? await service.lookup(username) : undefined;
    const known = settings ?? (found?.outcome === "found" ? found.account : undefined);
    if (known === undefined) throw createError("account-unusable");
    const account = accounts.resolve(username, toCheckedSettings(known));
    return { account, settings: known, files: accounts.filesOf(account) };
  }

  async function create(link: NewLink): Promise<Link> {
    try {
      return await make(link);
    } catch (error) {
      throw reportAsHttpError(error, report);
    }
  }

  async function make(link: NewLink): Promise<Link> {
    const { path, options: wanted } = parseNewLink(link);
    const owner = await findOwner(link);
    const isGiven = link.settings !== undefined;
    const own = isGiven ? { ...service, lookup: async () => undefined } : service;
    const made = await makeLink(own, owner, path, wanted, {
      now: config.clock(),
      hash: (password) => service.hasher.hash(password),
      async confirmSettings() {
        if (!isGiven) throw createError("account-unusable");
      },
    });
    emit({ ...toLinkCreated(made.record, owner.files), ...toEnvelope(made.record, owner.account) });
    return toLink(service, place, made);
  }

  async function list(username: string): Promise<readonly Link[]> {
    const describe = async (record: LinkRecord): Promise<Link> =>
      toLink(service, place, { record, token: await service.sealed.toToken(record) });
    const links: Link[] = [];
    for await (const records of requireStored(service).read(username, (record) => record.username === username)) {
      links.push(...(await Promise.all(records.map(describe))));
    }
    return links;
  }

  async function revoke(id: string): Promise<boolean> {
    const stored = requireStored(service);
    const record = await stored.find(id);
    if (record === undefined || !(await stored.remove(record))) return false;
    emitWithdrawn(record);
    return true;
  }

  async function revokeAll(username: string): Promise<number> {
    // A method that cannot look an account up may take several spellings of its name.
    const isMeant = (record: LinkRecord) => record.username === username || record.settings !== undefined;
    return requireStored(service).removeAll(username, isMeant, emitWithdrawn);
  }

  function emitWithdrawn(record: LinkRecord): void {
    emit({ ...toLinkWithdrawn(record), ...toEnvelope(record) });
  }

  /** What the events of a link have that no request caused. */
  function toEnvelope(record: LinkRecord, account?: Account) {
    const { username: name } = record;
    return {
      account: { uuid: account?.uuid ?? name, name, email: account?.email ?? "" },
      link: toEventLink(record),
      component: { uuid: config.component.uuid, type: "application" },
    };
  }

  return { create, list, revoke, revokeAll };
}

function refuseAll(code: ErrorCode): Links {
  const refuse = async (): Promise<never> => {
    throw createError(code);
  };
  return { create: refuse, list: refuse, revoke: refuse, revokeAll: refuse };
}

/** @throws HttpError `links-not-kept` */
function requireStored({ sealed }: LinkService): StoredLinks {
  if (sealed.stored === undefined) throw createError("links-not-kept");
  return sealed.stored;
}

/** Checks what an application describes a link by, as if a request had sent it. @throws HttpError `link-malformed` */
function parseNewLink(link: NewLink): { readonly path: readonly string[]; readonly options: LinkOptionsBody } {
  const { path, permissions, expiresIn, password, maxUses, maxFileBytes, askName, label } = link;
  const given = {
    permissions,
    expires_in: expiresIn,
    password,
    max_uses: maxUses,
    max_file_bytes: maxFileBytes,
    ask_name: askName,
    label,
  };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const parsed = linkOptionsSchema.safeParse(present);
  if (!parsed.success) throw createError("link-malformed", { values: { problem: describeLinkProblem(parsed.error) } });
  const segments = typeof path === "string" ? parseLinkPath(path) : undefined;
  if (segments === undefined) throw createError("path-invalid");
  return { path: segments, options: parsed.data };
}
