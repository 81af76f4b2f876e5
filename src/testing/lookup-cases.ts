import type { AccountSettings } from "../contracts/account.ts";
import type { AccountLookup, Authenticator } from "../contracts/authenticator.ts";
import { expectAccount, namesOfNobody } from "./accounts.ts";
import { expect, expectEqual } from "./expectations.ts";

/**
 * What a case of {@link lookupCases} receives. The optional functions change accounts as their administrator does. A
 * test runner should report cases that need a missing one as skipped.
 */
export interface LookupCaseContext {
  /** The authenticator under test, after `start`. It has `lookup`. */
  readonly authenticator: Authenticator;
  /** An account that it knows, for this case only. The password has 8 characters or more, including a letter. */
  readonly username: string;
  readonly password: string;
  /** A username that it does not know. */
  readonly unknownUsername: string;
  /** Gives the account settings that it did not have, such as fewer permissions. */
  readonly changeSettings?: () => Promise<void>;
  /** Gives the account another password, and changes nothing else. */
  readonly changePassword?: (password: string) => Promise<void>;
  /** Removes or disables the account, so that it cannot log in any more. */
  readonly removeAccount?: () => Promise<void>;
  /** Lets time pass: waits, or moves the authenticator's own clock forward. Default: waits. */
  readonly wait?: (milliseconds: number) => Promise<void>;
}

/** One promise of `lookup` in the {@link Authenticator} contract. */
export interface LookupCase {
  /** A sentence that states the promise; unique in the list. */
  readonly name: string;
  /** If the context lacks this function, skip the case, for this reason. */
  readonly needs?: "changeSettings" | "changePassword" | "removeAccount";
  /** Rejects with an explanation if the authenticator breaks the promise. */
  run(context: LookupCaseContext): Promise<void>;
}

/** How old the result of a lookup may be, in milliseconds. */
const MAX_AGE = 1000;

/**
 * The promises of `lookup` of an {@link Authenticator}. They run with any test runner: `for (const { name, needs, run }
 * of lookupCases) it(name, () => run({ authenticator, username, password, unknownUsername }))`.
 */
export const lookupCases: readonly LookupCase[] = [
  {
    name: "finds an account with the settings that its login has",
    async run(context) {
      await expectSettingsOfLogin(context, context.password);
    },
  },
  {
    name: "finds an account as often as it is asked, also many times at once",
    async run(context) {
      const first = await findSettings(context);
      const others = await Promise.all(Array.from({ length: 8 }, () => findSettings(context)));
      for (const other of others) expectEqual(show(other), show(first), "the settings of another lookup");
    },
  },
  {
    name: "returns the settings and nothing of the password",
    async run(context) {
      const result = await lookUp(context, context.username);
      expectEqual(Object.keys(result).toSorted(), ["account", "outcome"], "the members of the result");
      expectAccount(await findSettings(context));
      expect(!JSON.stringify(result).includes(context.password), "the result is without the password");
    },
  },
  {
    name: "does not know an unknown name",
    async run(context) {
      expectEqual(await lookUp(context, context.unknownUsername), { outcome: "unknown" }, "the result");
    },
  },
  {
    name: "does not know a name that is nearly right, empty, very long, or a property of every object",
    async run(context) {
      for (const name of namesOfNobody(context.username)) await expectUnknown(context, name);
    },
  },
  {
    name: "compares names as a login does",
    async run(context) {
      const { authenticator, username, password: content } = context;
      for (const name of new Set([username.toUpperCase(), username.toLowerCase()])) {
        const verdict = await authenticator.authenticate({ type: "password", username: name, content });
        const { outcome } = await lookUp(context, name);
        expectEqual(outcome === "found", verdict.outcome === "accepted", `whether ${name} is found, as in a login`);
      }
    },
  },
  {
    name: "knows changed settings within a second",
    needs: "changeSettings",
    async run(context) {
      const before = await findSettings(context);
      await context.changeSettings?.();
      await passSecond(context);
      const after = await findSettings(context);
      expect(show(after) !== show(before), "the settings are others than before their change");
      await expectSettingsOfLogin(context, context.password);
    },
  },
  {
    name: "does not know a removed account within a second",
    needs: "removeAccount",
    async run(context) {
      await findSettings(context);
      await context.removeAccount?.();
      await passSecond(context);
      await expectUnknown(context, context.username);
    },
  },
  {
    name: "finds the same settings after a change of the password",
    needs: "changePassword",
    async run(context) {
      const before = await findSettings(context);
      const password = `${context.password}, changed`;
      await context.changePassword?.(password);
      expectEqual(show(await findSettings(context)), show(before), "the settings right after the change");
      await passSecond(context);
      expectEqual(show(await findSettings(context)), show(before), "the settings a second after the change");
      await expectSettingsOfLogin(context, password);
    },
  },
];

/** Calls `lookup`, and checks that its result has the shape of one. */
async function lookUp({ authenticator }: LookupCaseContext, username: string): Promise<AccountLookup> {
  expect(authenticator.lookup !== undefined, "the authenticator has lookup");
  const result = await authenticator.lookup(username);
  expect(result?.outcome === "found" || result?.outcome === "unknown", `the result is one, got ${show(result)}`);
  return result;
}

async function findSettings(context: LookupCaseContext): Promise<AccountSettings> {
  const result = await lookUp(context, context.username);
  expect(result.outcome === "found", `the account is found, got ${result.outcome}`);
  return result.account;
}

async function expectUnknown(context: LookupCaseContext, username: string): Promise<void> {
  const { outcome } = await lookUp(context, username);
  expect(outcome === "unknown", `${JSON.stringify(username.slice(0, 50))} is unknown, got ${outcome}`);
}

async function expectSettingsOfLogin(context: LookupCaseContext, content: string): Promise<void> {
  const { authenticator, username } = context;
  const verdict = await authenticator.authenticate({ type: "password", username, content });
  expect(verdict.outcome === "accepted", `the login is accepted, got ${verdict.outcome}`);
  expectEqual(show(await findSettings(context)), show(verdict.account), "the settings, as the login has them");
}

async function passSecond({ wait = waitReally }: LookupCaseContext): Promise<void> {
  await wait(MAX_AGE);
}

function waitReally(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** JSON whose members are in the order of their names. */
function show(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each !== "object" || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}
