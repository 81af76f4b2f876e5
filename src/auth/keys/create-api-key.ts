import type { ApiKey } from "../../contracts/api-keys.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { apiKeySchema, describeKeyProblem } from "../../schemas/api-keys.ts";
import { createKeyText } from "./key-text.ts";

/** What a new API key is to be; see {@link ApiKey}. */
export interface NewApiKey extends Pick<ApiKey, "label" | "permissions" | "path"> {
  /** Seconds. Default: the key does not expire. */
  readonly expiresIn?: number;
}

/** A new API key. */
export interface CreatedApiKey {
  /** What is kept. */
  readonly key: ApiKey;
  /** The key itself, `ff_<id>_<secret>`: a secret that is kept nowhere, and shown once. */
  readonly text: string;
}

/**
 * Makes an API key, for applications that keep the keys of their accounts (`AccountKeys`). `now`: milliseconds since
 * the epoch, default `Date.now()`.
 * @throws TypeError that names the member that is not valid.
 */
export function createApiKey(wanted: NewApiKey = {}, now = Date.now()): CreatedApiKey {
  const { label, permissions, path, expiresIn } = wanted;
  const isDuration = expiresIn === undefined || (Number.isSafeInteger(expiresIn) && expiresIn >= 1);
  checkOption(isDuration, "expiresIn", "a whole number of seconds, at least 1");
  const { id, text } = createKeyText();
  const created = Math.floor(now / 1000);
  const parsed = apiKeySchema.safeParse({
    id,
    ...(label && { label }),
    sha256: sha256Hex(text),
    ...(permissions && { permissions }),
    ...(path !== undefined && path !== "/" && { path }),
    created_at: created,
    ...(expiresIn !== undefined && { expires_at: created + expiresIn }),
  });
  if (!parsed.success) throw new TypeError(describeKeyProblem(parsed.error));
  return { key: parsed.data, text };
}
