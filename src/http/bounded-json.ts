/** How much a JSON text may hold before anything is made of it (SECURITY 12). */
export interface JsonLimits {
  /** Members of all lists and objects together. */
  readonly maxValues: number;
  /** Members of any one list or object. Default: as many as there may be values. */
  readonly maxMembers?: number;
  /** Lists and objects inside each other. Free-form JSON is written again: what is nested deeper than 100 would end such a writer. Default: 100. */
  readonly maxNesting?: number;
}

/** A value, or what is wrong with the text, in English and without anything of it; `isJson`: it may be JSON, but is not taken. */
export type BoundedJson = { readonly value: unknown } | { readonly problem: string; readonly isJson: boolean };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * Parses JSON whose members were counted in its text: parsing takes its time for each value and each list in another, and a schema takes microseconds
 * to complain of a value. Of a body of a few hundred kilobytes they would hold the thread for seconds.
 */
export function parseBoundedJson(text: string, limits: JsonLimits): BoundedJson {
  const problem = findExcess(text, limits);
  if (problem !== undefined) return { problem, isJson: true };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { problem: "the body is not JSON", isJson: false };
  }
}

/** Counts by the marks between values, which is exact for JSON; of any other text the parser finds out. */
function findExcess(text: string, limits: JsonLimits): string | undefined {
  const { maxValues, maxMembers = maxValues, maxNesting = 100 } = limits;
  /** The commas of each list and object that is open. */
  const commas = new Uint32Array(maxNesting + 1);
  let [nesting, values] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = findStringEnd(text, at);
    } else if (OPENING.has(code)) {
      if (nesting === maxNesting) return `the body is nested deeper than ${maxNesting} levels`;
      nesting += 1;
      commas[nesting] = 0;
      if (!isEmpty(text, at)) values += 1;
    } else if (CLOSING.has(code)) {
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

/** Where the string that begins at a place ends; the text's end where it does not. */
function findStringEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at += 1;
  }
  return text.length;
}

/** Whether a list or object closes with nothing but white space in between (RFC 8259 2). */
function isEmpty(text: string, from: number): boolean {
  for (let at = from + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return CLOSING.has(code);
  }
  return true;
}
