import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FileEvent } from "../../src/contracts/events/file-event.ts";
import { createClamdGuard } from "../../src/uploads/clamd-guard-node.ts";
import { streamOf } from "../support/bodies.ts";
import { clamdNote, EICAR, hasClamd, startClamd, type TestClamd } from "../support/clamd.ts";
import { sendFormForJson, uploadsOf } from "../support/forms.ts";
import { createTestService } from "../support/service.ts";

describe.skipIf(!hasClamd)(`with a real clamd${clamdNote}`, () => {
  let clamd: TestClamd;

  beforeAll(async () => {
    clamd = await startClamd();
  }, 60_000);

  afterAll(() => clamd?.stop());

  async function createScanned(options: { onTooLarge?: "refuse" | "pass"; maxBytes?: number } = {}) {
    const events: FileEvent[] = [];
    const test = await createTestService({
      beforeCommit: createClamdGuard({ clamd: clamd.path, ...options }),
      onEvent: (event) => events.push(event),
      files: { "/alice/a.txt": "old" },
    });
    const put = (body: string | ReadableStream<Uint8Array>, path = "/home/a.txt") =>
      test.call("PUT", path, { body, variant: "json" });
    return { ...test, put, last: () => events.at(-1) };
  }

  it("a clean file is stored, whatever its size", async () => {
    const { put, stored, last } = await createScanned();
    for (const body of ["clean", "", "x".repeat(1_000_000)]) {
      expect((await put(body)).status).toBe(201);
      expect(await stored("/alice/a.txt")).toBe(body);
      expect(last()).toMatchObject({ id: 40017, data: { scan: "clean" } });
    }
  });

  it("a virus is refused by its name, also in pieces, in a form and in German", async () => {
    const { put, stored, call, ...test } = await createScanned();
    const message = "The file has a virus: Test.Eicar.UNOFFICIAL.";
    const pieces = streamOf(`${"x".repeat(70_000)}${EICAR.slice(0, 30)}`, `${EICAR.slice(30)}${"y".repeat(70_000)}`);
    for (const body of [EICAR, pieces]) {
      const refused = await put(body);
      expect([refused.status, refused.json()]).toEqual([422, { errors: [{ message }] }]);
      expect(refused.header("error-code")).toBe("upload-infected");
    }
    expect(await stored("/alice/a.txt")).toBe("old");
    const form = await sendFormForJson({ ...test, call, stored }, "/home/", [
      ["action", "upload-file"],
      ...uploadsOf({ "bad.com": EICAR, "good.txt": "good" }),
    ]);
    expect(form.json()).toEqual({
      errors: [
        { target: "bad.com", message },
        { target: "good.txt", message: null },
      ],
    });
    expect([await stored("/alice/bad.com"), await stored("/alice/good.txt")]).toEqual([undefined, "good"]);
  });

  it("what is larger than clamd takes is refused, or passes unscanned", async () => {
    const large = "x".repeat(3_000_000);
    const strict = await createScanned();
    const refused = await strict.put(large);
    expect([refused.status, refused.header("error-code")]).toEqual([413, "scan-too-large"]);
    expect(await strict.stored("/alice/a.txt")).toBe("old");
    const lax = await createScanned({ onTooLarge: "pass" });
    expect((await lax.put(large)).status).toBe(201);
    expect(lax.last()).toMatchObject({ id: 40017, data: { scan: "skipped" } });
    const own = await createScanned({ onTooLarge: "pass", maxBytes: 10 });
    expect((await own.put(`${EICAR}${"x".repeat(100)}`)).status).toBe(201);
    expect(own.last()).toMatchObject({ id: 40017, data: { scan: "skipped" } });
  });

  it("many uploads are scanned at the same time", async () => {
    const { put, stored } = await createScanned();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => (await put(index % 2 ? EICAR : "ok", `/home/${index}`)).status),
    );
    expect(statuses).toEqual(Array.from({ length: 20 }, (_, index) => (index % 2 ? 422 : 201)));
    expect([await stored("/alice/0"), await stored("/alice/1")]).toEqual(["ok", undefined]);
  });

  it("a resumable upload is scanned when it is complete", async () => {
    const { call, stored, last } = await createScanned();
    const created = await call("PUT", "/home/b", { headers: { "upload-complete": "?0" }, body: EICAR.slice(0, 20) });
    const url = created.header("location") ?? "";
    const append = {
      "content-type": "application/partial-upload",
      "upload-offset": "20",
      "upload-complete": "?1",
    };
    const refused = await call("PATCH", url, { headers: append, body: EICAR.slice(20), variant: "json" });
    expect([refused.status, refused.header("error-code")]).toEqual([422, "upload-infected"]);
    expect(await stored("/alice/b")).toBeUndefined();
    expect(last()).toMatchObject({ id: 40022 });
  });
});
