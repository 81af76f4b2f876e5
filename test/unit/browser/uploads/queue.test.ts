import { describe, expect, it } from "vitest";
import { createUploadQueue } from "../../../../src/browser/uploads/queue.ts";
import type { UploadTask } from "../../../../src/browser/uploads/queue-entries.ts";

/** A queue, and what its tasks are asked to do. Sent files never end. */
function open() {
  const done: string[] = [];
  const nothing = (): undefined => undefined;
  const queue = createUploadQueue({ onChange: nothing, onNote: nothing, onFailure: nothing, onIdle: nothing });

  function toTask(name: string, size: number, modified: number): UploadTask {
    return {
      ...{ name, size, conflict: undefined },
      key: `${name} ${size} ${modified}`,
      send() {
        done.push(`send ${name}`);
        return { finished: new Promise(nothing), abort: () => void done.push(`abort ${name}`) };
      },
      rename: nothing,
      discard: () => void done.push(`discard ${name}`),
    };
  }

  return { queue, done, toTask };
}

describe("a file that is added while its upload has not ended", () => {
  it("is not uploaded a second time: both would be one upload of the service", () => {
    const { queue, done, toTask } = open();
    queue.add([toTask("a", 5, 1)]);
    queue.add([toTask("a", 5, 1), toTask("b", 5, 1)]);
    expect([...queue.all].map(({ name }) => name)).toEqual(["a", "b"]);
    expect(done).toEqual(["send a", "send b"]);
  });

  it("is uploaded if it is another file with this name, or the upload has ended", () => {
    const { queue, done, toTask } = open();
    queue.add([toTask("a", 5, 1)]);
    queue.add([toTask("a", 6, 1), toTask("a", 5, 2)]);
    expect(queue.all.size).toBe(3);
    queue.cancel([...queue.all].slice(0, 1));
    queue.add([toTask("a", 5, 1)]);
    expect(queue.all.size).toBe(4);
    expect(done).toEqual(["send a", "send a", "send a", "abort a", "discard a", "send a"]);
  });
});
