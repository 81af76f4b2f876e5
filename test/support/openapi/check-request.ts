import { toValue } from "./check-answer.ts";
import { type Coverage, keys, toSchemeName } from "./coverage.ts";
import type { ApiDocument, ApiSchema, Operation, SecurityScheme } from "./document.ts";
import { type ApiExchange, type Fields, findMediaType, readFieldsOf } from "./exchange.ts";
import { type createSchemaJudges, fieldsIn } from "./schemas.ts";
import { toQuery } from "./templates.ts";

/**
 * The request fields that mean something to a service. OpenAPI describes some elsewhere, as content or as security, and
 * servers handle `Expect`. Browsers send `Origin`, `Referer` and `Sec-Fetch-Site` by themselves, so they are no
 * parameters: the document describes them once, for the service as a whole.
 */
export const VOCABULARY: readonly string[] = [
  ...["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range"],
  ...[
    "content-encoding",
    "content-range",
    "x-requested-with",
    "x-sender",
    "x-permanent",
    "accept-language",
    "traceparent",
    "tracestate",
    "prefer",
    "idempotency-key",
    "want-repr-digest",
    "want-content-digest",
  ],
  ...["tus-resumable", "upload-draft-interop-version", "upload-offset", "upload-length", "upload-defer-length"],
  ...["upload-complete", "upload-metadata", "upload-concat", "upload-checksum", "content-digest", "repr-digest"],
  ...["content-disposition", "x-http-method-override"],
];

/** Types of bodies that may have further fields. The service ignores those. */
const FORMS = ["application/x-www-form-urlencoded", "multipart/form-data"];

/** What a request is compared with. */
export interface RequestRules {
  readonly document: ApiDocument;
  readonly operation: Operation;
  /** Names of further fields that this service reads. */
  readonly vocabulary: readonly string[];
  readonly coverage: Coverage;
  readonly judgeOf: ReturnType<typeof createSchemaJudges>;
}

/** Returns how a request differs from its operation. A refused request may have invalid content and no login. */
export function checkRequest(rules: RequestRules, exchange: ApiExchange, isServed: boolean): readonly string[] {
  const problems = [...checkParameters(rules, exchange), ...checkBody(rules, exchange, isServed)];
  if (isServed) problems.push(...checkSecurity(rules, exchange));
  return problems.map((problem) => `the request: ${problem}`);
}

function* checkParameters(
  { operation, vocabulary, coverage, judgeOf }: RequestRules,
  exchange: ApiExchange,
): Generator<string> {
  const { target, requestFields } = exchange;
  const fields = [...VOCABULARY, ...vocabulary.map((name) => name.toLowerCase())].flatMap((name) => {
    const value = requestFields[name];
    return value === undefined ? [] : [{ place: "header", name, value }];
  });
  const query = [...toQuery(target)].map(([name, value]) => ({ place: "query", name, value }));
  const given = [...fields, ...query];
  for (const { place, name, value } of given) {
    const parameter = operation.parameters.find((one) => one.in === place && isSame(one.name, name, place));
    if (parameter === undefined && isIgnored(name, exchange, operation)) continue;
    if (parameter === undefined) yield `the ${place} parameter ${name} is not documented`;
    else {
      coverage.see(keys.parameter(operation.name, place, name.toLowerCase()));
      const problems =
        parameter.schema === undefined ? [] : judgeOf(parameter.schema)(toValue(parameter.schema, value));
      for (const problem of problems) yield `the ${place} parameter ${name}: ${problem}`;
    }
  }
  for (const { in: place, name, required } of operation.parameters) {
    if (!required || place === "path") continue;
    const isGiven = given.some((one) => one.place === place && isSame(name, one.name, place));
    if (!isGiven) yield `the ${place} parameter ${name} is required, and not there`;
  }
}

/**
 * Whether the service ignores a field, according to HTTP (RFC 9110 8.4.1, 12.5.4, 13.1.3, 14.2) or to the answer.
 *
 * Browsers send their languages with every request: an answer without a language that does not vary by it has ignored
 * them. The script of the pages names itself, which only changes answers of status 401.
 */
function isIgnored(
  name: string,
  { method, status, requestFields, fields }: ApiExchange,
  { responses }: Operation,
): boolean {
  if (name === "range" || name === "if-range") return status !== 206;
  if (name === "if-modified-since") return method !== "GET" && method !== "HEAD";
  if (name === "accept-language") return requestFields[name] === "*" || !isOfLanguage(fields);
  // Without the option, and for a target that is no file, asking for a digest has no effect.
  if (name.startsWith("want-")) return fields["repr-digest"] === undefined && fields["content-digest"] === undefined;
  if (name === "x-requested-with") return !responses.has("401");
  return name === "content-encoding" && requestFields[name]?.toLowerCase() === "identity";
}

/** Whether an answer may have another language for another client, even if its `Vary` does not say so. */
function isOfLanguage({ vary = "", "content-language": language }: Fields): boolean {
  return language !== undefined || /\baccept-language\b/i.test(vary);
}

function isSame(one: string, other: string, place: string): boolean {
  return place === "header" ? one.toLowerCase() === other.toLowerCase() : one === other;
}

/** Marks the documented way of logging in that a request used as seen. */
export function seeSecurity({ operation, coverage }: RequestRules, { requestFields }: ApiExchange): void {
  for (const schemes of operation.security) {
    const isGiven = schemes.every((scheme) => isUsed(scheme, requestFields));
    if (isGiven) coverage.see(keys.security(operation.name, toSchemeName(schemes)));
  }
}

/** Checks that a served request has logged in by a documented way. */
function* checkSecurity({ operation }: RequestRules, exchange: ApiExchange): Generator<string> {
  const { security } = operation;
  if (security.length === 0 || exchange.isCertified === true) return;
  const used = security.filter((schemes) => schemes.every((scheme) => isUsed(scheme, exchange.requestFields)));
  if (used.length === 0) yield "it was served without any of the documented ways to log in";
}

function isUsed({ type, scheme, in: place, name = "" }: SecurityScheme, fields: Fields): boolean {
  const [given = ""] = (fields.authorization ?? "").split(" ");
  if (type === "http") return given.toLowerCase() === scheme?.toLowerCase();
  if (type !== "apiKey") return false;
  if (place === "header" && name.toLowerCase() === "authorization") return given.toLowerCase() === "session";
  return place === "cookie" ? new RegExp(`(?:^|;\\s*)${name}=`).test(fields.cookie ?? "") : fields[name] !== undefined;
}

function* checkBody(
  rules: RequestRules,
  { requestFields, requestBody }: ApiExchange,
  isServed: boolean,
): Generator<string> {
  const { operation, coverage } = rules;
  const hasBody = requestBody !== undefined && requestBody.length > 0;
  if (operation.requestBody === undefined) {
    if (hasBody) yield "there is content, which is not documented";
    return;
  }
  const type = requestFields["content-type"];
  if (type === undefined && !hasBody) {
    if (isServed && operation.requestBody.required && operation.method !== "PUT")
      yield "content is required, and not there";
    return;
  }
  const { content } = operation.requestBody;
  const found = findMediaType(Object.keys(content), type ?? "application/octet-stream");
  if (found === undefined) {
    yield `the type ${type ?? "of no name"} is not documented`;
    return;
  }
  coverage.see(keys.request(operation.name, found));
  // A range of types stands for content that is stored as it is, so there is nothing to check.
  if (isServed && !found.includes("*")) yield* checkContent(rules, { requestFields, requestBody }, found);
}

/** Checks served content of a documented type. */
function* checkContent(
  { document, operation, coverage, judgeOf }: RequestRules,
  { requestFields, requestBody }: Pick<ApiExchange, "requestFields" | "requestBody">,
  found: string,
): Generator<string> {
  const schema = operation.requestBody?.content[found]?.schema;
  const type = requestFields["content-type"];
  const held = schema && requestBody && type !== undefined ? readFieldsOf(requestBody, type, schema) : undefined;
  if (schema === undefined || held === undefined) return;
  for (const problem of judgeOf(schema)(held.value)) yield `${found}: ${problem}`;
  if (FORMS.includes(found)) yield* findOtherFields(schema, held.value, found);
  for (const field of fieldsIn(document, schema, keys.requestFields(operation.name, found), held.value))
    coverage.see(field);
}

/** Finds undocumented fields in a form that was served: the service may read some of them. */
function* findOtherFields({ properties = {} }: ApiSchema, value: unknown, type: string): Generator<string> {
  for (const name of Object.keys(value as object)) {
    if (!Object.hasOwn(properties, name)) yield `${type}: the field ${name} is not documented`;
  }
}
