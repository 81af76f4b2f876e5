import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";

/** Checks everything, and changes nothing. The outcomes are as they would be, also where one command needs another. */
export async function runDry(context: AccountContext, run: (dry: AccountContext) => Promise<Reply>): Promise<Reply> {
  const reply = await run({ ...context, files: context.createDryFiles() });
  return { ...reply, headers: [...reply.headers, ["Preference-Applied", "dry-run"]] };
}
