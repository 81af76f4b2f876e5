import * as z from "zod";
import { type LinkOptions, toLinks } from "../../config/links.ts";
import { OptionError } from "../../contracts/option-error.ts";
import { createMemoryKeyValueStore } from "../../stores/memory.ts";
import { MEMORY, parseOwnOrSharedStore, type SharedStoreLocation } from "../shared-store.ts";
import { addProblem, type ConfigContext } from "./context.ts";
import { checkByFactory, checkByService } from "./option-checks.ts";

/** The environment variable of the secret, for configurations without one. */
const SECRET_VARIABLE = "FILEFERRY_LINKS_SECRET";

/** Long enough for the checks of a configuration whose secret is in the environment. */
const CHECKED_LATER = "the secret is checked when it is read";

/** The option `links`. Its store is `memory`, or named as that of sessions. */
export const linksSchema = z
  .strictObject({
    secret: z.union([z.string(), z.array(z.string())]).exactOptional(),
    store: z
      .string()
      .superRefine(checkByFactory((store) => void parseLinkStore(store)))
      .exactOptional(),
    defaultSeconds: z.number().exactOptional(),
    maxSeconds: z.number().exactOptional(),
    maxPerAccount: z.number().exactOptional(),
  })
  .superRefine(
    checkByService(({ store: _store, secret = CHECKED_LATER, ...links }) => ({ links: { ...links, secret } })),
  );

/** The key `links` of a configuration. */
type LinksEntry = z.infer<typeof linksSchema>;

/**
 * Returns the option `links` of the service; its store in memory is made here, another one is opened later. A missing
 * or wrong secret is a problem of the context.
 */
export function toLinkOptions({ store, ...links }: LinksEntry, context: ConfigContext): LinkOptions | undefined {
  const secret = links.secret ?? readSecrets(process.env, context);
  if (secret === undefined) return undefined;
  const { passwordHasher } = context;
  return { ...links, secret, passwordHasher, ...(store === MEMORY && { store: createMemoryKeyValueStore() }) };
}

/**
 * Parses `links.store`; `undefined` is the memory of the process. The text may hold a password, so the error does not
 * quote it.
 * @throws OptionError
 */
export function parseLinkStore(text: string): SharedStoreLocation | undefined {
  return parseOwnOrSharedStore(text, "links.store");
}

/** The secrets of the environment, one on each line: while a secret is replaced there are two. */
function readSecrets(environment: NodeJS.ProcessEnv, context: ConfigContext): readonly string[] | undefined {
  const secret = (environment[SECRET_VARIABLE] ?? "").split(/\r?\n/).filter((line) => line !== "");
  if (secret.length === 0) {
    addProblem(context, "links.secret", `is missing, and so is ${SECRET_VARIABLE} in the environment`);
    return undefined;
  }
  try {
    toLinks({ secret });
    return secret;
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    addProblem(context, "links.secret", `${SECRET_VARIABLE} must be ${error.expected}, one on each line`);
    return undefined;
  }
}
