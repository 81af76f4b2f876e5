import { createNodePasswordHasher } from "../../auth/passwords/hash-node.ts";
import { createFailure } from "../failure.ts";
import type { Output } from "../log/terminal.ts";
import { type Input, readPassword } from "../password-input.ts";

/**
 * Reads a password and resolves with its PHC string. Rejects with a failure as `readPassword` does, and of status 2 if
 * the password is empty or too long.
 */
export async function hashPassword(input: Input, prompts: Output): Promise<string> {
  const password = await readPassword(input, prompts);
  try {
    return await createNodePasswordHasher().hash(password);
  } catch (error) {
    throw createFailure(2, [`error: ${(error as Error).message}`]);
  }
}
