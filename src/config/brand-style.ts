/** The stylesheet of a branding. It is a file of its own, so the policy of the pages need not allow inline styles. */
export interface BrandStyle {
  /** The name among the assets; it changes with the text. */
  readonly name: string;
  readonly text: string;
}

type Color = readonly [red: number, green: number, blue: number];

/**
 * The backgrounds with the least contrast to the accent, in the light and the dark scheme. Keep them as in
 * `views/assets/style.css`.
 */
const LIGHT_BACKGROUND: Color = [0xee, 0xf1, 0xf5];
const DARK_BACKGROUND: Color = [0x26, 0x2c, 0x36];
const BLACK: Color = [0, 0, 0];
const WHITE: Color = [255, 255, 255];

/** WCAG 2.2, 1.4.3 (AA) asks for 4.5; the rest is a margin for rounding. */
const LEAST_CONTRAST = 4.6;

/**
 * The stylesheet of an accent colour, which is darkened or lightened until it is legible on either background (WCAG
 * AA).
 */
export function toBrandStyle(accent: string): BrandStyle {
  const color = parseColor(accent);
  const light = formatColor(toReadable(color, LIGHT_BACKGROUND, BLACK));
  const dark = formatColor(toReadable(color, DARK_BACKGROUND, WHITE));
  const text = `:root{--accent:${light}}@media (prefers-color-scheme:dark){:root{--accent:${dark}}}`;
  return { name: `brand-${toHash(text)}.css`, text };
}

function parseColor(text: string): Color {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

function formatColor(color: Color): string {
  return `#${color.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** Mixes `color` with `end` in steps of 2 % until it is legible on `background`. */
function toReadable(color: Color, background: Color, end: Color): Color {
  const shares = Array.from({ length: 51 }, (_, step) => step / 50);
  const mixtures = shares.map((share) => mix(color, end, share));
  return mixtures.find((mixture) => toContrast(mixture, background) >= LEAST_CONTRAST) ?? end;
}

function mix(color: Color, end: Color, share: number): Color {
  const [red, green, blue] = color.map((part, index) => Math.round(part + ((end[index] ?? 0) - part) * share));
  return [red ?? 0, green ?? 0, blue ?? 0];
}

/** The contrast ratio of two colours, 1 to 21 (WCAG 2.2). */
function toContrast(one: Color, other: Color): number {
  const [darker = 0, lighter = 0] = [toLuminance(one), toLuminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function toLuminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** FNV-1a with 64 bits. It only gives another text another name; SHA-256 would be asynchronous here. */
function toHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}
