import type { Texts } from "../contracts/pages/texts.ts";
import { html, type SafeHtml } from "../http/html.ts";

/** Formats numbers and times for a language. */
export interface Formats {
  /** A number of bytes in a fitting unit, such as `1.5 MB` (1 MB is 1,000,000 bytes). */
  size(bytes: number): string;
  /** A number of bytes with all digits, such as `1,500,000 bytes`. */
  exactSize(bytes: number): string;
  /** A whole number with separators, such as `10,000`. */
  count(value: number): string;
  /** A time in UTC, with minutes. */
  time(date: Date): string;
  /** A number of seconds in the largest unit that it is a whole number of, such as `7 days`. */
  duration(seconds: number): string;
  /** Compares two names as people sort them: small and capital letters together, numbers by their value. */
  compareNames(one: string, other: string): number;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

const DURATIONS = [
  ["year", 31_536_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

const cache = new WeakMap<Texts, Formats>();

/** The formats of a language. They are cached, because creating them costs more than using them a hundred times. */
export function formatsOf(texts: Texts): Formats {
  const formats = cache.get(texts) ?? createFormats(texts.language);
  cache.set(texts, formats);
  return formats;
}

/** Renders a number of bytes, all digits of which are in its tooltip. */
export function renderSize(texts: Texts, bytes: number): SafeHtml {
  const formats = formatsOf(texts);
  return html`<data value="${bytes}" title="${formats.exactSize(bytes)}">${formats.size(bytes)}</data>`;
}

/** Renders the cell with the size of a file. All digits are in its tooltip if it does not show them. */
export function renderSizeCell(texts: Texts, bytes: number, attributes: SafeHtml): SafeHtml {
  const formats = formatsOf(texts);
  const [shown, exact] = [formats.size(bytes), formats.exactSize(bytes)];
  return html`<td${attributes} data-size="${bytes}"${shown === exact ? undefined : html` title="${exact}"`}>${shown}</td>`;
}

/**
 * Renders a time, whose seconds are in its tooltip. The script shows it in the zone of the reader. `zone`: what follows
 * it without a script, where the heading of a column does not say that it is in UTC.
 */
export function renderTime(texts: Texts, time: Date, zone = ""): SafeHtml {
  const exact = time.toISOString();
  return html`<time datetime="${exact}" title="${exact.slice(0, 19).replace("T", " ")} UTC">${formatsOf(texts).time(time)}${zone}</time>`;
}

/** As `renderTime`, for rows of large tables: the script makes the tooltip when it is needed. */
export function renderRowTime(texts: Texts, time: Date): SafeHtml {
  return html`<time datetime="${time.toISOString()}">${formatsOf(texts).time(time)}</time>`;
}

/** Renders the time of POSIX seconds, with its zone. */
export function renderSeconds(texts: Texts, seconds: number): SafeHtml {
  return renderTime(texts, new Date(seconds * 1000), " UTC");
}

function createFormats(language: string): Formats {
  const [bytes, ...others] = UNITS.map((unit) => {
    const unitDisplay = unit === "byte" ? "long" : "short";
    return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 });
  });
  const exact = new Intl.NumberFormat(language, { style: "unit", unit: "byte", unitDisplay: "long" });
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });

  function size(count: number): string {
    const power = count < 1000 ? 0 : Math.min(Math.floor(Math.log10(count) / 3), others.length);
    return ((power === 0 ? bytes : others[power - 1]) ?? exact).format(count / 1000 ** power);
  }

  function duration(seconds: number): string {
    const [unit, length] = DURATIONS.find(([, each]) => seconds >= each && seconds % each === 0) ?? ["second", 1];
    return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" }).format(seconds / length);
  }

  return {
    size,
    exactSize: (count) => exact.format(count),
    count: (value) => whole.format(value),
    time: (date) => time.format(date),
    duration,
    compareNames: new Intl.Collator(language, { numeric: true }).compare,
  };
}
