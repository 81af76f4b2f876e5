import { expect, it } from "vitest";
import type { WorkerMessage } from "../../../src/cli/workers/messages.ts";
import { createEventPassage } from "../../../src/cli/workers/worker.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createRecordingLogger } from "../../support/logger.ts";

const eventOf = (id: number, name: string, uuid?: string): FileEvent =>
  ({ id, data: { name }, ...(uuid !== undefined && { account: { uuid } }) }) as unknown as FileEvent;

it("a worker whose channel is full keeps the events of an account beside thousands of another, and of refusals", async () => {
  const logger = createRecordingLogger();
  const sent: FileEvent[] = [];
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const passage = createEventPassage(logger, async (message: WorkerMessage) => {
    if (message.type === "events") sent.push(...message.events);
    await gate;
  });
  passage.onEvent(eventOf(40017, "first"));
  await expect.poll(() => sent).toHaveLength(1);
  for (let count = 0; count < 2000; count += 1) passage.onEvent(eventOf(40000, "refused"));
  for (let count = 0; count < 12_000; count += 1) passage.onEvent(eventOf(40022, "noise", "mallory"));
  for (let count = 0; count < 100; count += 1) passage.onEvent(eventOf(40017, `${count}`, "bob"));
  expect(logger.entries).toEqual([
    expect.objectContaining({ level: "warn", message: "Events are dropped because too many earlier events wait." }),
  ]);
  open();
  await passage.drain();
  const count = (uuid: string): number => sent.filter(({ account }) => account?.uuid === uuid).length;
  expect([sent.length - 1, count("mallory"), count("bob")]).toEqual([10_000, 9900, 100]);
});
