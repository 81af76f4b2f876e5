import { describe, expect, it } from "vitest";
import { createUploadRooms } from "../../../src/limits/upload-rooms.ts";

describe("the room of an account for uploads", () => {
  it("is an eighth of what its limits leave, in number and in bytes", () => {
    const rooms = createUploadRooms(() => 0);
    expect(rooms.take("a", 1)).toBe(false);
    rooms.give("a", { count: 16, bytes: 80 });
    expect([rooms.take("a", 11), rooms.take("a", 4), rooms.take("b", 0)]).toEqual([false, true, false]);
    expect([rooms.take("a", 7), rooms.take("a", 6), rooms.take("a", 0)]).toEqual([false, true, false]);
  });

  it("is gone after ten seconds, as other processes create uploads too", () => {
    let now = 0;
    const rooms = createUploadRooms(() => now);
    rooms.give("a", { count: 80, bytes: Number.POSITIVE_INFINITY });
    now = 10_000;
    expect(rooms.take("a", 1)).toBe(true);
    now = 10_001;
    expect(rooms.take("a", 1)).toBe(false);
  });

  it("is kept for the thousand accounts that were counted last", () => {
    const rooms = createUploadRooms(() => 0);
    for (let index = 0; index <= 1000; index += 1) rooms.give(`${index}`, { count: 8, bytes: 8 });
    expect([rooms.take("0", 1), rooms.take("1", 1), rooms.take("1000", 1)]).toEqual([false, true, true]);
  });
});
