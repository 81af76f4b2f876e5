import { createTextUpdates } from "../../contracts/atomic-store.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";
import type { SecondFactor } from "../../contracts/sign-on/second-factor.ts";
import { orRetryError } from "../../http/errors.ts";
import type { ChainVerdict } from "../chain.ts";
import { toStoreKey } from "../store.ts";
import { findRecoveryCode } from "./recovery-codes.ts";
import { findStep, isOneTimePassword } from "./totp.ts";
import { createWrongGuesses } from "./wrong-guesses.ts";

/** Why a login with the right password is refused. Errors and events have it. */
export type SecondFactorProblem = "second-factor-required" | "second-factor-wrong" | "second-factor-throttled";

/** The verdict on a login: that of the chain, and where the account needs a second factor, also that on this one. */
export type LoginVerdict =
  | Exclude<ChainVerdict, { readonly outcome: "second-factor" }>
  | {
      readonly outcome: "incomplete";
      readonly problem: SecondFactorProblem;
      readonly verdicts: ChainVerdict["verdicts"];
    };

/**
 * Completes the verdict of a chain by the second factor, if the account needs one. `given` is a one-time password or a
 * recovery code: each of them is accepted once, in all processes on an atomic store.
 * @throws HttpError `unavailable` when the store or the method fails.
 */
export type CompleteVerdict = (verdict: ChainVerdict, given: string | undefined) => Promise<LoginVerdict>;

/** Options of {@link createSecondFactor}. */
export interface SecondFactorOptions {
  /** Remembers what was accepted. */
  readonly store: KeyValueStore;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * How many wrong one-time passwords an account may get in a day, from all networks together. Only someone who has the
 * right password can get them, so no stranger can keep the account's user out. Recovery codes are accepted
 * nevertheless: they cannot be guessed.
 */
const MAX_WRONG = 50;
const WRONG_WINDOW_MS = 86_400_000;

/** Longer than a one-time password can be accepted by any process, also if a clock is set back by hours. */
const STEP_TTL_MS = 86_400_000;
/** Ten years: a recovery code that no method removes must not come back. */
const RECOVERY_CODE_TTL_MS = 315_360_000_000;

/** Creates the second factor of a service. */
export function createSecondFactor({ store, clock }: SecondFactorOptions): CompleteVerdict {
  const update = createTextUpdates(store);
  const guesses = createWrongGuesses({ update, most: MAX_WRONG, window: WRONG_WINDOW_MS, clock });

  async function tryOneTimePassword(secret: string, given: string): Promise<SecondFactorProblem | undefined> {
    const key = toStoreKey("one-time-password-guesses", secret);
    if (!(await guesses.add(key))) return "second-factor-throttled";
    const step = findStep(secret, given, clock());
    if (step === undefined) return "second-factor-wrong";
    // One that was used before is no guess.
    await guesses.takeBack(key);
    const isNew = await advance(toStoreKey("one-time-password", secret), step, STEP_TTL_MS);
    return isNew ? undefined : "second-factor-wrong";
  }

  async function isRecoveryCode({ totp, useRecoveryCode }: SecondFactor, given: string): Promise<boolean> {
    const { secret, recovery_codes: codes = [] } = totp;
    const code = findRecoveryCode(given, codes);
    if (code === undefined) return false;
    if (useRecoveryCode !== undefined) return (await useRecoveryCode(code)) === true;
    return advance(toStoreKey("recovery-code", `${secret} ${code}`), 1, RECOVERY_CODE_TTL_MS);
  }

  /** Raises the number of a key. Returns false if it is as high already: of two concurrent calls one succeeds. */
  async function advance(key: string, number: number, ttl: number): Promise<boolean> {
    let isRaised = false;
    await update(
      key,
      () => ttl,
      (current) => {
        isRaised = current === undefined || number > Number(current);
        return isRaised ? String(number) : current;
      },
    );
    return isRaised;
  }

  async function findProblem(
    secondFactor: SecondFactor,
    given: string | undefined,
  ): Promise<SecondFactorProblem | undefined> {
    // As people type it: apps show blanks, and recovery codes have hyphens.
    const text = given?.replace(/[\s-]/g, "") ?? "";
    if (text === "") return "second-factor-required";
    return orRetryError("login-store-unavailable", async () => {
      if (isOneTimePassword(text)) return tryOneTimePassword(secondFactor.totp.secret, text);
      return (await isRecoveryCode(secondFactor, text)) ? undefined : "second-factor-wrong";
    });
  }

  return async (verdict, given) => {
    if (verdict.outcome !== "second-factor") return verdict;
    const { secondFactor, ...accepted } = verdict;
    const problem = await findProblem(secondFactor, given);
    if (problem === undefined) return { ...accepted, outcome: "accepted" };
    return { outcome: "incomplete", problem, verdicts: verdict.verdicts };
  };
}
