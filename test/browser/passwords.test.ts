import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { TOTP_SECRET, toOneTimePassword } from "../support/secrets/totp.ts";
import { expectAccessible } from "./axe.ts";
import { describeInChromium } from "./chromium.ts";
import { logIn, openSite, PASSWORD, tabTo } from "./site.ts";

const logger = createRecordingLogger();

describeInChromium("pages with passwords", (chromium) => {
  it("the login keeps the user name, shows the password and tells of Caps Lock", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 320, height: 640 } });
    await page.goto(site.home);
    await page.fill("#username", 'al"ice');
    await page.fill("#password", "wrong");
    await page.press("#password", "Enter");
    await page.getByRole("alert").waitFor();
    expect(await page.inputValue("#username")).toBe('al"ice');
    await page.waitForSelector("#password:focus");
    expect(await page.inputValue("#password")).toBe("");

    await page.keyboard.type("secret");
    await page.getByRole("checkbox", { name: "Show password" }).check();
    expect(await page.getAttribute("#password", "type")).toBe("text");
    await expectAccessible(page, "readable");
    await pressWithCapsLock(page);
    await page.getByText("Caps Lock is on.").waitFor();
    await expectAccessible(page, "Caps Lock");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.fill("#username", "alice");
    await page.fill("#password", PASSWORD);
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.press("#password", "Enter");
    expect((await sent).postData()).toContain("username=alice");
    await page.waitForSelector("main#folder");
    expectNoComplaints(/status of 401/);
  });

  it("the login asks for a one-time password after the right password, without a script", async () => {
    const totp = { secret: TOTP_SECRET };
    const account = { username: "alice", password: PASSWORD, totp };
    const site = await openSite({ authentication: createAccountsAuthenticator({ accounts: [account], logger }) });
    const { page } = await chromium.open({ javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
    await page.goto(site.home);
    await page.fill("#username", "alice");
    await page.fill("#password", PASSWORD);
    await page.press("#password", "Enter");
    await page.getByLabel("One-time password").waitFor();
    expect(await page.getByRole("alert").textContent()).toBe("This account also needs a one-time password.");
    expect(await page.inputValue("#username")).toBe("alice");
    expect(await page.inputValue("#password")).toBe("");
    await page.fill("#password", PASSWORD);
    await page.fill("#code", toOneTimePassword(Date.now()));
    await page.press("#code", "Enter");
    await page.waitForSelector("main#folder");
  });

  it("the page with the one-time password is accessible", async () => {
    const totp = { secret: TOTP_SECRET };
    const account = { username: "alice", password: PASSWORD, totp };
    const site = await openSite({ authentication: createAccountsAuthenticator({ accounts: [account], logger }) });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 320, height: 640 } });
    await page.goto(site.home);
    await page.fill("#username", "alice");
    await page.fill("#password", PASSWORD);
    await page.press("#password", "Enter");
    await page.waitForSelector("#code");
    await page.waitForSelector("#password:focus");
    await expectAccessible(page, "one-time password");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    expectNoComplaints(/status of 401/);
  });

  it("the new password is entered twice, under rules that are told before", async () => {
    const site = await openSite({ passwordPolicy: { minLength: 14, requireClasses: ["digit"] } });
    const { page, expectNoComplaints } = await chromium.open({ viewport: { width: 320, height: 640 } });
    await logIn(page, site);
    await page.goto(`${site.home}__svc__/password-update`);
    expect(await page.locator("#rules li").allTextContents()).toEqual([
      "The new password must have at least 14 characters.",
      "The new password must contain a digit.",
      "The new password must not contain the user name.",
      "The new password must not be the current one.",
    ]);
    await page.fill("#current", PASSWORD);
    await page.fill("#new", "a new password 1");
    await page.fill("#repeated", "a new password 2");
    await page.press("#repeated", "Enter");
    // Nothing was sent: the browser shows the text at the field.
    expect(await page.locator("#repeated").evaluate((field: HTMLInputElement) => field.validationMessage)).toBe(
      "The two new passwords are not the same.",
    );
    await page.getByRole("checkbox", { name: "Show password" }).check();
    await expectAccessible(page, "password page");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
    await page.fill("#repeated", "a new password 1");
    await page.press("#repeated", "Enter");
    await page.waitForSelector("main#folder");
    expect(await page.locator(".notice.success").textContent()).toBe("The password was changed.");
    expectNoComplaints();
  });

  it("the password is changed by the keyboard alone", async () => {
    const site = await openSite();
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await tabTo(page, "#account > summary");
    await page.keyboard.press("Enter");
    await tabTo(page, '#account a[href$="password-update"]');
    await page.keyboard.press("Enter");
    await page.waitForSelector("#current:focus");
    await page.keyboard.type(PASSWORD);
    await tabTo(page, "[data-reveal]");
    await page.keyboard.press("Space");
    await page.waitForSelector('#new[type="text"]');
    await tabTo(page, "#new");
    await page.keyboard.type("a brand new secret");
    await tabTo(page, "#repeated");
    await page.keyboard.type("a brand new typo");
    await tabTo(page, "main button.primary");
    await page.keyboard.press("Enter");
    // The browser leads to what it refuses.
    await page.waitForSelector("#repeated:focus:invalid");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("a brand new secret");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("The password was changed.").waitFor();
    const { page: next } = await chromium.open();
    await logIn(next, site, "a brand new secret");
    expectNoComplaints();
  });

  it("without a script, the service compares the two, and the box is not there", async () => {
    const site = await openSite();
    const { page } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await page.goto(`${site.home}__svc__/password-update`);
    expect(await page.getByText("Show password").isVisible()).toBe(false);
    await page.fill("#current", PASSWORD);
    await page.fill("#new", "a brand new secret");
    await page.fill("#repeated", "a brand new typo");
    await page.press("#repeated", "Enter");
    expect(await page.getByRole("alert").textContent()).toContain("The two new passwords are not the same.");
  });
});

/** Presses a key as with Caps Lock: the protocol of the browser has no such modifier. */
function pressWithCapsLock(page: Page): Promise<void> {
  return page.locator("#password").evaluate((field) => {
    field.focus();
    field.dispatchEvent(new KeyboardEvent("keydown", { key: "A", modifierCapsLock: true }));
  });
}
