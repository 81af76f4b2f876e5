/** What of a description says which media types an answer has. */
interface Description {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, { readonly responses?: Responses }>>>>;
  readonly components?: { readonly responses?: Responses };
}

type Responses = Readonly<Record<string, DescribedResponse>>;

interface DescribedResponse {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, unknown>>;
}

const JSON_TYPE = "application/json";

/**
 * The media type to ask for in a call, where nobody has chosen one: that of its successes, else of any of its answers, so that its failures come as they are described. JSON goes before others.
 * `undefined` where the description names none. Ranges are no types: what servers and proxies answer may be anything.
 */
export function findAcceptedType(description: Description, path: string, method: string): string | undefined {
  const responses = Object.entries(description.paths?.[path]?.[method]?.responses ?? {});
  const successes = responses.filter(([status]) => status.startsWith("2"));
  return choose(description, successes) ?? choose(description, responses);
}

function choose(
  description: Description,
  responses: readonly (readonly [string, DescribedResponse])[],
): string | undefined {
  const types = responses.flatMap(([, response]) => {
    const named = response.$ref?.split("/").at(-1);
    return Object.keys((named === undefined ? response : description.components?.responses?.[named])?.content ?? {});
  });
  return types.find((type) => type === JSON_TYPE) ?? types.find((type) => !type.includes("*"));
}
