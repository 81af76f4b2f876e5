import { examineClock } from "../doctor/clock.ts";
import { examineAccounts } from "../doctor/describe-accounts.ts";
import { type Examined, examine } from "../doctor/examined.ts";
import { examinePresigned } from "../doctor/offload.ts";
import { examineProviders } from "../doctor/providers.ts";
import { examineProxy } from "../doctor/proxy.ts";
import { examineStorage } from "../doctor/storage.ts";
import { examineStores } from "../doctor/stores.ts";
import { createFailure } from "../failure.ts";
import { type Finding, printFindings, warning } from "../findings.ts";
import type { Output } from "../log/terminal.ts";

/** The flags of `fileferry doctor`. */
export interface DoctorFlags {
  readonly config: string;
  /** The address of the service as clients have it. */
  readonly url?: string;
}

/**
 * Tries what a configuration needs: the storage, the stores, the clock, and the proxy if `url` names it. Prints a line
 * for each. Resolves with the exit status: 2 if the configuration is wrong, 1 if something does not work. Rejects with
 * a failure of status 2 if the URL is wrong.
 */
export async function runDoctor(
  { config, url }: DoctorFlags,
  { stdout }: { readonly stdout: Output },
): Promise<0 | 1 | 2> {
  const origin = url === undefined ? undefined : toOrigin(url);

  async function* diagnose(examined: Examined): AsyncGenerator<Finding> {
    yield* examineStorage(examined);
    yield* examineAccounts(examined);
    yield* examineProviders(examined);
    yield* examineStores(examined);
    yield* examineClock(examined);
    yield* examinePresigned(examined);
    const { publicOrigin, clientForwardedHeader, offload } = examined.config;
    if (origin !== undefined) yield* examineProxy(examined, origin);
    else if (publicOrigin || clientForwardedHeader || (offload !== undefined && offload.type !== "presigned")) {
      yield warning(
        "proxy",
        "is not examined",
        `name the address that clients have with --url ${publicOrigin ?? "URL"}`,
      );
    }
  }

  return printFindings(examine(config, diagnose), stdout);
}

function toOrigin(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw createFailure(2, ["error: --url must be a URL such as https://files.example"]);
  }
  return url;
}
