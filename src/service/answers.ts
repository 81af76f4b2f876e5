import type { ServiceConfig } from "../config/service-config.ts";
import { createKeptAnswers } from "../endpoints/repeats/kept-answers.ts";
import type { KeptAnswers } from "../request/context.ts";
import type { ReportError } from "../request/errors.ts";
import { adoptKeyv } from "../stores/keyv.ts";

/** Creates the answers of a service that are kept; `undefined` without the option `idempotency`. */
export function createAnswers(
  { idempotency, logger, clock }: Pick<ServiceConfig, "idempotency" | "logger" | "clock">,
  report: ReportError,
): KeptAnswers | undefined {
  if (idempotency === undefined) return undefined;
  const { store, seconds } = idempotency;
  return createKeptAnswers({ store: adoptKeyv(store, { logger, name: "store of responses" }), seconds, clock, report });
}
