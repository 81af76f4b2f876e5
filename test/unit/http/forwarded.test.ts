import { describe, expect, it } from "vitest";
import { readForwardedClient } from "../../../src/http/forwarded.ts";
import { parseNetwork } from "../../../src/http/ip-network.ts";

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
    ["::ffff:c000:207", ipv4("192.0.2.7")],
    ["[::ffff:192.0.2.7]:80", ipv4("192.0.2.7", 80)],
    ["192.0.2.7, unknown", ipv4("192.0.2.7")],
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
    "[::ffff:192.0.2.7]x",
    "\u00a0192.0.2.7",
    "192.0.2.7\u00a0",
  ])("is none if the first entry is %j", (value) => {
    expect(read("X-Forwarded-For", value)).toBeUndefined();
  });

  it("is none if the first entry is very long", () => {
    expect(read("X-Forwarded-For", "1".repeat(100_000))).toBeUndefined();
    expect(read("X-Forwarded-For", `[${":".repeat(100_000)}`)).toBeUndefined();
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
    ["for=192.0.2.60, for", ipv4("192.0.2.60")],
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
  ])("is none in %j", (value) => {
    expect(read("Forwarded", value)).toBeUndefined();
  });

  it("is none in a long text without its closing quotation mark", () => {
    expect(read("Forwarded", `for="${"\\a".repeat(50_000)}`)).toBeUndefined();
  });
});

describe("the client after trusted proxies", () => {
  const proxies = ["10.0.0.0/8", "2001:db8:ff::/48", "192.0.2.200"].map(
    (text) => parseNetwork(text) ?? expect.fail(text),
  );
  const find = (name: string, value: string) => readForwardedClient(new Headers({ [name]: value }), name, proxies);

  it.each([
    ["203.0.113.9", ipv4("203.0.113.9")],
    ["203.0.113.9:4711", ipv4("203.0.113.9", 4711)],
    ["203.0.113.9, 10.0.0.1", ipv4("203.0.113.9")],
    ["203.0.113.9, 10.0.0.1, 2001:db8:ff::1, 192.0.2.200", ipv4("203.0.113.9")],
    ["198.51.100.1, 203.0.113.9, 10.0.0.1", ipv4("203.0.113.9")],
    ["10.0.0.7, 203.0.113.9", ipv4("203.0.113.9")],
    ["2001:db8::9, ::ffff:10.0.0.1", ipv6("2001:db8::9")],
    ["unknown, 203.0.113.9", ipv4("203.0.113.9")],
    ["unknown, 203.0.113.9, 10.0.0.1", ipv4("203.0.113.9")],
  ])("in X-Forwarded-For: %s is the last entry that is none of them: %j", (value, client) => {
    expect(find("X-Forwarded-For", value)).toEqual(client);
  });

  it.each([
    ["10.0.0.1", ipv4("10.0.0.1")],
    ["10.0.0.2, 10.0.0.1", ipv4("10.0.0.2")],
    ["unknown, 10.0.0.1", ipv4("10.0.0.1")],
    ["203.0.113.9, unknown, 10.0.0.1", ipv4("10.0.0.1")],
    [", 10.0.0.1", ipv4("10.0.0.1")],
  ])("in X-Forwarded-For: %s is a proxy, if no other address is sure: %j", (value, client) => {
    expect(find("X-Forwarded-For", value)).toEqual(client);
  });

  it.each(["", "unknown", "203.0.113.9, unknown", "203.0.113.9, 10.0.0.1,"])(
    "is none in X-Forwarded-For: %j",
    (value) => {
      expect(find("X-Forwarded-For", value)).toBeUndefined();
    },
  );

  it.each([
    ["for=203.0.113.9", ipv4("203.0.113.9")],
    ['for=198.51.100.1, for="203.0.113.9:99";by=_x, for=10.0.0.1', ipv4("203.0.113.9", 99)],
    ["for=_hidden, for=10.0.0.1", ipv4("10.0.0.1")],
    ["proto=https, for=10.0.0.1", ipv4("10.0.0.1")],
    ["for=198.51.100.1;for=198.51.100.2, for=203.0.113.9", ipv4("203.0.113.9")],
  ])("in Forwarded: %s is %j", (value, client) => {
    expect(find("Forwarded", value)).toEqual(client);
  });

  it.each([
    'for=198.51.100.1;x=", for=203.0.113.9',
    'for=198.51.100.1;x=", for="[2001:db8::9]:80"',
    'x="\\, for="[2001:db8::9]"',
    "for=198.51.100.1;, for=203.0.113.9",
    "for=203.0.113.9,",
    "for=203.0.113.9, for=_hidden",
  ])("is none in Forwarded: %j: what a client breaks hides its address, and forges none", (value) => {
    expect(find("Forwarded", value)).toBeUndefined();
  });

  it("is found in a header of thousands of entries", () => {
    expect(find("X-Forwarded-For", `203.0.113.9${", 10.0.0.1".repeat(2000)}`)).toEqual(ipv4("203.0.113.9"));
    expect(find("Forwarded", `for=203.0.113.9${", for=10.0.0.1".repeat(1500)}`)).toEqual(ipv4("203.0.113.9"));
  });
});

it("is none without the header", () => {
  expect(readForwardedClient(new Headers({ "X-Forwarded-For": "192.0.2.7" }), "X-Real-IP")).toBeUndefined();
});

it("is the address in any other header that is named", () => {
  expect(read("X-Real-IP", "192.0.2.7")).toEqual(ipv4("192.0.2.7"));
});
