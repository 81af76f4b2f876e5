import type { OperationObject, PathItemObject, ReferenceObject, ResponseObject } from "./types.ts";

/** Paths, and the responses that several of their operations share by reference. */
export interface SharedResponses {
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

type Operations = Readonly<Record<string, OperationObject>>;

const OTHERS = "x-additionalOperations";

/** Moves responses that several operations have into components. This more than halves the document. */
export function shareResponses(paths: Readonly<Record<string, PathItemObject>>): SharedResponses {
  const counts = new Map<string, number>();
  const texts = new Map<ResponseObject | ReferenceObject, string>();
  for (const response of Object.values(paths)
    .flatMap(toOperations)
    .flatMap(({ responses }) => Object.values(responses))) {
    const text = JSON.stringify(response);
    texts.set(response, text);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const names = new Map<string, string>();
  const countByStatus = new Map<string, number>();
  const responses: Record<string, ResponseObject> = {};

  function toName(status: string, text: string): string {
    const known = names.get(`${status} ${text}`);
    if (known !== undefined) return known;
    const number = (countByStatus.get(status) ?? 0) + 1;
    countByStatus.set(status, number);
    const base = status === "default" ? "OtherStatus" : `Status${status}`;
    const name = `${base}${number === 1 ? "" : `-${number}`}`;
    names.set(`${status} ${text}`, name);
    responses[name] = JSON.parse(text);
    return name;
  }

  function share(status: string, response: ResponseObject | ReferenceObject): ResponseObject | ReferenceObject {
    const text = texts.get(response) ?? JSON.stringify(response);
    return counts.get(text) === 1 ? response : { $ref: `#/components/responses/${toName(status, text)}` };
  }

  function shareOf(operations: Operations): Operations {
    return mapValues(operations, (_method, operation) => ({
      ...operation,
      responses: mapValues(operation.responses, share),
    }));
  }

  const shared = mapValues(paths, (_path, { [OTHERS]: others, ...own }) => ({
    ...shareOf(own as Operations),
    ...(others !== undefined && { [OTHERS]: shareOf(others as Operations) }),
  }));
  return { paths: shared, responses };
}

/** Returns the operations of a path, including those of methods that OpenAPI 3.0 does not have. */
export function toOperations({ [OTHERS]: others, ...own }: PathItemObject): readonly OperationObject[] {
  return [...Object.values(own as Operations), ...Object.values((others ?? {}) as Operations)];
}

function mapValues<V, W>(
  values: Readonly<Record<string, V>>,
  map: (name: string, value: V) => W,
): Readonly<Record<string, W>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(name, value)]));
}
