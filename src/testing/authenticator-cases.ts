import type { Authenticator, Credentials, Verdict } from "../contracts/authenticator.ts";
import { expectAccount, namesOfNobody } from "./accounts.ts";

/** What a case of {@link authenticatorCases} receives. */
export interface AuthenticatorCaseContext {
  /** The authenticator under test, after `start`. */
  readonly authenticator: Authenticator;
  /** An account that it knows. The password has 8 characters or more, including a letter. */
  readonly username: string;
  readonly password: string;
  /** A username that it does not know. */
  readonly unknownUsername: string;
  /** Its verdict on a wrong password. Default: `rejected`. */
  readonly onWrongPassword?: "rejected" | "unknown";
  /** Its verdict on an unknown username. Default: `unknown`. */
  readonly onUnknownUsername?: "rejected" | "unknown";
}

/** One promise of the {@link Authenticator} contract. */
export interface AuthenticatorCase {
  readonly name: string;
  /** Rejects with an explanation if the authenticator breaks the promise. */
  run(context: AuthenticatorCaseContext): Promise<void>;
}

/**
 * The promises of an {@link Authenticator} for passwords. They run with any test runner: `for (const { name, run } of
 * authenticatorCases) it(name, () => run({ authenticator, username, password, unknownUsername }))`.
 */
export const authenticatorCases: readonly AuthenticatorCase[] = [
  {
    name: "has a name for the log",
    async run({ authenticator }) {
      expect(typeof authenticator.name === "string" && authenticator.name !== "", "a name");
    },
  },
  {
    name: "accepts the right password and returns the settings of the account",
    async run({ authenticator, username, password }) {
      const verdict = await verify(authenticator, username, password);
      expect(verdict.outcome === "accepted", `accepted, got ${verdict.outcome}`);
    },
  },
  {
    name: "accepts the same credentials again",
    async run({ authenticator, username, password }) {
      for (let round = 0; round < 3; round += 1) {
        await expectOutcome(authenticator, username, password, "accepted");
      }
    },
  },
  {
    name: "does not accept a wrong password",
    async run({ authenticator, username, password, onWrongPassword = "rejected" }) {
      await expectOutcome(authenticator, username, `${password.slice(0, -1)}\u2260`, onWrongPassword);
    },
  },
  {
    name: "does not accept an almost right password",
    async run({ authenticator, username, password }) {
      for (const variant of passwordVariants(password)) await expectRefusal(authenticator, username, variant);
    },
  },
  {
    name: "does not accept an empty or very long password",
    async run({ authenticator, username }) {
      await expectRefusal(authenticator, username, "");
      await expectRefusal(authenticator, username, "x".repeat(1_000_000));
    },
  },
  {
    name: "does not accept an unknown name",
    async run({ authenticator, unknownUsername, password, onUnknownUsername = "unknown" }) {
      await expectOutcome(authenticator, unknownUsername, password, onUnknownUsername);
    },
  },
  {
    name: "does not accept a name that is nearly right, empty, very long, or a property of every object",
    async run({ authenticator, username, password }) {
      for (const name of namesOfNobody(username)) await expectRefusal(authenticator, name, password);
    },
  },
  {
    name: "does not accept a password as a key",
    async run({ authenticator, username, password }) {
      const verdict = await verifyCredentials(authenticator, { type: "ssh-key", username, content: password });
      expect(verdict.outcome !== "accepted", "a refusal, got accepted");
    },
  },
  {
    name: "does not accept any type of credentials for an unknown name",
    async run({ authenticator, unknownUsername }) {
      for (const [type, content] of samples) {
        const verdict = await verifyCredentials(authenticator, { type, username: unknownUsername, content });
        expect(verdict.outcome !== "accepted", `a refusal of ${type}, got accepted`);
      }
    },
  },
  {
    name: "handles parallel logins independently",
    async run({ authenticator, username, password }) {
      const passwords = Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? password : `${password}${index}`));
      const verdicts = await Promise.all(passwords.map((each) => verify(authenticator, username, each)));
      for (const [index, { outcome }] of verdicts.entries()) {
        expect((outcome === "accepted") === (index % 2 === 0), `login ${index} verified on its own, got ${outcome}`);
      }
    },
  },
];

const samples: readonly (readonly [Credentials["type"], string])[] = [
  ["ssh-key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"],
  ["ssl-certificate", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"],
];

function passwordVariants(password: string): string[] {
  const otherCase = password === password.toUpperCase() ? password.toLowerCase() : password.toUpperCase();
  const cut = [password.slice(0, -1), password.slice(1)];
  return [...cut, otherCase, ` ${password}`, `${password} `, `${password}\u0000`, `${password}\n`, password.repeat(2)];
}

async function expectOutcome(
  authenticator: Authenticator,
  username: string,
  password: string,
  expected: Verdict["outcome"],
): Promise<void> {
  const { outcome } = await verify(authenticator, username, password);
  expect(outcome === expected, `${expected}, got ${outcome}`);
}

async function expectRefusal(authenticator: Authenticator, username: string, password: string): Promise<void> {
  const { outcome } = await verify(authenticator, username, password);
  const login = `${JSON.stringify(username.slice(0, 50))} with ${JSON.stringify(password.slice(0, 50))}`;
  expect(outcome !== "accepted", `a refusal of ${login}, got accepted`);
}

function verify(authenticator: Authenticator, username: string, password: string): Promise<Verdict> {
  return verifyCredentials(authenticator, { type: "password", username, content: password });
}

/** Calls the authenticator, and checks that its result has the shape of a verdict. */
async function verifyCredentials(authenticator: Authenticator, credentials: Credentials): Promise<Verdict> {
  const verdict = await authenticator.authenticate(credentials);
  const { outcome } = verdict;
  // Not the whole verdict, which may have the secret of a second factor.
  expect(["accepted", "second-factor", "unknown", "rejected"].includes(outcome), `a verdict, got ${outcome}`);
  if (verdict.outcome === "accepted" || verdict.outcome === "second-factor") expectAccount(verdict.account);
  else expect(["string", "undefined"].includes(typeof verdict.message), "a message that is text");
  return verdict;
}

function expect(condition: boolean, expectation: string): void {
  if (!condition) throw new Error(`Expected ${expectation}`);
}
