import { parse as parseWords } from "shell-quote";
import { findCommandLineFault } from "./command-line.ts";

/** What a value has to be, by the directive that has it. Those that no page needs are not known here. */
const YES_OR_NO = /^(?:yes|no|true|false|on|off|1|0)$/;
const UNITS = /^[\w@.-]+\.(?:target|service|socket|mount)(?: [\w@.-]+\.(?:target|service|socket|mount))*$/;
const PATHS = /^-?\/\S*(?: -?\/\S*)*$/;
const SPAN = /^(?:infinity|\d+(?: ?(?:ms|s|sec|m|min|h|hr|d))?)$/;
const NAME = /^[a-z_][a-z0-9_-]*$/;

const DIRECTIVES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  Unit: {
    Description: /./,
    Documentation: /^(?:https?|man|file):/,
    After: UNITS,
    Before: UNITS,
    Wants: UNITS,
    Requires: UNITS,
    StartLimitIntervalSec: SPAN,
  },
  Service: {
    Type: /^(?:simple|exec|notify|oneshot|forking)$/,
    User: NAME,
    Group: NAME,
    DynamicUser: YES_OR_NO,
    WorkingDirectory: /^\//,
    Environment: /^"?\w+=/,
    EnvironmentFile: PATHS,
    ExecStart: /^\//,
    Restart: /^(?:no|always|on-success|on-failure|on-abnormal|on-abort|on-watchdog)$/,
    RestartSec: SPAN,
    RestartPreventExitStatus: /^\d+(?: \d+)*$/,
    KillMode: /^(?:control-group|mixed|process|none)$/,
    KillSignal: /^SIG[A-Z0-9]+$/,
    TimeoutStopSec: SPAN,
    LimitNOFILE: /^(?:\d+(?::\d+)?|infinity)$/,
    NoNewPrivileges: YES_OR_NO,
    PrivateTmp: YES_OR_NO,
    PrivateDevices: YES_OR_NO,
    ProtectHome: /^(?:yes|no|true|false|read-only|tmpfs)$/,
    ProtectSystem: /^(?:yes|no|true|false|full|strict)$/,
    LogsDirectory: NAME,
    LogsDirectoryMode: /^0[0-7]{3}$/,
    StateDirectory: NAME,
    ReadWritePaths: PATHS,
    ReadOnlyPaths: PATHS,
    ExecReload: /^\/bin\/kill -HUP \$MAINPID$/,
    ProtectClock: YES_OR_NO,
    ProtectControlGroups: YES_OR_NO,
    ProtectHostname: YES_OR_NO,
    ProtectKernelLogs: YES_OR_NO,
    ProtectKernelModules: YES_OR_NO,
    ProtectKernelTunables: YES_OR_NO,
    LockPersonality: YES_OR_NO,
    RestrictAddressFamilies: /^AF_[A-Z0-9]+(?: AF_[A-Z0-9]+)*$/,
    RestrictNamespaces: YES_OR_NO,
    RestrictRealtime: YES_OR_NO,
    RestrictSUIDSGID: YES_OR_NO,
    SystemCallArchitectures: /^native$/,
    SystemCallFilter: /^@[a-z-]+$/,
    CapabilityBoundingSet: /^$/,
    AmbientCapabilities: /^CAP_[A-Z_]+(?: CAP_[A-Z_]+)*$/,
  },
  Install: { WantedBy: UNITS, RequiredBy: UNITS, Alias: UNITS },
};

/** What is wrong with a unit of systemd that runs the command, a line each. */
export async function findUnitFaults(text: string): Promise<readonly string[]> {
  const faults: string[] = [];
  const commands: string[] = [];
  let section = "";
  // A backslash at the end of a line joins the next one to it (systemd.syntax(7)).
  for (const line of text.replace(/\\\n/g, " ").split("\n")) {
    if (line.trim() === "" || /^[#;]/.test(line)) continue;
    const [, opened] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (opened !== undefined) {
      section = opened;
      if (DIRECTIVES[section] === undefined) faults.push(`[${section}]: is no section of a service that we know`);
      continue;
    }
    const [, name = "", value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    const known = DIRECTIVES[section]?.[name];
    if (known === undefined) faults.push(`${line}: is no directive of [${section}] that we know`);
    else if (!known.test(value)) faults.push(`${line}: is no value of ${name}`);
    if (name === "ExecStart") commands.push(value);
  }
  if (commands.length !== 1) faults.push("has not one ExecStart");
  const found = await Promise.all(commands.map((command) => findCommandLineFault(parseWords(command).map(String))));
  return [...faults, ...found.filter((fault) => fault !== undefined)];
}
