import type { Random } from "./random.ts";

/** What inputs of a target are made of. */
export interface Grammar {
  /** Texts that mean something to the parser. */
  readonly dictionary: readonly string[];
  /** What its lists are separated by. */
  readonly separators: readonly string[];
  /** Characters that an input has at most. */
  readonly maxLength: number;
}

type Mutation = (random: Random, input: string, grammar: Grammar, other: string) => string;

/** Numbers at which a parser may turn over. */
const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1",
  "00",
  "7",
  "16",
  "255",
  "256",
  "65535",
  "65536",
  "2147483648",
  "4294967296",
  "9007199254740991",
  "9007199254740993",
  "18446744073709551616",
  "99999999999999999999999",
  "1e9",
  "0x10",
  "1.5",
  "NaN",
];

/** Bytes that are marks, blanks or no text at all. */
const BYTES = "\0\t\n\r !\"#$%&'()*+,-./0:;<=>?@A[\\]^_`a{|}~\x7f\x80\xa0\xbf\xc0\xc2\xe0\xed\xf0\xf4\xff";

/**
 * Texts that others have taken for something else: overlong and cut UTF-8, surrogates, marks of direction and of byte
 * order, as bytes.
 */
const ODD_TEXTS = [
  "\xc0\xaf",
  "\xc1\x9c",
  "\xe0\x80\xaf",
  "\xed\xa0\x80",
  "\xed\xb0\x80",
  "\xef\xbb\xbf",
  "\xe2\x80\xae",
  "\xf4\x90\x80\x80",
  "\xf0\x9f\x98\x80",
  "\xc3\xa4",
  "a\xcc\x88",
  "\xe2\x84\xaa",
  "\xc4\xb1",
  "\r\n",
  "\r\n\r\n",
  "__proto__",
  "constructor",
  "%00",
  "%2e%2e",
  "%252e",
  "%u002e",
  "..",
  "\\",
];

function insert(input: string, at: number, text: string): string {
  return input.slice(0, at) + text + input.slice(at);
}

/** A slice of an input, mostly a short one. */
function sliceOf(random: Random, input: string): readonly [from: number, to: number] {
  const from = random.below(input.length + 1);
  const most = random.chance(0.8) ? 12 : input.length;
  return [from, Math.min(input.length, from + 1 + random.below(most))];
}

const insertWord: Mutation = (random, input, { dictionary }) =>
  insert(input, random.below(input.length + 1), random.pick(dictionary));

const replaceByWord: Mutation = (random, input, { dictionary }) => {
  const [from, to] = sliceOf(random, input);
  return input.slice(0, from) + random.pick(dictionary) + input.slice(to);
};

const insertOddText: Mutation = (random, input) =>
  insert(input, random.below(input.length + 1), random.pick(ODD_TEXTS));

const insertByte: Mutation = (random, input) =>
  insert(input, random.below(input.length + 1), BYTES.charAt(random.below(BYTES.length)));

const replaceByte: Mutation = (random, input) => {
  const at = random.below(input.length);
  return input.slice(0, at) + String.fromCharCode(random.below(256)) + input.slice(at + 1);
};

const flipBit: Mutation = (random, input) => {
  const at = random.below(input.length);
  const flipped = (input.charCodeAt(at) ^ (1 << random.below(8))) & 0xff;
  return input.slice(0, at) + String.fromCharCode(flipped) + input.slice(at + 1);
};

const remove: Mutation = (random, input) => {
  const [from, to] = sliceOf(random, input);
  return input.slice(0, from) + input.slice(to);
};

const truncate: Mutation = (random, input) => input.slice(0, random.below(input.length + 1));

const repeat: Mutation = (random, input) => {
  const [from, to] = sliceOf(random, input);
  return insert(input, to, input.slice(from, to).repeat(1 + random.below(4)));
};

const splice: Mutation = (random, input, _grammar, other) =>
  input.slice(0, random.below(input.length + 1)) + other.slice(random.below(other.length + 1));

const insertFromOther: Mutation = (random, input, _grammar, other) => {
  const [from, to] = sliceOf(random, other);
  return insert(input, random.below(input.length + 1), other.slice(from, to));
};

const changeNumber: Mutation = (random, input) => {
  const numbers = [...input.matchAll(/\d+/g)];
  if (numbers.length === 0) return insert(input, random.below(input.length + 1), random.pick(NUMBERS));
  const { 0: digits, index } = random.pick(numbers);
  const near = String(Number(digits) + random.below(5) - 2);
  return (
    input.slice(0, index) + (random.chance(0.5) ? near : random.pick(NUMBERS)) + input.slice(index + digits.length)
  );
};

/** An element of a list is left out, doubled, moved or exchanged for another input's. */
const changeList: Mutation = (random, input, { separators }, other) => {
  const separator = random.pick(separators);
  const elements = input.split(separator);
  const at = random.below(elements.length);
  const element = elements[at] as string;
  const way = random.below(4);
  if (way === 0) elements.splice(at, 1);
  if (way === 1) elements.splice(at, 0, element);
  if (way === 2) elements.splice(random.below(elements.length), 0, ...elements.splice(at, 1));
  if (way === 3) elements[at] = random.pick(other.split(separator));
  return elements.join(separator);
};

/** The same text in another spelling: a parser that reads twice, or another one, may take it for something else. */
const recode: Mutation = (random, input) => {
  const [from, to] = sliceOf(random, input);
  const slice = input.slice(from, to);
  const codes = [...slice].map((character) => character.charCodeAt(0).toString(16).padStart(2, "0"));
  const spellings = [
    () => codes.map((code) => `%${code}`).join(""),
    () => codes.map((code) => `%25${code}`).join(""),
    () => codes.map((code) => `\\u00${code}`).join(""),
    () => codes.map((code) => `&#x${code};`).join(""),
    () => slice.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
    () => slice.toUpperCase().replace(/[^\0-\xff]/g, "?"),
    () => slice.toLowerCase(),
    () => `"${slice}"`,
    () => Buffer.from(slice, "latin1").toString("base64"),
    () =>
      Buffer.from(slice, "latin1")
        .toString("utf16le")
        .replace(/[^\0-\xff]/g, "?"),
  ];
  return input.slice(0, from) + random.pick(spellings)() + input.slice(to);
};

const MUTATIONS: readonly Mutation[] = [
  insertWord,
  insertWord,
  replaceByWord,
  insertOddText,
  insertByte,
  replaceByte,
  flipBit,
  remove,
  remove,
  truncate,
  repeat,
  splice,
  insertFromOther,
  changeNumber,
  changeList,
  changeList,
  recode,
];

/**
 * How often an input is blown up to the largest: what is quadratic shows there, and each takes as long as hundreds of
 * others.
 */
const INFLATED = 0.002;

/** Some part of it over and over. */
const inflate: Mutation = (random, input, { dictionary, maxLength }) => {
  const [from, to] = sliceOf(random, input);
  const part = (random.chance(0.5) ? input.slice(from, to) : random.pick(dictionary)) || "a";
  const room = Math.max(0, maxLength - input.length);
  return insert(input, to, part.repeat(Math.floor(room / part.length)));
};

/** Makes an input of another one, and of a second to take pieces of. */
export function mutate(random: Random, input: string, other: string, grammar: Grammar): string {
  let mutated = input;
  for (let count = 1 + random.below(random.chance(0.2) ? 8 : 3); count > 0; count--) {
    mutated = random.pick(MUTATIONS)(random, mutated, grammar, other);
  }
  if (random.chance(INFLATED)) mutated = inflate(random, mutated, grammar, other);
  return mutated.slice(0, grammar.maxLength);
}
