import type { AccountTotp } from "../../contracts/sign-on/second-factor.ts";
import { editAccountsFile } from "./edit-file-node.ts";
import { type StoredEntry, withMember } from "./file-content-node.ts";

/** Returns an account of a valid file with other one-time passwords, or with none. */
export function withTotp(account: StoredEntry, totp: AccountTotp | undefined): StoredEntry {
  return withMember(account, "totp", totp);
}

/** Removes a recovery code of an account. Returns whether it was there: of two concurrent calls one finds it. */
export async function removeRecoveryCode(file: string, username: string, sha256: string): Promise<boolean> {
  let isRemoved = false;
  await editAccountsFile(file, (accounts) => {
    isRemoved = false;
    return accounts.map((account) => {
      const totp = account.totp as AccountTotp | undefined;
      const known = totp?.recovery_codes ?? [];
      if (totp === undefined || account.username !== username || !known.includes(sha256)) return account;
      isRemoved = true;
      return withTotp(account, { ...totp, recovery_codes: known.filter((one) => one !== sha256) });
    });
  });
  return isRemoved;
}
