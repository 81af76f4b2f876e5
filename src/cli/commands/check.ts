import { describeConfiguration } from "../doctor/describe.ts";
import { examine } from "../doctor/examined.ts";
import { printFindings } from "../findings.ts";
import type { Output } from "../log/terminal.ts";

/**
 * Checks a configuration file and prints what it would serve, a line each. Changes nothing, and asks no other machine.
 * Resolves with the exit status: 2 if the configuration is wrong, 1 if something else is, such as a certificate.
 */
export function checkConfiguration(file: string, { stdout }: { readonly stdout: Output }): Promise<0 | 1 | 2> {
  return printFindings(examine(file, describeConfiguration), stdout);
}
