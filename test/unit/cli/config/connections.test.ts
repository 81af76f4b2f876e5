import { describe, expect, it } from "vitest";
import { connectionsSchema, toConnectionSettings } from "../../../../src/cli/config/connections.ts";
import { toServerLimits } from "../../../../src/runtimes/node/server-limits.ts";

describe("the configuration's connections", () => {
  it("are the options of the server", () => {
    const connections = {
      max: 1,
      maxPerAddress: 2,
      maxHeaderBytes: 4096,
      headersSeconds: 0.5,
      idleSeconds: 0,
      minBytesPerSecond: 3,
      paceSeconds: 4,
      deadlineSeconds: 5,
    };
    expect(toConnectionSettings(connections)).toEqual({
      limits: {
        maxConnections: 1,
        maxConnectionsPerAddress: 2,
        maxHeaderBytes: 4096,
        headersSeconds: 0.5,
        idleSeconds: 0,
        minBytesPerSecond: 3,
        throughputWindowSeconds: 4,
      },
      deadlineSeconds: 5,
    });
  });

  it("limit those of one address by default, and leave the rest to the server", () => {
    expect(toConnectionSettings()).toEqual({ limits: { maxConnectionsPerAddress: 1024 } });
    expect(toConnectionSettings({ maxPerAddress: 0 })).toEqual({ limits: { maxConnectionsPerAddress: 0 } });
  });

  it.each([{ publicOrigin: "https://files.example" }, { clientForwardedHeader: "X-Forwarded-For" }])(
    "have no default for an address behind a proxy: %j",
    (proxied) => {
      expect(toConnectionSettings(undefined, proxied)).toEqual({ limits: {} });
      const given = { maxPerAddress: 5 };
      expect(toConnectionSettings(given, proxied)).toEqual({ limits: { maxConnectionsPerAddress: 5 } });
    },
  );

  it("have the default where the keys of a proxy are empty", () => {
    const direct = { publicOrigin: "", clientForwardedHeader: "" };
    expect(toConnectionSettings(undefined, direct)).toEqual({ limits: { maxConnectionsPerAddress: 1024 } });
  });

  it.each([
    { headersSeconds: 86_400, idleSeconds: 86_400, paceSeconds: 86_400, maxHeaderBytes: 1_048_576 },
    { headersSeconds: 0.0001, idleSeconds: 0.0001, paceSeconds: 1, maxHeaderBytes: 1024, minBytesPerSecond: 0 },
  ])("have no value that the server refuses: %j", (connections) => {
    const { limits = {} } = toConnectionSettings(connectionsSchema.parse(connections));
    expect(() => toServerLimits(limits)).not.toThrow();
  });
});
