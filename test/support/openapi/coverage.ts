import type { ApiDocument, ApiSchema, Operation } from "./document.ts";
import { listFields } from "./schemas.ts";

/** Which parts of a document exchanges have shown. */
export interface Coverage {
  see(key: string): void;
  /** Documented parts that no exchange has shown, in the document's order. */
  unseen(): readonly string[];
}

/** The names of the parts. */
export const keys = {
  answer: (operation: string, status: string, type = "without content") => `${operation} -> ${status} ${type}`,
  header: (operation: string, status: string, name: string) => `${operation} -> ${status}: header ${name}`,
  request: (operation: string, type: string) => `${operation}: ${type}`,
  parameter: (operation: string, place: string, name: string) => `${operation}: ${place} parameter ${name}`,
  security: (operation: string, scheme: string) => `${operation}: by ${scheme}`,
  requestFields: (operation: string, type: string) => `${operation}: ${type}: `,
  answerFields: (operation: string, status: string, type: string) => `${operation} -> ${status} ${type}: `,
} as const;

/** Creates the record of the parts of a document that were seen. */
export function createCoverage(document: ApiDocument, operations: readonly Operation[]): Coverage {
  const seen = new Set<string>();
  return {
    see: (key) => void seen.add(key),
    unseen() {
      const documented = new Set(operations.flatMap((operation) => [...listKeys(document, operation)]));
      return [...documented].filter((key) => !seen.has(key));
    },
  };
}

function* listKeys(document: ApiDocument, operation: Operation): Generator<string> {
  const { name, parameters, requestBody, responses, security } = operation;
  for (const parameter of parameters) {
    if (parameter.in !== "path") yield keys.parameter(name, parameter.in, parameter.name.toLowerCase());
  }
  for (const schemes of security) yield keys.security(name, toSchemeName(schemes));
  for (const [type, { schema }] of Object.entries(requestBody?.content ?? {})) {
    yield keys.request(name, type);
    yield* fieldsOf(document, schema, keys.requestFields(name, type));
  }
  for (const [status, { headers, content }] of responses) {
    const types = Object.entries(content);
    if (types.length === 0) yield keys.answer(name, status);
    for (const [type, { schema }] of types) {
      yield keys.answer(name, status, type);
      yield* fieldsOf(document, schema, keys.answerFields(name, status, type));
    }
    for (const header of headers.keys()) yield keys.header(name, status, header);
  }
}

function fieldsOf(document: ApiDocument, schema: ApiSchema | undefined, at: string): Iterable<string> {
  return schema === undefined ? [] : listFields(document, schema, at);
}

/** The name of a way to log in. */
export function toSchemeName(schemes: Operation["security"][number]): string {
  return (
    schemes.map(({ type, scheme, in: place, name }) => scheme ?? `${place ?? type} ${name}`).join(" and ") || "none"
  );
}
