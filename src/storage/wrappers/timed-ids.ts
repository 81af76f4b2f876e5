import { randomHex } from "../../platform/random-hex.ts";

const ID = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[0-9a-f]{16}$/;

/** Returns a new ID: the time, which IDs are sorted by, and 64 random bits. `time`: milliseconds since 1970. */
export function createTimedId(time: number): string {
  return `${new Date(time).toISOString().replace(/[-:.]/g, "")}-${randomHex(8)}`;
}

/** Whether a text has the form of an ID. Only such a text may become a part of a path. */
export function isTimedId(text: string): boolean {
  return !Number.isNaN(toTimeOfId(text));
}

/** Returns the time of an ID, in milliseconds since 1970; `NaN` for any other text. */
export function toTimeOfId(id: string): number {
  const [, year, month, day, hour, minute, second, millisecond] = ID.exec(id) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
}
