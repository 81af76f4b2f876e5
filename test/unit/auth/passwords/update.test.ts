import { describe, expect, it } from "vitest";
import type { AuthenticationChain } from "../../../../src/auth/chain.ts";
import { createPasswordUpdates } from "../../../../src/auth/passwords/update.ts";
import type { Sessions } from "../../../../src/auth/sessions/types.ts";
import { type LoginThrottle, Throttled } from "../../../../src/auth/throttle.ts";
import type { PasswordUpdateOutcome } from "../../../../src/contracts/authenticator.ts";
import { createRecordingLogger } from "../../../support/logger.ts";

const request = {
  username: "alice",
  currentPassword: "a former passphrase",
  newPassword: "another passphrase",
  session: "0123456789abcdef0123456789abcdef",
  creator: { uuid: "dff314a6-c594-48dc-8e34-5270fd6cb635", type: "https" },
};

/** Password updates that record their steps; `endOthers` fails if `fails` is true. */
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
    logger: createRecordingLogger(),
  });
}

/**
 * Password updates whose chain gives `outcome`, or is not asked when throttled. `calls` records the calls of throttle,
 * chain and audit.
 */
function createWithOutcome(outcome: PasswordUpdateOutcome["outcome"] | "throttled") {
  const calls: unknown[] = [];
  const result = { outcome: outcome === "throttled" ? "unknown" : outcome };
  const chain: Pick<AuthenticationChain, "canUpdatePassword" | "updatePassword"> = {
    canUpdatePassword: async (username) => (username === "alice" ? "updatable" : "not-updatable"),
    async updatePassword({ beforeChange: _, ...update }) {
      calls.push(update);
      return result;
    },
  };
  const throttle: Pick<LoginThrottle, "run"> = {
    async run(who, attempt, toAttemptResult) {
      calls.push(who);
      if (outcome === "throttled") return new Throttled();
      const result = await attempt();
      calls.push(toAttemptResult(result));
      return result;
    },
  };
  const updates = createPasswordUpdates({
    chain: chain as AuthenticationChain,
    sessions: { endOthers: async () => undefined } as Pick<Sessions, "endOthers"> as Sessions,
    throttle: throttle as LoginThrottle,
    audit: {
      accepted: () => undefined,
      refused: (...refusal) => void calls.push(refusal),
      sessionEnded: () => undefined,
    },
    policy: {},
    logger: createRecordingLogger(),
  });
  return { ...updates, calls };
}

describe("a change of password", () => {
  const { username, currentPassword, newPassword, creator } = request;
  const peer = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;
  const trace = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };

  it("is possible if a method can do it", async () => {
    const { isPossible } = createWithOutcome("updated");
    expect([await isPossible("alice"), await isPossible("bob")]).toEqual([true, false]);
  });

  it("that breaks the policy is refused before the chain is asked", async () => {
    const { update, calls } = createWithOutcome("updated");
    const problems = [{ code: "password-too-short" }];
    expect(await update({ ...request, newPassword: "short" })).toMatchObject({ outcome: "refused", problems });
    expect(calls).toEqual([]);
  });

  it.each([
    ["updated", { outcome: "updated" }, "succeeded"],
    ["not-updatable", { outcome: "not-updatable" }, "neither"],
    ["unknown", { outcome: "not-updatable" }, "neither"],
  ] as const)("that is %s counts as no failed login", async (outcome, expected, counted) => {
    const { update, calls } = createWithOutcome(outcome);
    expect(await update({ ...request, peer })).toEqual(expected);
    const asked = { username, currentPassword, newPassword, peer };
    expect(calls).toStrictEqual([{ username, address: "192.0.2.1" }, asked, counted]);
  });

  it.each([
    ["wrong-password", "credentials", ["failed"]],
    ["throttled", "throttled", []],
  ] as const)("whose current password is %s is a refused login", async (outcome, reason, counted) => {
    for (const [from, traced] of [
      [{}, {}],
      [{ peer }, { trace }],
    ] as const) {
      const { update, calls } = createWithOutcome(outcome);
      const problems = [{ code: "password-wrong" }];
      expect(await update({ ...request, ...from, ...traced })).toMatchObject({ outcome: "refused", problems });
      const credentials = { type: "password", username, content: currentPassword, ...from, creator, ...traced };
      const asked = outcome === "throttled" ? [] : [{ username, currentPassword, newPassword, ...from }];
      const who = { username, address: from.peer?.address };
      expect(calls).toStrictEqual([who, ...asked, ...counted, [{ credentials, verdicts: [] }, reason]]);
    }
  });

  it("ends the other sessions before the new password counts, and those that began meanwhile after it (CONTRACT 6.3)", async () => {
    const steps: string[] = [];
    expect(await createUpdates(steps, false).update(request)).toEqual({ outcome: "updated" });
    expect(steps).toEqual(["others ended", "changed", "others ended"]);
  });

  it("does not happen if the other sessions cannot be ended (SECURITY 16)", async () => {
    const steps: string[] = [];
    await expect(createUpdates(steps, true).update(request)).rejects.toThrow("the store is down");
    expect(steps).toEqual([]);
  });
});
