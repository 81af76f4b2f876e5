import { encode } from "uqr";
import { describe, expect, it } from "vitest";
import { renderQrCode } from "../../../src/views/qr-code.ts";

/** The dark modules of a picture, as positions. */
function modulesOf(svg: string): ReadonlySet<string> {
  const [, path = ""] = /<path d="([^"]*)"/.exec(svg) ?? [];
  const runs = path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g);
  return new Set(
    [...runs].flatMap(([, x, y, length]) =>
      Array.from({ length: Number(length) }, (_, index) => `${Number(x) + index} ${y}`),
    ),
  );
}

describe("a QR code", () => {
  it.each([
    "https://files.example/__svc__/share/f2a81c0d.abc/",
    `https://files.example/__svc__/share/${"x".repeat(2000)}/`,
  ])("has the modules of its text, in a light frame of four", (url) => {
    const svg = String(renderQrCode(url, "Code"));
    const { data, size } = encode(url, { border: 4 });
    const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`${x} ${y}`] : [])));
    expect([...modulesOf(svg)].sort()).toEqual(dark.sort());
    expect(svg).toContain(`viewBox="0 0 ${size} ${size}"`);
    expect(dark.every((module) => module.split(" ").every((at) => Number(at) >= 4 && Number(at) < size - 4))).toBe(
      true,
    );
  });

  it("has its label escaped, and is none of a text that does not fit", () => {
    expect(String(renderQrCode("x", `"<`))).toContain(`aria-label="&quot;&lt;"`);
    expect(renderQrCode("x".repeat(3000), "Code")).toBeUndefined();
  });
});
