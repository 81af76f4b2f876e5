import type { Ended } from "./explain.ts";
import type { Node, State } from "./model.ts";
import { describeOperation } from "./operations.ts";

/** What happened, for the message of a failure. */
export function tellUnexplained(state: State, ended: readonly Ended[], stored: ReadonlyMap<string, Node>): string {
  const tell = (tree: ReadonlyMap<string, Node>): string =>
    [...tree]
      .map(([path, node]) =>
        node.kind === "folder" ? `${path}/` : `${path} (${node.text.slice(0, 20)}, ${node.text.length})`,
      )
      .sort()
      .join(", ");
  const lines = ended.map(({ asked: { operation, contents, tag }, seen: { text, fault, ...rest } }) => {
    const at = fault && `${fault.what} at ${fault.at.verb} ${fault.at.path} ${fault.at.step}`;
    const sent = contents.map(({ version }) => version);
    return `${describeOperation(operation)}; sent ${sent}; ${tag}\n    → ${JSON.stringify(rest)} ${JSON.stringify(text.slice(0, 60))} (${text.length}) ${at ?? ""}`;
  });
  return `No order of these explains what their clients saw and what is stored:\n  ${lines.join("\n  ")}\nbefore: ${tell(state.tree)}\nstored: ${tell(stored)}`;
}
