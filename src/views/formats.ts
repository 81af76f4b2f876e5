import type { Texts } from "../contracts/texts.ts";

/** Numbers and times as people of a language write them. */
export interface Formats {
  /** A number of bytes with the unit that fits, such as `1.5 MB` (a million bytes each). */
  size(bytes: number): string;
  /** All of its digits, such as `1,500,000 bytes`. */
  exactSize(bytes: number): string;
  /** A time in UTC, to the minute. */
  time(date: Date): string;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

const known = new WeakMap<Texts, Formats>();

/** The formats of a language: made once, as making them costs more than a hundred uses. */
export function formatsOf(texts: Texts): Formats {
  const formats = known.get(texts) ?? createFormats(texts.language);
  known.set(texts, formats);
  return formats;
}

function createFormats(language: string): Formats {
  const [bytes, ...others] = UNITS.map((unit) => {
    const unitDisplay = unit === "byte" ? "long" : "short";
    return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 });
  });
  const exact = new Intl.NumberFormat(language, { style: "unit", unit: "byte", unitDisplay: "long" });
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

  function size(count: number): string {
    const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), others.length);
    return ((power === 0 ? bytes : others[power - 1]) ?? exact).format(count / 1000 ** power);
  }

  return { size, exactSize: (count) => exact.format(count), time: (date) => time.format(date) };
}
