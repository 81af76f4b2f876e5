import { describe, expect, it } from "vitest";
import { createAccountResolver } from "../../../src/account/account.ts";
import { withHostIdentity } from "../../../src/auth/host-identity.ts";
import type { Identifier } from "../../../src/auth/identify.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { Identity } from "../../../src/contracts/identity.ts";

const request = new Request("http://files.example/home/");
const own: Identifier = {
  identify: async () => ({ outcome: "anonymous" }),
  identifySession: async () => ({ outcome: "anonymous" }),
  authenticate: () => Promise.reject(new Error("not asked")),
};

/** An identifier whose users come from a list, each with its connection. Returns whether the login is a new one. */
function create(clock = () => 0) {
  let identity: Identity = { username: "" };
  const identifier = withHostIdentity(own, {
    identify: () => identity,
    resolve: createAccountResolver(new Map()),
    check: (settings) => settings,
    component: { uuid: "component" },
    clock,
  });
  return async (username: string, port: number, settings: AccountSettings = {}): Promise<boolean> => {
    identity = { username, settings };
    const connection: Connection = { peer: { address: "192.0.2.1", port, family: "IPv4", protocol: "TCP" } };
    const identification = await identifier.identify(request, connection);
    if (identification.outcome !== "identified") throw new Error("not identified");
    return identification.remember?.() ?? false;
  };
}

describe("an identity of the host", () => {
  it("logs in once for a connection, and account", async () => {
    const isNew = create();
    expect(await isNew("ann", 1)).toBe(true);
    expect(await isNew("ben", 1)).toBe(true);
    expect([await isNew("ann", 1), await isNew("ben", 1), await isNew("ann", 2)]).toEqual([false, false, true]);
  });

  it("logs in once for each of its settings, also if these change with every request of a connection", async () => {
    const isNew = create();
    const settings = [{ email: "a@example.org" }, { email: "b@example.org" }];
    expect([await isNew("ann", 1, settings[0]), await isNew("ann", 1, settings[1])]).toEqual([true, true]);
    expect([await isNew("ann", 1, settings[0]), await isNew("ann", 1, settings[1])]).toEqual([false, false]);
  });

  it("logs in again an hour later, once, as a port may be unknown or used again", async () => {
    let now = 0;
    const isNew = create(() => now);
    expect(await isNew("ann", 0)).toBe(true);
    now += 3_599_999;
    expect(await isNew("ann", 0)).toBe(false);
    now += 1;
    expect([await isNew("ann", 0), await isNew("ann", 0)]).toEqual([true, false]);
  });

  it("is forgotten after 10,000 other connections, whoever they are, so memory is bounded", async () => {
    const isNew = create();
    await isNew("ann", 1);
    for (let index = 0; index < 10_000; index += 1) await isNew(`user${index % 500}`, 1000 + index);
    expect(await isNew("user499", 10_999)).toBe(false);
    expect(await isNew("ann", 1)).toBe(true);
  });
});
