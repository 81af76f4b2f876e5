import { beforeAll, describe, expect, it } from "vitest";
import { type Block, findBlocks } from "./blocks.ts";
import { CODE, findBlockFaults } from "./check-block.ts";
import { parsePage } from "./pages.ts";
import { checkTypes, type Finding } from "./typescript.ts";

const TICKS = "```";
const MAIN = "node_modules/fileferry/dist/cli/main.js";
const UNIT = `[Service]\nExecStart=/usr/bin/node /opt/${MAIN} serve --config /etc/a.json\n`;
const CMD = `CMD ["node", "${MAIN}", "serve", "--config", "/etc/a.json"]`;

/** The page that is checked: each block with what is found in it. */
const CASES: readonly (readonly [name: string, source: string, faults: readonly (string | RegExp)[]])[] = [
  ["code without types that fit", fence("ts", "const port: number = service;"), [/:2: Type 'FileService' is not/]],
  ["an import of what is not exported", fence("ts", 'import { createNothing } from "fileferry";'), [/createNothing/]],
  ["code with an error of syntax, on its line", fence("ts", "const a = 1;\nconst b = ;"), [/:3: Expression expected/]],
  ["code that is right by what is given", given("declare const port: number;", fence("ts", "port.toFixed();")), []],
  [
    "an error in what is given",
    given("declare const port: Port;", fence("ts", "port;")),
    [/:3: in what is given: .*Port/],
  ],
  ["a part of something", `<!-- within: const a = { … }; -->\n${fence("js", "b: 1,")}`, []],
  ["what goes on", `${fence("ts", "const a = 1;")}\n\n<!-- continues -->\n${fence("ts", "a.toFixed();")}`, []],
  [
    "what goes on without saying so",
    `${fence("ts", "const c = 1;")}\n\n${fence("ts", "c;")}`,
    [/Cannot find name 'c'/],
  ],
  [
    "what goes on wrongly, once",
    `${fence("ts", "nothing;")}\n\n<!-- continues -->\n${fence("ts", "1;")}`,
    [/'nothing'/],
  ],
  ["what says why it is not checked", `<!-- not checked: of another world -->\n${fence("ts", "const =")}`, []],
  ["a comment that is misspelt", `<!-- not cheked: x -->\n${fence("ts", "1;")}`, [/<!-- not cheked: x --> is none/]],
  ["a part of a file", `<!-- examples/nginx/nginx.conf -->\n${fence("nginx", "worker_processes auto;")}`, []],
  [
    "no part of a file",
    `<!-- examples/nginx/nginx.conf -->\n${fence("nginx", "worker_processes 9;")}`,
    [/is not what/],
  ],
  ["no JSON", fence("json", '{ "a": 1, }'), [/SyntaxError/]],
  ["JSON with comments", fence("jsonc", '{ "a": 1 } // b'), []],
  [
    "a configuration with a key too many",
    fence("json", '{ "authentication": [], "a": 1 }'),
    [/at least one/, /a: unknown/],
  ],
  [
    "a part of a configuration that is wrong",
    fence("json", '{ "listen": { "port": 99999 } }'),
    [/listen.port: must be/],
  ],
  ["another object", fence("json", '{ "listen": 1, "a": 1 }'), []],
  ["what looks like one", `<!-- not a configuration -->\n${fence("json", '{ "listen": 1 }')}`, []],
  ["no YAML", fence("yaml", "a: [1"), [/Flow sequence/]],
  ["no TOML", fence("toml", "a ="), [/Invalid TOML/]],
  ["options of the command", fence("sh", "X=1 fileferry serve ./a --account 'a:b' 2> log && npm run build"), []],
  ["an option that there is not", fence("sh", "echo a | fileferry serve --prot 1"), [/unknown option '--prot'/]],
  [
    "an option with a wrong value, in a transcript",
    fence("console", "$ fileferry serve ./a --port a\nerror"),
    [/0 to 65535/],
  ],
  ["an option over lines", fence("sh", "fileferry serve \\\n  --quite"), [/unknown option '--quite'/]],
  ["a script that there is not", fence("sh", "npm run biuld"), [/npm run biuld: there is no such script/]],
  [
    "a script that another package has not",
    fence("sh", "npm run --prefix examples/client biuld"),
    [/npm run biuld: there is no such script/],
  ],
  ["a script of another package", fence("sh", "npm start --prefix examples/client"), []],
  ["commands that are not run", `<!-- not run: of another world -->\n${fence("sh", "ls")}`, []],
  ["what they read, as a file", `<!-- saved: a.sh -->\n<!-- typed: b -->\n${fence("sh", "cat")}`, []],
  ["a file that there is not", fence("sh", "node examples/none.mjs"), [/examples\/none.mjs: is not there/]],
  ["a program that nobody knows", fence("sh", "cd a; frobnicate --all # by hand"), [/frobnicate: is none/]],
  ["a document within", fence("sh", "cat > a.txt <<'END'\nfrobnicate\nEND\nls"), []],
  ["no shell", fence("sh", "echo 'a"), [/unexpected EOF/]],
  ["a unit of systemd", fence("ini", `${UNIT}User=fileferry`), []],
  [
    "a unit with directives that there are not",
    fence("ini", `${UNIT}Usr=a\nKillMode=fast`),
    [/Usr=a/, /no value of Kill/],
  ],
  ["a unit whose command has another option", fence("ini", UNIT.replace("--config", "--confg")), [/unknown option/]],
  ["a unit without a command", fence("ini", "[Service]\nUser=a\n[Servce]"), [/\[Servce\]/, /has not one ExecStart/]],
  ["a container", fence("dockerfile", `FROM node:22-slim AS a\nFROM node:22\nCOPY --from=a /b ./\n${CMD}`), []],
  [
    "a container that nobody could make",
    fence("dockerfile", `FROM node:18\nCOPY --from=a /b ./\nRUN frobnicate\nEXPOSE 81\nHEALTH\n${CMD}`),
    [/node:18: is no Node/, /no stage a/, /frobnicate: is none/, /listens elsewhere/, /HEALTH: is no instruction/],
  ],
  [
    "a container whose command has another option",
    fence("dockerfile", `FROM node:22\n${CMD.replace("--", "--x")}`),
    [/unknown/],
  ],
  ["a container without a command", fence("dockerfile", "FROM node:22"), [/end with CMD/]],
  ["the head of a request", fence("http", "POST /auth HTTP/1.1\nAccept: a/b"), []],
  ["no head of a request", fence("http", "POST /auth HTTP/1.1\nAccept a/b"), [/is no head/]],
  ["a picture that shows nothing", fence("text", "a -> b"), [/shows nothing/]],
  ["a language that nobody knows", fence("cobol", "STOP RUN."), [/cobol is none/]],
  ["no language", fence("", "a"), [/no language is none/]],
  ["a block of a list", "- a\n\n  ```json\n  {\n  ```", [/a\.md:4: SyntaxError/]],
];

function fence(language: string, text: string): string {
  return `${TICKS}${language}\n${text}\n${TICKS}`;
}

function given(text: string, source: string): string {
  return `<!-- given: ${text} -->\n${source}`;
}

describe("a block with", () => {
  const pages = CASES.map(([, source], index) => findBlocks(parsePage(`docs/${index}-a.md`, `${source}\n`)));
  let findings: ReadonlyMap<Block, Finding>;

  beforeAll(() => {
    const code = pages.flat().filter(({ language, file }) => CODE.includes(language) && file === undefined);
    findings = checkTypes(code);
  }, 180_000);

  it.for(CASES.map(([name, , faults], index) => [name, index, faults] as const))("%s", async ([, index, faults]) => {
    const found = await Promise.all((pages[index] ?? []).map((block) => findBlockFaults(block, findings)));
    expect(found.flat()).toEqual(faults.map((fault) => expect.stringMatching(fault)));
  });
});
