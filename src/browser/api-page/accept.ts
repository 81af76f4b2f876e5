/** The parts of an OpenAPI document that list the media types of responses. */
interface OpenApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly responses?: Responses }>>>>;
  readonly components?: { readonly responses?: Responses };
}

type Responses = Readonly<Record<string, DocumentedResponse>>;

interface DocumentedResponse {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = "application/json";

/**
 * Finds the media type for the `Accept` header of a call if the user has chosen none. It is a type of the successful
 * responses, else of any response, so that failures have the documented format too. JSON is preferred. Returns
 * `undefined` if the document lists no type. Media ranges do not count: they stand for responses of other servers.
 */
export function findAcceptedType(document: OpenApiDocument, path: string, method: string): string | undefined {
  const responses = Object.entries(document.paths?.[path]?.[method]?.responses ?? {});
  const successes = responses.filter(([status]) => status.startsWith("2"));
  return choose(document, successes) ?? choose(document, responses);
}

function choose(
  document: OpenApiDocument,
  responses: readonly (readonly [string, DocumentedResponse])[],
): string | undefined {
  const types = responses.flatMap(([, response]) => {
    const named = response.$ref?.split("/").at(-1);
    return Object.keys((named === undefined ? response : document.components?.responses?.[named])?.content ?? {});
  });
  return types.find((type) => type === JSON_TYPE) ?? types.find((type) => !type.includes("*"));
}
