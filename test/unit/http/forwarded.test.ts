import { describe, expect, it } from "vitest";
import { readForwardedClient } from "../../../src/http/forwarded.ts";

const ipv4 = (address: string, port = 0) => ({ address, port, family: "IPv4" });
const ipv6 = (address: string, port = 0) => ({ address, port, family: "IPv6" });

function read(name: string, value: string) {
  return readForwardedClient(new Headers({ [name]: value }), name);
}

describe("the client in X-Forwarded-For", () => {
  it.each([
    ["192.0.2.7", ipv4("192.0.2.7")],
    ["192.0.2.7:4711", ipv4("192.0.2.7", 4711)],
    ["192.0.2.7, 10.0.0.1, 10.0.0.2", ipv4("192.0.2.7")],
    [" 192.0.2.7 ,10.0.0.1", ipv4("192.0.2.7")],
    ["2001:db8::1", ipv6("2001:db8::1")],
    ["[2001:db8::1]", ipv6("2001:db8::1")],
    ["[2001:db8::1]:443", ipv6("2001:db8::1", 443)],
    ["2001:DB8:0:0:0:0:0:1", ipv6("2001:db8::1")],
    ["::1", ipv6("::1")],
    ["::ffff:192.0.2.7", ipv4("192.0.2.7")],
    ["::FFFF:192.168.100.70", ipv4("192.168.100.70")],
    ["1::ffff:192.0.2.7", ipv6("1::ffff:c000:207")],
  ])("%j is %j (CONTRACT 6.7)", (value, client) => {
    expect(read("X-Forwarded-For", value)).toEqual(client);
  });

  it.each([
    "",
    ",10.0.0.1",
    "unknown",
    "client.example",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.07",
    "192.0.2.7:",
    "192.0.2.7:65536",
    "192.0.2.7:x",
    "192.0.2.7 10.0.0.1",
    "[192.0.2.7]",
    "[2001:db8::1",
    "2001:db8::1]:443",
    "[2001:db8::1]443",
    "2001:db8:::1",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:8:9",
    "::ffff:192.0.2.999",
    "::ffff:192.0.2.7x",
    "::1]/[::2",
    `${"1".repeat(100_000)}`,
  ])("is none where the first entry is %j", (value) => {
    expect(read("X-Forwarded-For", value)).toBeUndefined();
  });
});

describe("the client in Forwarded (RFC 7239)", () => {
  it.each([
    ["for=192.0.2.60", ipv4("192.0.2.60")],
    ["For=192.0.2.60;proto=http;by=203.0.113.43", ipv4("192.0.2.60")],
    ["proto=https ; for=192.0.2.60, for=10.0.0.1", ipv4("192.0.2.60")],
    ['for="192.0.2.60:4711"', ipv4("192.0.2.60", 4711)],
    ['for="[2001:db8:cafe::17]:4711"', ipv6("2001:db8:cafe::17", 4711)],
    ['for="[2001:db8:cafe::17]:_hidden"', ipv6("2001:db8:cafe::17")],
    ['by="a;b,c\\"";for=192.0.2.60', ipv4("192.0.2.60")],
    ['for="192.0.2\\.60"', ipv4("192.0.2.60")],
  ])("%j is %j (CONTRACT 6.7)", (value, client) => {
    expect(read("Forwarded", value)).toEqual(client);
    expect(read("forwarded", value)).toEqual(client);
  });

  it.each([
    "",
    "192.0.2.60",
    "for=",
    "for=unknown",
    "for=_secret",
    "for=192.0.2.60:4711",
    'for="[2001:db8::1"',
    'for="192.0.2.60',
    "proto=https, for=192.0.2.60",
    "for=192.0.2.60;for=10.0.0.1",
    "for=192.0.2.60 10.0.0.1",
    `for="${"\\a".repeat(50_000)}`,
  ])("is none in %j", (value) => {
    expect(read("Forwarded", value)).toBeUndefined();
  });
});

it("is none without the header", () => {
  expect(readForwardedClient(new Headers({ "X-Forwarded-For": "192.0.2.7" }), "X-Real-IP")).toBeUndefined();
});

it("is the address in any other header that is named", () => {
  expect(read("X-Real-IP", "192.0.2.7")).toEqual(ipv4("192.0.2.7"));
});
