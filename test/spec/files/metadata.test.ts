import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { recordedBody } from "../../support/bodies.ts";
import { BROWSER_HEADERS, type FormEntry, sendForm, sendFormForJson, uploadsOf } from "../../support/forms.ts";
import { createTestService, type TestServiceOptions } from "../../support/service.ts";

const LABELS = 'project=a, "project=b, c",owner=x';
const PARSED = { project: ["a", "b, c"], owner: ["x"] };

async function createTold(options: TestServiceOptions = {}) {
  const events: FileEvent[] = [];
  const test = await createTestService({
    metadataFields: "X-Labels",
    onEvent: (event) => events.push(event),
    ...options,
  });
  /** What the upload events say, in their order. */
  const told = () =>
    events.flatMap((event) =>
      event.id === 40021 || event.id === 40017 || event.id === 40022 ? [[event.id, event.data.metadata]] : [],
    );
  return { ...test, told, events };
}

describe("metadata of PUT /home/<path>", () => {
  it("is attached to events 40021 and 40017 (4.4, rule 5)", async () => {
    const { call, told, stored } = await createTold();
    const answer = await call("PUT", "/home/a.txt", { body: "x", headers: { "x-labels": LABELS } });
    expect([answer.status, await stored("/alice/a.txt")]).toEqual([201, "x"]);
    expect(told()).toEqual([
      [40021, PARSED],
      [40017, PARSED],
    ]);
  });

  it("is attached to event 40022 (4.4, rule 5)", async () => {
    const { call, told } = await createTold();
    const headers = { "x-labels": LABELS, "if-match": '"nothing"' };
    expect((await call("PUT", "/home/a.txt", { body: "x", headers })).status).toBe(412);
    expect(told()).toEqual([
      [40021, PARSED],
      [40022, PARSED],
    ]);
  });

  it("is nothing where none is configured, and where none came", async () => {
    const plain = await createTold();
    await plain.call("PUT", "/home/a.txt", { body: "x" });
    expect(plain.told()).toEqual([
      [40021, undefined],
      [40017, undefined],
    ]);
    const events: FileEvent[] = [];
    const { call } = await createTestService({ onEvent: (event) => events.push(event) });
    await call("PUT", "/home/a.txt", { body: "x", headers: { "x-labels": "nonsense" } });
    expect(events.map(({ id }) => id)).toEqual([40007, 40021, 40017]);
    expect(events.every(({ data }) => !("metadata" in data))).toBe(true);
  });

  it.each<[string, string, Record<string, string>]>([
    ["a required header that is missing", "X-Labels required", {}],
    ["a required key that is missing", "X-Labels\nproject required", { "x-labels": "owner=x" }],
    ["an unexpected key", "X-Labels\nproject optional", { "x-labels": "owner=x" }],
    ["an item without equals sign", "X-Labels", { "x-labels": "project" }],
  ])("refuses %s with 400, the body untouched (CONTRACT 5)", async (_name, metadataFields, headers) => {
    const { call, stored, told, events } = await createTold({ metadataFields, files: { "/alice/a.txt": "old" } });
    const body = recordedBody("new");
    const answer = await call("PUT", "/home/a.txt", { body: body.stream, headers, variant: "json" });
    expect([answer.status, body.pulls(), await stored("/alice/a.txt")]).toEqual([400, 0, "old"]);
    expect(answer.json()).toEqual({ errors: [{ message: expect.stringContaining("The header X-Labels") }] });
    expect(told()).toEqual([]);
    expect(events.map(({ id }) => id)).toEqual([40007, 40019]);
  });
});

describe("metadata of a form's files", () => {
  const ACTION: FormEntry = ["action", "upload-file"];
  const files = uploadsOf({ "a.txt": "1", "b.txt": "2" });

  it.each<[string, readonly FormEntry[]]>([
    ["behind the action", [ACTION, ...files]],
    ["before it", [...files, ACTION]],
  ])("is that of the form, for each of them: %s (CONTRACT 5)", async (_name, entries) => {
    const test = await createTold();
    expect((await sendForm(test, "/home/", entries, { headers: { "x-labels": LABELS } })).status).toBe(303);
    const told = test.told();
    expect(told.map(([id]) => id).sort()).toEqual([40017, 40017, 40021, 40021]);
    expect(told.every(([, metadata]) => JSON.stringify(metadata) === JSON.stringify(PARSED))).toBe(true);
  });

  it("refuses a form with files whose header is missing with 400, and stores none of them", async () => {
    const test = await createTold({ metadataFields: "X-Labels required" });
    for (const entries of [
      [ACTION, ...files],
      [...files, ACTION],
    ]) {
      const answer = await sendFormForJson(test, "/home/", entries);
      expect([answer.status, answer.json()]).toEqual([
        400,
        { errors: [{ message: "The header X-Labels is missing." }] },
      ]);
    }
    expect([await test.stored("/alice/a.txt"), await test.stored("/alice/b.txt")]).toEqual([undefined, undefined]);
    expect(test.told()).toEqual([]);
  });

  it("refuses a header that cannot be read before the form is", async () => {
    const { call } = await createTold();
    const body = recordedBody("--x");
    const headers = { ...BROWSER_HEADERS, "x-labels": "nonsense" };
    expect((await call("POST", "/home/", { body: body.stream, headers })).status).toBe(400);
    expect(body.pulls()).toBe(0);
  });

  it("needs none for what is no upload", async () => {
    const test = await createTold({ metadataFields: "X-Labels required" });
    const entries: FormEntry[] = [
      ["action", "create-folder"],
      ["new-folder", "made"],
      ["upload-file", "", ""],
    ];
    expect((await sendForm(test, "/home/", entries)).status).toBe(303);
  });
});

describe("the option metadataFields", () => {
  it.each([["X Labels"], [{ header: "X-Labels", keys: "a" }], [7]])(
    "is checked when the service is made: %j",
    async (metadataFields) => {
      await expect(createTestService({ metadataFields: metadataFields as string })).rejects.toThrow(
        "The option metadataFields must",
      );
    },
  );
});
