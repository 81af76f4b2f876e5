import type { Failure } from "../http/http-error.ts";
import { FAILURE_TEXTS } from "./error-responses.ts";
import type { HeaderName } from "./headers.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import type { OpenApiOptions } from "./input-options.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import type { OperationName } from "./operations.ts";
import type { ParameterName } from "./parameters.ts";

/** What an option of the service adds to an operation. */
interface Addition {
  readonly option: "hasDigests" | "hasIdempotency";
  readonly operation: OperationName;
  readonly parameters: readonly ParameterName[];
  readonly failures?: readonly Failure[];
  /** The header fields of responses with a status. */
  readonly headers: Readonly<Partial<Record<number, readonly HeaderName[]>>>;
  readonly responses?: readonly ResponseSpec[];
}

/** While the first request runs, the client may ask again. */
const RUNNING: ResponseSpec = { status: 409, description: FAILURE_TEXTS.conflict, headers: ["Retry-After"] };

const ADDITIONS: readonly Addition[] = [
  {
    option: "hasDigests",
    operation: "getFile",
    parameters: ["wantReprDigest", "wantContentDigest"],
    headers: { 200: ["Repr-Digest", "Content-Digest"], 206: ["Repr-Digest"], 304: ["Repr-Digest"] },
  },
  {
    option: "hasDigests",
    operation: "getVersion",
    parameters: ["wantReprDigest", "wantContentDigest"],
    headers: { 200: ["Repr-Digest", "Content-Digest"], 206: ["Repr-Digest"], 304: ["Repr-Digest"] },
  },
  {
    option: "hasDigests",
    operation: "putFile",
    parameters: ["wantReprDigest"],
    headers: { 201: ["Repr-Digest"] },
  },
  {
    option: "hasIdempotency",
    operation: "changeFolder",
    parameters: ["idempotencyKey"],
    headers: { 200: ["Idempotency-Replayed"], 422: ["Idempotency-Replayed"] },
    failures: ["conflict", "unprocessable", "unavailable"],
    responses: [RUNNING],
  },
  {
    option: "hasIdempotency",
    operation: "createLink",
    parameters: ["idempotencyKey"],
    headers: { 201: ["Idempotency-Replayed"] },
    failures: ["conflict", "unprocessable", "unavailable"],
    responses: [RUNNING],
  },
];

/** Adds what the options of a service add to an operation. */
export function withFeatures(service: OpenApiInput, { operation }: OpenApiRoute, spec: OperationSpec): OperationSpec {
  const added = ADDITIONS.filter((one) => one.operation === operation && isOn(service, one));
  return added.reduce(withAddition, spec);
}

function isOn(service: OpenApiOptions, { option }: Addition): boolean {
  return service[option];
}

function withAddition(
  spec: OperationSpec,
  { parameters, headers, failures = [], responses = [] }: Addition,
): OperationSpec {
  return {
    ...spec,
    failures: [...(spec.failures ?? []), ...failures],
    parameters: [...(spec.parameters ?? []), ...parameters],
    responses: [
      ...spec.responses.map((response) => ({
        ...response,
        headers: [...(response.headers ?? []), ...(headers[response.status] ?? [])],
      })),
      ...responses,
    ],
  };
}
