import { randomHex } from "../../platform/random-hex.ts";

/** What file systems allow, in bytes. */
const MAX_NAME_BYTES = 255;
/** The rest is for one character and eight digits in parentheses. */
const MAX_EXTENSION_BYTES = MAX_NAME_BYTES - 15;
const MAX_NUMBER = 99;
const RANDOM_NAMES = 10;

/**
 * The names that something may get in a folder where its own name is taken, in the order in which they are tried:
 * `a.csv`, `a (2).csv`, ..., `a (99).csv`, then some with eight random hexadecimal digits (SHARING 6.2).
 */
export function* toFreeNames(name: string, isFolder: boolean): Generator<string> {
  yield name;
  for (let number = 2; number <= MAX_NUMBER; number += 1) yield withSuffix(name, isFolder, `${number}`);
  for (let count = 0; count < RANDOM_NAMES; count += 1) yield withSuffix(name, isFolder, randomHex(4));
}

/** Whether a name has more bytes than file systems allow. A storage refuses it as well, but only when it sees it. */
export function isNameTooLong(name: string): boolean {
  return byteLength(name) > MAX_NAME_BYTES;
}

/** Puts a text in parentheses before the extension of a file, or at the end. Cuts what makes the name too long. */
function withSuffix(name: string, isFolder: boolean, text: string): string {
  const dot = isFolder ? -1 : name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot) : "";
  // An extension that leaves no room is cut like the rest of the name.
  const end = byteLength(extension) <= MAX_EXTENSION_BYTES ? extension : "";
  const stem = [...name.slice(0, name.length - end.length)];
  const toName = (): string => `${stem.join("")} (${text})${end}`;
  while (stem.length > 1 && byteLength(toName()) > MAX_NAME_BYTES) stem.pop();
  return toName();
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}
