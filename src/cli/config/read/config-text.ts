import { parseJsonText } from "../../../platform/json-text.ts";
import { decodeUtf8 } from "../../../platform/utf8.ts";

/** The values in a configuration. An alias counts as often as it is used: a few lines could stand for millions. */
const MAX_VALUES = 100_000;

/**
 * Parses the text of a configuration: YAML if the name of the file ends in `.yaml` or `.yml`, else JSON. Rejects with
 * `SyntaxError`, whose message has the position and never quotes the text, which may be a password.
 */
export async function parseConfigText(file: string, content: Uint8Array): Promise<unknown> {
  if (!/\.ya?ml$/i.test(file)) return parseJsonText(content);
  const text = decodeUtf8(content, "remove");
  if (text === undefined) throw new SyntaxError("is not valid UTF-8");
  const { CORE_SCHEMA, load, YAMLException } = await import("js-yaml");
  try {
    const parsed = load(text, { schema: CORE_SCHEMA });
    requireFew(parsed);
    return parsed;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, column } = error.mark ?? { line: 0, column: 0 };
    const reason = error.reason.replaceAll(/".*"|'.*'|<.*>|\(.*\)/g, "...");
    throw new SyntaxError(`line ${line + 1}, column ${column + 1}: is not valid YAML: ${reason}`);
  }
}

/** Throws `SyntaxError` if there are too many values, such as in an alias that contains itself. */
function requireFew(parsed: unknown): void {
  const waiting = [parsed];
  for (let count = 1; waiting.length > 0; count += 1) {
    if (count > MAX_VALUES) throw new SyntaxError(`has more than ${MAX_VALUES} values, with those of aliases`);
    const value = waiting.pop();
    if (typeof value === "object" && value !== null) waiting.push(...Object.values(value));
  }
}
