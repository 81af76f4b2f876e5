import { expect, it } from "vitest";
import { createFormFiles } from "../../../src/uploads/form-files.ts";
import { UNCOUNTED } from "../../support/forms.ts";

it("lets others have their turn among a thousand files that come, and are stored, without any wait", async () => {
  const files = createFormFiles({ write: async () => undefined, permits: UNCOUNTED, signal: undefined });
  await files.decide(true);
  let turns = 0;
  let isOver = false;
  const tick = (): void => {
    turns += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1);
  }
  for (let count = 0; count < 1000; count++) {
    await files.receive({ name: "upload-file", filename: `file-${count}`, body: body() });
  }
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(9);
  expect(files.outcomes()).toHaveLength(1000);
});
