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
    expect(added).toEqual([true, true, true, true]);
    expect(queue.add(eventOf(40000, "refused 4")), "a refusal makes no room for itself").toBe(false);
    for (const name of ["a", "b", "c"]) expect(queue.add(eventOf(40017, name)), "another was dropped").toBe(false);
    expect(queue.add(eventOf(40017, "d")), "there is no refusal left").toBe(false);
    expect(fullCount()).toBe(1);
    open();
    await queue.drain();
    expect(names()).toEqual(["folder", "a", "b", "c"]);
    expect(queue.add(eventOf(40000, "later"))).toBe(true);
    await queue.drain();
    expect(names().at(-1)).toBe("later");
  });

  it("holds at most 16 Mi characters, however many refusals it could drop", async () => {
    const { queue, open } = create(10_000);
    for (let count = 0; count < 5000; count += 1) queue.add(eventOf(40000, `refused ${count}`));
    let kept = 0;
    for (let count = 0; count < 2000; count += 1) if (queue.add(eventOf(40017, "x".repeat(65_000)))) kept += 1;
    expect(kept).toBeLessThanOrEqual(16_777_216 / 65_000);
    open();
    await queue.drain();
  });
});
