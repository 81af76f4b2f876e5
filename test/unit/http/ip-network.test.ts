import { describe, expect, it } from "vitest";
import { toNetwork } from "../../../src/http/ip-network.ts";

describe("what failed logins are counted by of an address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002:0000:0000:0000:0001", "2001:db8:1:2::/64"],
    ["2001:db8::6", "2001:db8:0:0::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4::/64"],
    ["1::ffff:192.0.2.1", "1:0:0:0::/64"],
    ["::ffff:0:192.0.2.1", "0:0:0:0::/64"],
    ["64:ff9b:1::192.0.2.1", "64:ff9b:1:0::/64"],
    ["64:1::192.0.2.1", "64:1:0:0::/64"],
    ["1:ff9b::192.0.2.1", "1:ff9b:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0:0:0:0:1%eth0"],
    ["FE80:0::2%eth0", "fe80:0:0:0:0:0:0:2%eth0"],
    ["fe80::2%wlan0", "fe80:0:0:0:0:0:0:2%wlan0"],
    ["febf::1", "febf:0:0:0:0:0:0:1"],
    ["fec0::1", "fec0:0:0:0::/64"],
    ["fe7f::1%eth0", "fe7f:0:0:0::/64"],
  ])("%s is %s", (address, network) => {
    expect(toNetwork(address)).toBe(network);
  });

  it.each([
    "::ffff:192.0.2.1",
    "::FFFF:c000:201",
    "0:0:0:0:0:ffff:c000:0201",
    "64:ff9b::192.0.2.1",
    "64:ff9b::c000:201",
  ])("%s is the IPv4 address that it stands for", (address) => {
    expect(toNetwork(address)).toBe("192.0.2.1");
  });

  it.each(["::1]/[::2", "::1]/x", "x]/::1"])("%j is no address, though a part of it is one", (address) => {
    expect(toNetwork(address)).toBe(address);
  });

  it.each(["", ":", ":::", "1:2", "2001:db8::1::2", "/run/socket:1", "::ffff:300.0.0.1", "x".repeat(1000), "::%"])(
    "%j is no address, or stays what it is",
    (address) => {
      expect([address, "0:0:0:0::/64"]).toContain(toNetwork(address));
    },
  );
});
