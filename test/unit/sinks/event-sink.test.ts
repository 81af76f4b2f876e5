import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createSinkQueue, type QueuedEvent } from "../../../src/sinks/event-sink.ts";

function eventOf(id: number, name: string): FileEvent {
  return { id, data: { name } } as unknown as FileEvent;
}

function create(capacity: number) {
  const delivered: QueuedEvent[] = [];
  let fullCount = 0;
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const queue = createSinkQueue({
    capacity,
    batch: 1,
    async deliver(events) {
      await gate;
      delivered.push(...events);
    },
    onFull: () => {
      fullCount += 1;
    },
  });
  const names = () => delivered.map(({ event }) => (event.data as unknown as { name: string }).name);
  return { queue, names, open: () => open(), fullCount: () => fullCount };
}

describe("a full queue of events", () => {
  it("drops events of refusals first, which anybody can cause, the oldest before", async () => {
    const { queue, names, open, fullCount } = create(4);
    const added = [
      queue.add(eventOf(40010, "folder")),
      queue.add(eventOf(40000, "refused 1")),
      queue.add(eventOf(40019, "refused 2")),
      queue.add(eventOf(40000, "refused 3")),
    ];
    expect(added).toEqual([0, 0, 0, 0]);
    expect(queue.add(eventOf(40000, "refused 4")), "a refusal makes no room for itself").toBe(1);
    for (const name of ["a", "b", "c"]) expect(queue.add(eventOf(40017, name)), "another was dropped").toBe(1);
    expect(queue.add(eventOf(40017, "d")), "there is no refusal left").toBe(1);
    expect(fullCount()).toBe(1);
    open();
    await queue.drain();
    expect(names()).toEqual(["folder", "a", "b", "c"]);
    expect(queue.add(eventOf(40000, "later"))).toBe(0);
    await queue.drain();
    expect(names().at(-1)).toBe("later");
  });

  it("holds at most 16 Mi characters, however many refusals it could drop", async () => {
    const { queue, names, open } = create(10_000);
    for (let count = 0; count < 5000; count += 1) queue.add(eventOf(40000, `refused ${count}`));
    for (let count = 0; count < 2000; count += 1) queue.add(eventOf(40017, "x".repeat(65_000)));
    open();
    await queue.drain();
    expect(names().length).toBeLessThanOrEqual(16_777_216 / 65_000);
  });

  it("drops events of the account that holds the most, by their number and size", async () => {
    const { queue, names, open } = create(10);
    const of = (uuid: string, name: string): FileEvent => ({ ...eventOf(40022, name), account: { uuid } }) as FileEvent;
    expect(queue.add(of("bob", "first of bob"))).toBe(0);
    for (let count = 0; count < 100; count += 1) queue.add(of("mallory", `noise ${count}`));
    for (const name of ["second", "third", "fourth", "fifth"]) expect(queue.add(of("bob", `${name} of bob`))).toBe(1);
    expect(queue.add(of("bob", "sixth of bob")), "bob has as many as mallory").toBe(1);
    expect(queue.add(eventOf(40042, "without an account"))).toBe(1);
    open();
    await queue.drain();
    const noise = Array.from({ length: 5 }, (_, index) => `noise ${index}`);
    const ofBob = ["second of bob", "third of bob", "fourth of bob"];
    expect(names()).toEqual(["first of bob", ...noise, ...ofBob, "without an account"]);
  });

  it("keeps the small events of an account beside long ones of another", async () => {
    const { queue, names, open } = create(10_000);
    const of = (uuid: string, name: string): FileEvent => ({ ...eventOf(40022, name), account: { uuid } }) as FileEvent;
    for (let count = 0; count < 1000; count += 1) queue.add(of("mallory", "x".repeat(65_000)));
    for (let count = 0; count < 100; count += 1) queue.add(of("bob", `bob ${count}`));
    open();
    await queue.drain();
    expect(names().filter((name) => name.startsWith("bob"))).toHaveLength(100);
  });
});
