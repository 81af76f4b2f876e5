import { createRequire } from "node:module";
import type { S3Credentials } from "../../../storage/s3/options.ts";

/** The package that finds keys as the tools of AWS do. It is an optional peer dependency. */
export const PROVIDER_CHAIN = "@aws-sdk/credential-provider-node";

/**
 * Returns a function that finds the keys of a container or instance, of a web identity or of a profile, and renews
 * them. Returns undefined if the package is not installed.
 */
export function findProviderChain(): (() => Promise<S3Credentials>) | undefined {
  try {
    createRequire(import.meta.url).resolve(PROVIDER_CHAIN);
  } catch {
    return undefined;
  }
  let chain: (() => Promise<S3Credentials>) | undefined;
  return async () => {
    chain ??= (await import("@aws-sdk/credential-provider-node")).defaultProvider();
    return chain();
  };
}
