/** The bounds of a JSON text, checked before it is parsed (SECURITY 12). */
export interface JsonLimits {
  /** Maximum number of members of all lists and objects together. */
  readonly maxValues: number;
  /** Maximum number of members of any one list or object. Default: `maxValues`. */
  readonly maxMembers?: number;
  /**
   * Maximum depth of nested lists and objects. Free-form JSON is serialized again, and a deeper value could overflow
   * the stack of a serializer. Default: 100.
   */
  readonly maxNesting?: number;
}

/**
 * The value, or what is wrong with the text. The problem is in English and quotes nothing of the text. With
 * `exceedsLimit` the text was not parsed, and may be JSON.
 */
export type BoundedJson = { readonly value: unknown } | { readonly problem: string; readonly exceedsLimit: boolean };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const [OPENING_BRACKET, CLOSING_BRACKET] = [0x5b, 0x5d];
const [OPENING_BRACE, CLOSING_BRACE] = [0x7b, 0x7d];

/**
 * Parses JSON after its members have been counted in the text. Parsing takes time for each value and each nested list,
 * and a schema takes microseconds to report a wrong value: a hostile body of a few hundred kilobytes would block the
 * thread for seconds.
 */
export function parseBoundedJson(text: string, limits: JsonLimits): BoundedJson {
  const problem = findExcess(text, limits);
  if (problem !== undefined) return { problem, exceedsLimit: true };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: "the body is not JSON", exceedsLimit: false };
  }
}

/** Counts the separators between values. The count is exact for JSON; the parser rejects any other text. */
function findExcess(text: string, limits: JsonLimits): string | undefined {
  const { maxValues, maxMembers = maxValues, maxNesting = 100 } = limits;
  /** The number of commas of each open list and object. */
  const commas = new Uint32Array(maxNesting + 1);
  let [nesting, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = findStringEnd(text, at);
    } else if (isOpening(code)) {
      if (nesting === maxNesting) return `the body is nested deeper than ${maxNesting} levels`;
      nesting += 1;
      commas[nesting] = 0;
      if (!isEmpty(text, at)) values += 1;
    } else if (isClosing(code)) {
      nesting = Math.max(0, nesting - 1);
    } else if (code === COMMA) {
      values += 1;
      commas[nesting] = (commas[nesting] as number) + 1;
    }
    if (values > maxValues) return `the body has more than ${maxValues} values`;
    if ((commas[nesting] as number) >= maxMembers) return `the body has a list of more than ${maxMembers} members`;
  }
  return undefined;
}

/**
 * The index of the quotation mark that ends the string which begins at `from`; the length of the text if there is none.
 */
function findStringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Whether the list or object that opens at `from` has only white space in it (RFC 8259 2). */
function isEmpty(text: string, from: number): boolean {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return isClosing(code);
  }
  return true;
}

/** Comparisons take a fifth of the time of a set, for each character of a body. */
function isOpening(code: number): boolean {
  return code === OPENING_BRACKET || code === OPENING_BRACE;
}

function isClosing(code: number): boolean {
  return code === CLOSING_BRACKET || code === CLOSING_BRACE;
}
