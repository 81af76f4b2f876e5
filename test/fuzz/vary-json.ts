import type { Random } from "./random.ts";

/** Values that schemas mostly do not expect. */
const VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  "",
  "x",
  "..",
  "a/b",
  "/",
  "\u0000",
  "\ud800",
  "\u{1f600}",
  [],
  {},
  [[]],
  [null],
  ["", ""],
  "x".repeat(300),
];
// biome-ignore lint/suspicious/noTemplateCurlyInString: that is how the configuration spells it.
const TAILS = ["\u0000", "/", "\\", "..", "é", "${USER}"];
const KEYS = ["__proto__", "constructor", "toString", "length", "", "account", "0"];

/**
 * Changes one value of a JSON text: it is replaced, left out, put into another, doubled, or exchanged for one of
 * another text.
 */
export function varyJson(random: Random, text: string, other: string): string {
  const [root, spare] = [parse(text), parse(other)];
  if (root === undefined) return text;
  const holder = { root };
  const places = placesOf(holder);
  const { parent, key } = random.pick(places);
  const value = parent[key];
  const way = random.below(7);
  if (way === 0) set(parent, key, random.pick(VALUES));
  if (way === 1) Array.isArray(parent) ? parent.splice(Number(key), 1) : delete parent[key];
  if (way === 2) set(parent, key, random.chance(0.5) ? [value] : { [random.pick(KEYS)]: value });
  if (way === 3 && Array.isArray(parent)) parent.push(value);
  if (way === 4 && spare !== undefined) set(parent, key, takeOf(random.pick(placesOf({ spare }))));
  if (way === 5 && isObject(value)) set(value, random.pick(KEYS), random.pick(VALUES));
  if (way === 6 && typeof value === "string") set(parent, key, value + random.pick(TAILS));
  return toLatin1(JSON.stringify(holder.root) ?? "");
}

type Parent = Record<string, unknown>;

interface Place {
  readonly parent: Parent;
  readonly key: string;
}

function takeOf({ parent, key }: Place): unknown {
  return parent[key];
}

function isObject(value: unknown): value is Parent {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As JSON has it: `__proto__` is a member like any other. */
function set(parent: Parent, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
}

function placesOf(parent: object): readonly Place[] {
  const places: Place[] = [];
  const open: object[] = [parent];
  for (let one = open.pop(); one !== undefined && places.length < 200; one = open.pop()) {
    for (const [key, value] of Object.entries(one)) {
      places.push({ parent: one as Parent, key });
      if (typeof value === "object" && value !== null) open.push(value);
    }
  }
  return places;
}

/** The value of a text in UTF-8. */
function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
  } catch {
    return undefined;
  }
}

function toLatin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
