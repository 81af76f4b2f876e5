import { describe, expect, it } from "vitest";
import { maskLinkTokens } from "../../../src/sharing/link-tokens.ts";
import { startProcessorTime } from "../../support/processor-time.ts";

const TOKEN = `0123abcd.${"-_Ab".repeat(4)}.${"x".repeat(80)}.${"Zz".repeat(10)}_A`;
const ENCODED = [...TOKEN].map((each) => `%${each.charCodeAt(0).toString(16)}`).join("");

describe("maskLinkTokens (SHARING 9.3)", () => {
  it.each([
    ["a file of a link", `/__svc__/share/${TOKEN}/a.csv`, "/__svc__/share/*/a.csv"],
    ["a link without its slash", `/__svc__/share/${TOKEN}`, "/__svc__/share/*"],
    ["a base path", `/files/x/__svc__/share/${TOKEN}/a/b`, "/files/x/__svc__/share/*/a/b"],
    ["a whole URL", `https://files.example/__svc__/share/${TOKEN}/?zip`, "https://files.example/__svc__/share/*/?zip"],
    ["a token that is none", "/__svc__/share/mistyped/a.csv", "/__svc__/share/*/a.csv"],
    ["an encoded token", `/__svc__/share/${ENCODED}/a.csv`, "/__svc__/share/*/a.csv"],
    ["an encoded name", `/__svc__/%73hare/${TOKEN}/a.csv`, "/__svc__/%73hare/*/a.csv"],
    ["names in other case", `/__SVC__/Share/${TOKEN}/`, "/__SVC__/Share/*/"],
    ["encoded slashes", `/__svc__%2Fshare%2f${TOKEN}%2Fa.csv`, "/__svc__%2Fshare%2f*%2Fa.csv"],
    ["slashes encoded twice", `%252F__svc__%252Fshare%252F${TOKEN}`, "%252F__svc__%252Fshare%252F*"],
    ["repeated slashes", `//__svc__//share//${TOKEN}/a`, "//__svc__//share//*/a"],
    ["backslashes", `/__svc__\\share\\${TOKEN}\\a`, "/__svc__\\share\\*\\a"],
    ["a mistyped URL", `/__svc__/shares/${TOKEN}/a`, "/__svc__/shares/*/a"],
    ["dots between", `/__svc__/./share/${TOKEN}`, "/__svc__/./share/*"],
  ])("removes the token of %s", (_case, path, masked) => {
    expect(maskLinkTokens(path)).toBe(masked);
  });

  it.each([
    "/home/a.csv",
    "/home/share/a.csv",
    "/__svc__/share",
    "/__svc__/share/",
    "/home/__svc__/uploads/0123456789abcdef",
    "/home/%FF%zz%41",
    "*",
    "",
  ])("leaves %s as it is", (path) => {
    expect(maskLinkTokens(path)).toBe(path);
  });

  it("takes no longer than linear time", () => {
    const elapsed = startProcessorTime();
    for (const part of ["%25", "%2525", "/__svc__", "/share", "0123abcd.", "%2f%5c"]) {
      maskLinkTokens(part.repeat(20_000));
    }
    expect(elapsed()).toBeLessThan(2000);
  });
});
