import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createTestService } from "../../support/service.ts";

describe("service.events()", () => {
  it("gives each reader the events from now on, in order", async () => {
    const { service, call } = await createTestService({ files: { "/alice/a.txt": "hello" } });
    await call("GET", "/home/a.txt");
    const [one, other] = [service.events(), service.events()];
    await call("GET", "/home/a.txt");
    await call("DELETE", "/home/a.txt");
    for (const stream of [one, other]) {
      const ids: number[] = [];
      for await (const { id } of stream) {
        ids.push(id);
        if (id === 40012) break;
      }
      expect(ids).toEqual([40004, 40039, 40012]);
      expect(stream.dropped()).toEqual({});
    }
  });

  it("holds at most its capacity, and counts the dropped events", async () => {
    const { service, call } = await createTestService({ files: { "/alice/a.txt": "hello" } });
    const stream = service.events({ capacity: 4 });
    for (let round = 0; round < 3; round += 1) await call("GET", "/home/a.txt");
    expect(stream.dropped()).toEqual({ 40004: 1, 40039: 2 } satisfies Partial<Record<FileEvent["id"], number>>);
    await service.close();
    const ids: number[] = [];
    for await (const { id } of stream) ids.push(id);
    expect(ids).toEqual([40007, 40004, 40039, 40004]);
  });

  it("ends when the reader leaves or the service is closed, also for a pending read", async () => {
    const { service, call } = await createTestService({ files: { "/alice/a.txt": "hello" } });
    const left = service.events();
    await left.return();
    await call("GET", "/home/a.txt");
    expect(await left.next()).toEqual({ done: true, value: undefined });
    const waiting = service.events().next();
    await service.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it.each([0, -1, 1.5, Number.NaN])("rejects the capacity %s", async (capacity) => {
    const { service } = await createTestService();
    expect(() => service.events({ capacity })).toThrow("The option capacity must be a whole number, 1 or more.");
  });
});
