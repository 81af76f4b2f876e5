import type { Links } from "../../src/contracts/links.ts";

async function refuse(): Promise<never> {
  throw new Error("There are no links.");
}

/** The option `links.secret` of test services. */
export const LINK_SECRET = "a secret of the tests, 32 characters or more";

/** The links of a service that has none. */
export const NO_LINKS: Links = { create: refuse, list: refuse, revoke: refuse, revokeAll: refuse };
