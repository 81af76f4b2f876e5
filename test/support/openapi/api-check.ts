import { checkAnswer } from "./check-answer.ts";
import { checkRequest, seeSecurity } from "./check-request.ts";
import { createCoverage } from "./coverage.ts";
import { type ApiDocument, type Operation, toOperations } from "./document.ts";
import type { ApiExchange } from "./exchange.ts";
import { createSchemaJudges } from "./schemas.ts";
import { createTemplateFinder, toPath } from "./templates.ts";

/** Compares exchanges with a document. */
export interface ApiCheck {
  /** Returns how an exchange differs from the document: what it does not say, or says otherwise. */
  check(exchange: ApiExchange): readonly string[];
  /** Returns what the document says and no exchange has shown. */
  unseen(): readonly string[];
}

export interface ApiCheckOptions {
  /** Names of request fields that this service reads in addition to those that all services read. */
  readonly vocabulary?: readonly string[];
}

/**
 * Statuses of requests that may use something undocumented, as they were refused for it or redirected as they are. Such
 * a request is not compared.
 */
const MAY_BE_UNDOCUMENTED = [302, 307, 400, 404, 405, 406, 408, 411, 413, 414, 415, 416, 417, 422, 429, 431, 501, 505];
/** Statuses of requests that were served, in addition to all of success. */
const SERVED = [303, 304];

/** Whether a redirection means that the body was accepted. It does if the operation needs no login to redirect to. */
function isTaken({ security, requestBody }: Operation, status: number): boolean {
  return status === 302 && security.length === 0 && requestBody !== undefined;
}

/** Creates the check of a document. */
export function createApiCheck(document: ApiDocument, { vocabulary = [] }: ApiCheckOptions = {}): ApiCheck {
  const operations = toOperations(document);
  const coverage = createCoverage(document, [...operations.values()]);
  const judgeOf = createSchemaJudges(document);
  const basePath = toPath(document.servers?.[0]?.url ?? "/");
  const findTemplate = createTemplateFinder(basePath, Object.keys(document.paths));

  function checkOperation(operation: Operation, exchange: ApiExchange): readonly string[] {
    const get = operations.get(`GET ${operation.template}`);
    const rules = { document, operation, get, vocabulary, coverage, judgeOf };
    const { status, requestBody } = exchange;
    const isServed = (status >= 200 && status < 300) || SERVED.includes(status) || isTaken(operation, status);
    if (status === 401 && operation.security.length === 0 && requestBody === undefined)
      return ["it wants a login, and none is documented"];
    if (exchange.status !== 401) seeSecurity(rules, exchange);
    const problems = checkAnswer(rules, exchange);
    if (!isServed && (exchange.isProbe === true || MAY_BE_UNDOCUMENTED.includes(status))) return problems;
    return [...problems, ...checkRequest(rules, exchange, isServed)];
  }

  const statusOfOptions = hasWebdav(document) ? 200 : 204;
  const ignoredMethods = hasWebdav(document) ? UNDESCRIBED_METHODS : [];

  function judge(exchange: ApiExchange): readonly string[] {
    const { method, target, status } = exchange;
    // A request to the server as a whole (RFC 9110 9.3.7).
    if (target === "*" && method === "OPTIONS" && status === statusOfOptions) return [];
    // No URL contains these characters (RFC 3986 2), so the request is for no path of the document.
    if (/[^!-~]|#/.test(target) && (status === 400 || status === 404)) return [];
    const template = findTemplate(target);
    if (template === "outside") return status === 404 ? [] : [`it is outside of the service, and answered ${status}`];
    if (template === undefined) return judgeUndescribed(exchange);
    const operation = operations.get(`${method} ${template}`);
    if (operation !== undefined) return checkOperation(operation, exchange);
    return [405, 501].includes(status) ? [] : [`${method} of ${template} is not documented, and answered ${status}`];
  }

  return {
    check: (exchange) => {
      const { method, target } = exchange;
      if (ignoredMethods.includes(method)) return [];
      return judge(exchange).map((problem) => `${method} ${target} -> ${problem}`);
    },
    unseen: coverage.unseen,
  };
}

/** The methods of WebDAV, which OpenAPI has no place for. */
const UNDESCRIBED_METHODS = ["PROPFIND", "PROPPATCH", "COPY", "MOVE", "MKCOL", "LOCK", "UNLOCK"];

/** Whether a document says that the service has the methods of WebDAV. */
function hasWebdav({ paths }: ApiDocument): boolean {
  return Object.values(paths).some(({ options }) => JSON.stringify(options ?? "").includes('"200"'));
}

/** The checks that were used last. Those of all documents, in hundreds of test files, would take a gigabyte. */
const checks = new Map<string, ApiCheck>();
const MOST_CHECKS = 50;

/** Checks an answer for a path without a description: it is 400 or 404, except to OPTIONS (CONTRACT 1). */
function judgeUndescribed({ method, status }: ApiExchange): readonly string[] {
  if (method === "OPTIONS" && (status === 204 || status === 200)) return [];
  return [400, 404].includes(status) ? [] : [`the path is not documented, and answered ${status}`];
}

/** Returns the check of a document's text. It is created once, as long as it is used often enough. */
export function apiCheckOf(text: string, options: ApiCheckOptions = {}): ApiCheck {
  const key = `${options.vocabulary ?? ""}\n${text}`;
  const check = checks.get(key) ?? createApiCheck(JSON.parse(text) as ApiDocument, options);
  checks.delete(key);
  checks.set(key, check);
  const [oldest = key] = checks.keys();
  if (checks.size > MOST_CHECKS) checks.delete(oldest);
  return check;
}
