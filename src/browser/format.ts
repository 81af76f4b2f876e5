import type { ScriptTexts } from "../contracts/pages/script-texts.ts";

/**
 * Replaces each `{name}` in a text with its value. Numbers are formatted for the page's language. Placeholders in
 * values are not replaced.
 */
export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === "number" ? new Intl.NumberFormat(languageOfPage()).format(value) : (value ?? whole);
  });
}

/** Reads the texts that the service wrote into the page. */
export function readTexts(main: HTMLElement): ScriptTexts {
  return JSON.parse(main.dataset.texts ?? "{}") as ScriptTexts;
}

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte", "petabyte"] as const;

/** A number of bytes in the page's language, such as `1.5 MB`, as the rows have it. */
export function formatSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const unitDisplay = power === 0 ? "long" : "short";
  const style = { style: "unit", unit: UNITS[power], unitDisplay, maximumSignificantDigits: 3 } as const;
  return new Intl.NumberFormat(languageOfPage(), style).format(bytes / 1000 ** power);
}

/** Bytes per second in the page's language, such as `2.3 MB/s`. */
export function formatSpeed(bytesPerSecond: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytesPerSecond, 1)) / 3), UNITS.length - 1);
  return formatUnit(bytesPerSecond / 1000 ** power, `${UNITS[power]}-per-second`, power > 0 ? 1 : 0);
}

/** A rounded duration in the page's language, such as `40 sec`, `3 min` or `2 hr`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return formatUnit(seconds, "second", 0);
  return seconds < 3600 ? formatUnit(seconds / 60, "minute", 0) : formatUnit(seconds / 3600, "hour", 1);
}

function formatUnit(value: number, unit: string, maximumFractionDigits: number): string {
  const style = { style: "unit", unit, unitDisplay: "short", maximumFractionDigits } as const;
  return new Intl.NumberFormat(languageOfPage(), style).format(value);
}

const MINUTE = 60_000;

/** These take a while to make. */
let timeFormats: readonly [Intl.DateTimeFormat, Intl.RelativeTimeFormat] | undefined;

/** A time in the zone of the reader, and one of today as what has passed since. Seconds are in the tooltip of a row. */
export function formatTime(time: Date, now = new Date()): string {
  const language = languageOfPage();
  timeFormats ??= [
    new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }),
    new Intl.RelativeTimeFormat(language, { numeric: "auto" }),
  ];
  const [exact, relative] = timeFormats;
  const minutes = Math.floor((now.getTime() - time.getTime()) / MINUTE);
  // The clocks of both sides may differ a little.
  if (minutes < -1 || time.toDateString() !== now.toDateString()) return exact.format(time);
  if (minutes < 1) return relative.format(0, "second");
  return minutes < 60 ? relative.format(-minutes, "minute") : relative.format(-Math.floor(minutes / 60), "hour");
}

/** The language that the page is written in. */
export function languageOfPage(): string | undefined {
  return document.documentElement.lang || undefined;
}
