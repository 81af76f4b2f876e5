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

/**
 * The media type to ask for in a call, where nobody has chosen one: the first of its successes, else the first of any of its answers, so that its failures come as they are described.
 * `undefined` where the description names none.
 */
export function findAcceptedType(description: Description, path: string, method: string): string | undefined {
  const responses = Object.entries(description.paths?.[path]?.[method]?.responses ?? {});
  const isSuccess = ([status]: readonly [string, DescribedResponse]) => status.startsWith("2");
  for (const [, response] of [...responses.filter(isSuccess), ...responses]) {
    const named = response.$ref?.split("/").at(-1);
    const { content = {} } = (named === undefined ? response : description.components?.responses?.[named]) ?? {};
    const [type] = Object.keys(content);
    if (type !== undefined) return type;
  }
  return undefined;
}
