import { checkOption } from "../contracts/option-error.ts";
import type { Cors } from "../http/origins/cors.ts";
import type { KnownOrigins } from "../http/origins/same-origin.ts";
import { isObject } from "./checks.ts";
import type { FileServiceOptions } from "./options.ts";

const DEFAULT_MAX_AGE_SECONDS = 7200;

/** Checks the options about the service's own origin and those of other sites. @throws OptionError */
export function toOrigins(
  { acceptedOrigins = [], publicOrigin = "", cors }: FileServiceOptions,
  metadataHeader: string | undefined,
): KnownOrigins & { readonly cors: Cors | undefined } {
  checkOption(areOrigins(acceptedOrigins), "acceptedOrigins", "origins such as https://app.example");
  const isPublicOrigin = publicOrigin === "" || (isOrigin(publicOrigin) && /^https?:/.test(publicOrigin));
  checkOption(isPublicOrigin, "publicOrigin", "empty or an origin such as https://files.example");
  return {
    acceptedOrigins: [...acceptedOrigins],
    publicOrigin,
    cors: cors === undefined ? undefined : toCors(cors, metadataHeader),
  };
}

function toCors(cors: NonNullable<FileServiceOptions["cors"]>, metadataHeader: string | undefined): Cors {
  checkOption(isObject(cors), "cors", "an object");
  const { origins, maxAgeSeconds = DEFAULT_MAX_AGE_SECONDS } = cors;
  checkOption(areOrigins(origins), "cors.origins", "origins such as https://app.example, without * and paths");
  const isAge = Number.isSafeInteger(maxAgeSeconds) && maxAgeSeconds >= 0;
  checkOption(isAge, "cors.maxAgeSeconds", "a whole number from 0 on");
  return { origins: new Set(origins), maxAgeSeconds, metadataHeader };
}

function areOrigins(origins: unknown): origins is readonly string[] {
  return Array.isArray(origins) && origins.every(isOrigin);
}

/** Whether a value is a whole origin. `null` and patterns with `*` are none: they would stand for many. */
function isOrigin(text: unknown): boolean {
  return typeof text === "string" && !/^null$|\*/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
