import { describe, expect, it } from "vitest";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createEmitter, type EventDraft } from "../../../src/events/emitter.ts";
import { cutName, cutPath } from "../../../src/events/refusals.ts";
import { createRecordingLogger } from "../../support/logger.ts";

const component = { uuid: "", type: "http" };

function login(address: string | undefined): EventDraft {
  const peer = address === undefined ? undefined : ({ address, port: 1, family: "IPv4", protocol: "TCP" } as const);
  return {
    id: 40000,
    component,
    account: { uuid: "a", name: "a", email: "", ...(peer && { peer }) },
    data: { credentials: { type: "password" }, verdicts: [], reason: "credentials" },
  };
}

function badRequest(address: string, account?: EventDraft["account"]): EventDraft {
  const peer = { address, port: 1, family: "IPv4", protocol: "TCP" } as const;
  const data = { method: "GET", path: "/x", details: "no", peer };
  return { id: 40019, component, data, ...(account && { account }) };
}

function create() {
  let now = 1_700_000_000_000;
  const events: FileEvent[] = [];
  const { emit } = createEmitter({
    listeners: new Set([(event: FileEvent) => void events.push(event)]),
    server: { uuid: "" },
    clock: () => now,
    logger: createRecordingLogger(),
  });
  return { emit, events, advance: (milliseconds: number) => (now += milliseconds) };
}

describe("events of refusals", () => {
  it("are at most 10 a second for a network; the next one has the number of the others", () => {
    const { emit, events, advance } = create();
    for (let count = 0; count < 600; count += 1) emit(count % 2 ? login("192.0.2.1") : badRequest("192.0.2.1"));
    expect(events).toHaveLength(10);
    expect(events.every(({ data }) => !("others" in data))).toBe(true);
    advance(1000);
    for (let count = 0; count < 2; count += 1) emit(login("192.0.2.1"));
    expect(events.slice(10).map(({ data }) => ("others" in data ? data.others : 0))).toEqual([590, 0]);
  });

  it("count for the first 64 bits of an IPv6 address, and for all unknown addresses together", () => {
    const { emit, events } = create();
    for (let count = 0; count < 50; count += 1) emit(login(`2001:db8::${count}`));
    expect(events).toHaveLength(10);
    for (let count = 0; count < 50; count += 1) emit(login(undefined));
    expect(events).toHaveLength(20);
    emit(login("2001:db8:0:1::1"));
    expect(events).toHaveLength(21);
  });

  it("limit no event of an account, nor one of a right password, nor one of another kind", () => {
    const { emit, events } = create();
    const account = { uuid: "a", name: "a", email: "" };
    for (let count = 0; count < 10; count += 1) emit(login("192.0.2.1"));
    for (const reason of ["account", "cross-site"] as const) {
      const { data, ...rest } = login("192.0.2.1") as Extract<EventDraft, { id: 40000 }>;
      emit({ ...rest, data: { ...data, reason } });
    }
    expect(events.splice(0)).toHaveLength(12);
    for (let count = 0; count < 20; count += 1) emit(badRequest("192.0.2.1", account));
    for (let count = 0; count < 20; count += 1)
      emit({ id: 40010, component, account, data: { path: "/a", real_path: "/a" } });
    expect(events).toHaveLength(40);
  });

  it("are at most 200 a second for all networks; the next one of any has the number of the others", () => {
    const { emit, events, advance } = create();
    for (let count = 0; count < 5000; count += 1) emit(login(`2001:db8:0:${count.toString(16)}::1`));
    expect(events.splice(0)).toHaveLength(200);
    for (let count = 0; count < 12; count += 1) emit(login("192.0.2.1"));
    expect(events).toHaveLength(0);
    advance(1000);
    for (let count = 0; count < 12; count += 1) emit(login("192.0.2.1"));
    expect(events.map(({ data }) => ("others" in data ? data.others : 0))).toEqual([4812, ...Array(9).fill(0)]);
    advance(1000);
    emit(login("192.0.2.1"));
    expect(events.at(-1)?.data).toMatchObject({ others: 2 });
  });

  it("hold memory for 10,000 networks at most", () => {
    const { emit, events, advance } = create();
    for (let count = 0; count < 12; count += 1) emit(login("192.0.2.1"));
    for (let count = 0; count < 10_000; count += 1) {
      if (count % 100 === 0) advance(1000);
      emit(login(`10.0.${count >> 8}.${count & 255}`));
    }
    emit(login("192.0.2.1"));
    // It was dropped, with the number of the others.
    expect(events).toHaveLength(10_011);
    expect(events.at(-1)?.data).not.toHaveProperty("others");
  });
});

describe("texts of clients in events", () => {
  it("are cut, but no character in half", () => {
    expect(cutName("n".repeat(255))).toHaveLength(255);
    expect(cutName("n".repeat(16_000))).toHaveLength(255);
    expect(cutName(`${"n".repeat(254)}\u{1f600}`)).toBe("n".repeat(254));
    expect(cutPath("p".repeat(1024))).toHaveLength(1024);
    expect(cutPath("p".repeat(16_000))).toHaveLength(1024);
  });
});
