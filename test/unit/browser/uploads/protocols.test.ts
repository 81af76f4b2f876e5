import { afterEach, describe, expect, it, vi } from "vitest";
import { toJoinRequests } from "../../../../src/browser/uploads/protocols.ts";
import { createPatience, runUpload } from "../../../../src/browser/uploads/resuming.ts";

const SIZE = 70_000_000;
const PART = "/home/__svc__/uploads/1";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Joins parts against these responses to each request. Returns the status of the last one, and the requests. */
async function join(responses: Readonly<Record<string, readonly number[]>>, length = SIZE) {
  const sent: string[] = [];
  class FakeRequest {
    readonly upload = {};
    readonly responseText = "";
    status = 0;
    onloadend: () => void = () => undefined;
    #name = "";
    open(method: string, url: string) {
      this.#name = `${method} ${url}`;
    }
    setRequestHeader() {}
    getResponseHeader = (name: string) => (name === "Content-Length" ? `${length}` : null);
    abort() {}
    send() {
      sent.push(this.#name);
      const all = responses[this.#name] ?? [];
      this.status = all[sent.filter((name) => name === this.#name).length - 1] ?? all.at(-1) ?? 500;
      queueMicrotask(() => this.onloadend());
    }
  }
  vi.stubGlobal("XMLHttpRequest", FakeRequest);
  vi.stubGlobal("document", { querySelector: () => null, querySelectorAll: () => [] });
  const upload = { file: { size: SIZE } as File, path: ["disk.img"], mayReplace: false };
  const { status } = await runUpload(toJoinRequests(upload, [PART, `${PART}2`]), {
    url: undefined,
    patience: createPatience({ pause: async () => false, now: () => 0 }),
    signal: new AbortController().signal,
    onInterrupted: () => undefined,
  });
  return { status, sent };
}

const [POST, FILE] = ["POST ./disk.img", "HEAD ./disk.img"];
const HEAD_PART = `HEAD ${PART}`;

describe("the request that joins parts", () => {
  it.each([412, 400])(
    "has succeeded if it is refused again with %i, the parts are gone and the file is there",
    async (code) => {
      const { status, sent } = await join({ [POST]: [0, code], [HEAD_PART]: [404], [FILE]: [200] });
      expect(status).toBe(200);
      expect(sent).toEqual([POST, POST, HEAD_PART, FILE]);
    },
  );

  it.each([0, 502, 503, 504])(
    "is refused if the parts are still there after a %i: the file is another one",
    async (code) => {
      const { status, sent } = await join({ [POST]: [code, 412], [HEAD_PART]: [200], [FILE]: [200] });
      expect(status).toBe(412);
      expect(sent).toEqual([POST, POST, HEAD_PART]);
    },
  );

  it("is sent again until the service says whether the parts are still there", async () => {
    const { status } = await join({ [POST]: [0, 412], [HEAD_PART]: [0, 503, 404], [FILE]: [200] });
    expect(status).toBe(200);
  });

  it("is refused if the file has another size", async () => {
    expect((await join({ [POST]: [0, 412], [HEAD_PART]: [404], [FILE]: [200] }, 1)).status).toBe(412);
  });
});
