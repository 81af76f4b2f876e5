const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;

/** A number of bytes, such as `1.4 MB`. */
export function toSize(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const format = { style: "unit", unit: UNITS[power] ?? "byte", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat("en", format).format(bytes / 1000 ** power);
}

/** A time in POSIX seconds. */
export function toDate(seconds: number): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
}
