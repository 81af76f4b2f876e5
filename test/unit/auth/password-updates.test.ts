import { describe, expect, it } from "vitest";
import type { AuthenticationChain } from "../../../src/auth/chain.ts";
import { createPasswordUpdates } from "../../../src/auth/password-updates.ts";
import type { Sessions } from "../../../src/auth/session-types.ts";
import type { LoginThrottle } from "../../../src/auth/throttle.ts";

const request = {
  username: "alice",
  currentPassword: "a former passphrase",
  newPassword: "another passphrase",
  session: "0123456789abcdef0123456789abcdef",
  creator: { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "https" },
};

/** Changes of password whose steps are written down; `endOthers` fails where `fails` says so. */
function createUpdates(steps: string[], fails: boolean) {
  const chain: Pick<AuthenticationChain, "updatePassword"> = {
    async updatePassword(update) {
      await update.beforeChange?.();
      steps.push("changed");
      return { outcome: "updated" };
    },
  };
  const sessions: Pick<Sessions, "endOthers"> = {
    async endOthers() {
      if (fails) throw new Error("the store is down");
      steps.push("others ended");
    },
  };
  const throttle: Pick<LoginThrottle, "run"> = { run: (_, attempt) => attempt() };
  return createPasswordUpdates({
    chain: chain as AuthenticationChain,
    sessions: sessions as Sessions,
    throttle: throttle as LoginThrottle,
    audit: { accepted: () => undefined, refused: () => undefined, sessionEnded: () => undefined },
    policy: {},
  });
}

describe("a change of password", () => {
  it("ends the other sessions before the new password counts, and those that began meanwhile after it (CONTRACT 6.3)", async () => {
    const steps: string[] = [];
    expect(await createUpdates(steps, false).update(request)).toEqual({ outcome: "updated" });
    expect(steps).toEqual(["others ended", "changed", "others ended"]);
  });

  it("does not happen where the other sessions cannot be ended (SECURITY 16)", async () => {
    const steps: string[] = [];
    await expect(createUpdates(steps, true).update(request)).rejects.toThrow("the store is down");
    expect(steps).toEqual([]);
  });
});
