import { describe, expect, it } from "vitest";
import { basic, byCookie, createTestService } from "../../support/service.ts";

const HTML = { as: null, variant: "html" } as const;

/** Where the login page sends browsers without cookies. */
function linkOf(page: string): string {
  return (/href="([^"]*login=basic[^"]*)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
}

describe("a login without cookies", () => {
  it("begins at a link of the login page, and asks for Basic credentials (5.1.2)", async () => {
    const { call } = await createTestService();
    const link = linkOf((await call("GET", "/__svc__/login", HTML)).text);
    expect(link).toBe("/home/?login=basic");
    const asked = await call("GET", link, HTML);
    expect(asked.status).toBe(401);
    expect(asked.header("www-authenticate")).toBe('basic realm="Web files access"');
    // Who leaves the dialogue finds the form.
    expect(asked.text).toContain('name="password"');
    expect(asked.text).not.toContain('role="alert"');
  });

  it("leads to the page that was asked for, and to the home folder without one (CONTRACT 6.2)", async () => {
    const { call } = await createTestService({ basePath: "/files", files: { "/alice/a b/": "" } });
    const sent = await call("GET", "/files/home/a%20b/", HTML);
    const link = linkOf((await call("GET", sent.header("location") ?? "", HTML)).text);
    expect(link).toBe(`/files/home/?login=basic&return=${encodeURIComponent("/files/home/a%20b/")}`);
    expect(linkOf((await call("GET", link, HTML)).text)).toBe(link);
    for (const [path, location] of [
      [link, "/files/home/a%20b/"],
      ["/files/home/?login=basic", "/files/home/"],
      [`/files/home/?login=basic&return=${encodeURIComponent("//evil.example/")}`, "/files/home/"],
    ] as const) {
      const answer = await call("GET", path, { variant: "html" });
      expect([answer.status, answer.header("location")]).toEqual([302, location]);
    }
  });

  it("asks once more where the credentials are wrong: behind a redirect browsers would keep them (5.1.2)", async () => {
    const { call } = await createTestService();
    const headers = { authorization: basic("alice", "wrong") };
    const asked = await call("GET", "/home/?login=basic", { ...HTML, headers });
    expect([asked.status, asked.header("www-authenticate")]).toEqual([401, 'basic realm="Web files access"']);
    expect(asked.text).toContain("The user name or password is wrong.");
    // Everywhere else it is as the specification says.
    const other = await call("GET", "/home/", { ...HTML, headers });
    expect([other.status, other.header("location")]).toEqual([302, "/__svc__/login"]);
  });

  it("is done where a cookie holds", async () => {
    const { call, login } = await createTestService();
    const answer = await call("GET", "/home/?login=basic", { ...HTML, headers: byCookie(await login()) });
    expect([answer.status, answer.header("location")]).toEqual([302, "/home/"]);
  });

  it("is nothing to other clients, and nothing of other folders", async () => {
    const { call } = await createTestService({ files: { "/alice/f/": "" } });
    expect((await call("GET", "/home/?login=basic", { as: null, variant: "json" })).status).toBe(401);
    expect((await call("GET", "/home/?login=basic", { variant: "json" })).json()).toMatchObject({ content: [{}] });
    expect((await call("GET", "/home/f/?login=basic", { variant: "html", undescribed: "it is ignored" })).status).toBe(
      200,
    );
    expect((await call("GET", "/home/f/?login=basic", HTML)).status).toBe(302);
    expect((await call("POST", "/home/?login=basic", { variant: "html", body: "x" })).status).toBe(415);
  });
});
