import { describe, expect, it } from "vitest";
import { isInNetworks, parseNetwork, toNetwork } from "../../../src/http/ip-network.ts";

describe("the network that limits count an address by", () => {
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
    ["::192.0.2.1", "0:0:0:0::/64"],
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

describe("a list of networks", () => {
  const isIn = (address: string, ...networks: string[]) =>
    isInNetworks(
      address,
      networks.flatMap((text) => parseNetwork(text) ?? []),
    );

  it.each([
    ["10.1.2.3", "10.0.0.0/8"],
    ["10.255.255.255", "10.1.2.3/8"],
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1", "192.0.2.1/32"],
    ["203.0.113.9", "0.0.0.0/0"],
    ["::ffff:10.1.2.3", "10.0.0.0/8"],
    ["10.1.2.3", "::ffff:10.1.2.3"],
    ["2001:db8:0::1", "2001:DB8::1"],
    ["2001:db8:ffff::1", "2001:db8::/32"],
    ["fd00::1", "fc00::/7"],
    ["::1", "::/0"],
    ["fe80::1%eth0", "fe80::/10"],
    ["fe80::1%eth0", "fe80::1"],
  ])("has %s in %s", (address, network) => {
    expect(isIn(address, "198.51.100.0/24", network)).toBe(true);
  });

  it.each([
    ["11.0.0.0", "10.0.0.0/8"],
    ["192.0.2.2", "192.0.2.1"],
    ["10.1.2.3", "::/0"],
    ["::1", "0.0.0.0/0"],
    ["::10.1.2.3", "10.0.0.0/8"],
    ["2001:db9::1", "2001:db8::/32"],
    ["fe80::1%eth0", "fe80::2"],
    ["/run/socket", "0.0.0.0/0"],
    ["", "0.0.0.0/0"],
  ])("does not have %j in %s", (address, network) => {
    expect(isIn(address, network)).toBe(false);
  });

  it.each([
    "",
    "/8",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "10/8",
    "10.0.0",
    "::/129",
    "::ffff:10.0.0.0/104",
    "localhost",
    "10.0.0.0/8 ",
  ])("cannot have the entry %j", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });
});
