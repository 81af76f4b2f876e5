import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { SHARED, type User } from "./operations.ts";

/** Keeps passwords in memory, and the settings of the accounts. */
export function createKeeper(passwords: Map<User, string>, bobs: readonly string[]): Authenticator {
  const rules: Readonly<Record<User, readonly string[]>> = {
    alice: ["allow-full-control"],
    bob: bobs,
    carol: ["allow-list", "allow-write", "allow-create-folder"],
  };
  const isUser = (name: string): name is User => passwords.has(name as User);
  return {
    name: "keeper",
    async authenticate({ username, content }) {
      if (!isUser(username)) return { outcome: "unknown" };
      if (passwords.get(username) !== content) return { outcome: "rejected" };
      const shared = SHARED[username];
      const account = {
        virtual_folders: [[`/${shared}`, "/shared"]] as const,
        permissions: [["allow-full-control"], [`/${shared} | /${shared}/*`, ...rules[username]]],
      };
      return { outcome: "accepted", account };
    },
    async updatePassword({ username, currentPassword, newPassword, beforeChange }) {
      if (!isUser(username)) return { outcome: "unknown" };
      if (passwords.get(username) !== currentPassword) return { outcome: "wrong-password" };
      await beforeChange?.();
      passwords.set(username, newPassword);
      return { outcome: "updated" };
    },
  };
}
