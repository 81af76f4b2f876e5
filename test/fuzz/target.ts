import { isDeepStrictEqual } from "node:util";
import type { Grammar } from "./mutate.ts";
import type { Random } from "./random.ts";

/** Something that hostile bytes come to, and what it promises for all of them. */
export interface FuzzTarget extends Grammar {
  /** Files below `src/` whose blocks lead the search. */
  readonly sources: readonly string[];
  /**
   * Hands an input over, its bytes as characters up to U+00FF. In a few words what came of it, which leads the search
   * as well. Throws whatever breaks a promise; a refusal that the parser documents is none.
   */
  run(input: string): string | Promise<string>;
  /** Changes an input by its structure, such as a member of its JSON. */
  vary?(random: Random, input: string, other: string): string;
  /** Leaves nothing behind. */
  close?(): void;
}

/** A promise is broken unless this holds. */
export function expect(holds: boolean, promise: string): asserts holds {
  if (!holds) throw new Error(`Broken: ${promise}`);
}

/** The same for two values, whatever the order of their members. */
export function expectSame(found: unknown, expected: unknown, promise: string): void {
  if (isDeepStrictEqual(found, expected)) return;
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  throw new Error(`Broken: ${promise}: ${one?.slice(0, 500)} is not ${other?.slice(0, 500)}`);
}

/** The bytes of an input. */
export function toBytes(input: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(input.length);
  for (let at = 0; at < input.length; at++) bytes[at] = input.charCodeAt(at);
  return bytes;
}

/** An input cut in two at its first line end. */
export function cutLine(input: string): readonly [line: string, rest: string] {
  const end = input.indexOf("\n");
  return end < 0 ? [input, ""] : [input.slice(0, end), input.slice(end + 1)];
}

/** Bytes as UTF-8, `undefined` where they are none: a byte order mark stays. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lines of `Name: value` as header fields, the last of a name; other lines say nothing. */
export function readFields(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, name, value] = /^([\w-]+): ?(.*)$/s.exec(line) ?? [];
    if (name !== undefined && value !== undefined) fields.set(name.toLowerCase(), value);
  }
  return fields;
}

/** Fields as the sources ask for them, whatever they hold. */
export function asHeaders(fields: ReadonlyMap<string, string>): Headers {
  const own = {
    get: (name: string) => fields.get(name.toLowerCase()) ?? null,
    has: (name: string) => fields.has(name.toLowerCase()),
  };
  return own as unknown as Headers;
}
