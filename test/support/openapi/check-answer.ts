import { type Coverage, keys } from "./coverage.ts";
import type { ApiContent, ApiDocument, ApiHeader, ApiSchema, Operation } from "./document.ts";
import { type ApiExchange, findMediaType, toMediaType } from "./exchange.ts";
import { type createSchemaJudges, fieldsIn } from "./schemas.ts";

/** Fields that servers and proxies set, and fields that OpenAPI describes elsewhere. */
const ANYBODYS = new Set([
  "date",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
  "content-type",
  "x-request-id",
]);

/** What an answer is compared with. */
export interface AnswerRules {
  readonly document: ApiDocument;
  readonly operation: Operation;
  /** The operation of GET at the same path: an answer to HEAD has the fields of one to GET. */
  readonly get: Operation | undefined;
  readonly coverage: Coverage;
  readonly judgeOf: ReturnType<typeof createSchemaJudges>;
}

/** Returns how an answer differs from its operation. */
export function checkAnswer(rules: AnswerRules, exchange: ApiExchange): readonly string[] {
  const { operation } = rules;
  const status = String(exchange.status);
  const answer = operation.responses.get(status);
  if (answer === undefined) return [`the status ${status} is not documented`];
  const { headers, content } = answer;
  return [
    ...checkHeaders(rules, exchange, headers),
    ...(exchange.method === "HEAD" ? checkHead(rules, exchange, content) : checkContent(rules, exchange, content)),
  ].map((problem) => `${status}: ${problem}`);
}

function* checkHeaders(
  { operation, coverage, judgeOf }: AnswerRules,
  { status, fields }: ApiExchange,
  headers: ReadonlyMap<string, ApiHeader>,
): Generator<string> {
  for (const [name, value] of Object.entries(fields)) {
    const header = headers.get(name);
    if (header === undefined) {
      if (!ANYBODYS.has(name)) yield `the header ${name} is not documented`;
      continue;
    }
    coverage.see(keys.header(operation.name, String(status), name));
    const problems = header.schema === undefined ? [] : judgeOf(header.schema)(toValue(header.schema, value));
    for (const problem of problems) yield `the header ${name}: ${problem}`;
  }
  for (const [name, { required }] of headers) {
    if (required && fields[name] === undefined) yield `the header ${name} is required, and not there`;
  }
}

/** Converts the value of a header or parameter to the type of its schema. */
export function toValue({ type }: ApiSchema, value: string): unknown {
  if (type === "array") return [value];
  return (type === "integer" || type === "number") && value.trim() !== "" ? Number(value) : value;
}

/** Checks an answer to HEAD. It has the fields of an answer to GET, so its type is one of those (RFC 9110 9.3.2). */
function* checkHead(
  { operation, get, coverage }: AnswerRules,
  exchange: ApiExchange,
  own: ApiContent,
): Generator<string> {
  const { status, fields, body } = exchange;
  if (body !== undefined && body.length > 0) yield "HEAD is answered with content";
  coverage.see(keys.answer(operation.name, String(status)));
  const type = fields["content-type"];
  if (type === undefined) return;
  const content = Object.keys(own).length > 0 ? own : (get?.responses.get(String(status))?.content ?? {});
  const found = findMediaType(Object.keys(content), type);
  if (found === undefined) yield `the type ${type} is not documented`;
  else coverage.see(keys.answer(operation.name, String(status), found));
}

function* checkContent(rules: AnswerRules, exchange: ApiExchange, content: ApiContent): Generator<string> {
  const { document, operation, coverage, judgeOf } = rules;
  const { fields, body } = exchange;
  const status = String(exchange.status);
  const type = fields["content-type"];
  const documented = Object.keys(content);
  if (type === undefined) {
    // `Location` says where to go. The page that says it too is for browsers.
    if (documented.length > 0 && fields.location === undefined)
      yield `there is no content where ${documented.join(" or ")} is documented`;
    else if (body !== undefined && body.length > 0) yield "there is content without a type";
    coverage.see(keys.answer(operation.name, status));
    return;
  }
  const found = findMediaType(documented, type);
  if (found === undefined) {
    yield `the type ${type} is not documented`;
    return;
  }
  coverage.see(keys.answer(operation.name, status, found));
  const schema = content[found]?.schema;
  if (schema === undefined || body === undefined || toMediaType(found) !== "application/json") return;
  const value = parseJson(body);
  if (value === undefined) {
    yield "the content is no JSON";
    return;
  }
  for (const problem of judgeOf(schema)(value)) yield `${found}: ${problem}`;
  for (const field of fieldsIn(document, schema, keys.answerFields(operation.name, status, found), value))
    coverage.see(field);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
