import * as z from "zod";
import { OptionError } from "../../../contracts/option-error.ts";
import { StorageError } from "../../../contracts/storage-adapter.ts";
import {
  type S3Credentials,
  type S3Storage,
  type S3StorageOptions,
  toS3Settings,
} from "../../../storage/s3/options.ts";
import { checkByFactory } from "../option-checks.ts";
import { findProviderChain, PROVIDER_CHAIN } from "./s3-provider-chain.ts";

/**
 * The key `storage` of type `s3`. Its credentials come from the environment, a role or a profile: a configuration file
 * should not hold them.
 */
export type S3Entry = z.infer<typeof s3StorageSchema>;

/** The environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The members of the key and their types. The storage itself checks the values. */
export const s3StorageSchema = z
  .strictObject({
    type: z.literal("s3"),
    bucket: z.string(),
    endpoint: z.string().exactOptional(),
    region: z.string().exactOptional(),
    prefix: z.string().exactOptional(),
    forcePathStyle: z.boolean().exactOptional(),
    partBytes: z.number().exactOptional(),
  })
  .superRefine(
    checkByFactory(({ type: _, ...options }) => {
      toS3Settings({ ...options, accessKeyId: "checked later", secretAccessKey: "checked later" });
    }),
  );

/** The usual variables of each option. The configuration file overrides region and endpoint. */
const VARIABLES = {
  accessKeyId: ["AWS_ACCESS_KEY_ID"],
  secretAccessKey: ["AWS_SECRET_ACCESS_KEY"],
  sessionToken: ["AWS_SESSION_TOKEN"],
  region: ["AWS_REGION", "AWS_DEFAULT_REGION"],
  endpoint: ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"],
} as const satisfies Partial<Record<keyof S3StorageOptions, readonly string[]>>;

/**
 * Creates the storage with the credentials of the environment, or without any there, with those of a role or profile.
 * Or returns the problems, which name the variable and never its value.
 */
export async function openS3Storage(
  { type: _, ...entry }: S3Entry,
  environment: Environment,
  findChain = findProviderChain,
): Promise<S3Storage | readonly string[]> {
  const found = Object.entries(VARIABLES).flatMap(([option, names]) => {
    const name = names.find((one) => (environment[one] ?? "") !== "");
    return name === undefined ? [] : [[option, environment[name]] as const];
  });
  const options = { ...Object.fromEntries(found), ...entry } as S3StorageOptions;
  const missing = (["accessKeyId", "secretAccessKey"] as const).filter((option) => options[option] === undefined);
  const credentials = missing.length === 2 ? findChain() : undefined;
  if (missing.length > 0 && credentials === undefined) {
    const problems = missing.map((option) => `the environment does not have ${VARIABLES[option][0]}`);
    return missing.length === 2
      ? [...problems, `keys of a role or profile need npm install ${PROVIDER_CHAIN}`]
      : problems;
  }
  const { createS3Storage } = await import("../../../storage/s3.ts");
  try {
    if (credentials === undefined) return createS3Storage(options);
    const { sessionToken: __, ...others } = options;
    const storage = createS3Storage({ ...others, credentials });
    const { AWS_PROFILE: profile = "" } = environment;
    return profile === "" ? storage : { ...storage, check: () => checkProfile(profile, credentials, storage) };
  } catch (error) {
    if (!(error instanceof OptionError)) throw error;
    const { option, expected } = error;
    const [name = option] = option in VARIABLES ? VARIABLES[option as keyof typeof VARIABLES] : [];
    return [`${name} of the environment must be ${expected}`];
  }
}

/** Checks the storage. If there are no keys, the name of the profile may be mistyped. */
async function checkProfile(
  profile: string,
  credentials: () => Promise<S3Credentials>,
  storage: S3Storage,
): Promise<void> {
  try {
    await credentials();
  } catch (error) {
    const reason = error instanceof Error ? error.name : "failed";
    const text = `No credentials were found for the profile ${profile} of AWS_PROFILE: ${reason}`;
    throw new StorageError("unavailable", text);
  }
  await storage.check();
}
