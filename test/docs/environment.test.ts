import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEnvironment, type Environment } from "./environment.ts";
import { toPattern, toSteps } from "./transcript.ts";

describe("what a page's commands are run in", () => {
  let environment: Environment;

  beforeAll(async () => {
    environment = await createEnvironment();
  }, 300_000);

  afterAll(() => environment?.stop());

  const strict = { isStrict: true };

  it("keeps folder and files, and forgets variables", async () => {
    expect(await environment.run("mkdir a && cd a && a=1 && echo b > c", strict)).toEqual({ status: 0, output: "" });
    await environment.save("d", "port 8080\n");
    expect(await environment.run(`basename "$PWD"; cat c; echo "$a"; cat d`, strict)).toEqual({
      status: 0,
      output: environment.toLocal("a\nb\n\nport 8080"),
    });
    expect(environment.toLocal("8080")).not.toBe("8080");
    await environment.run("cd ..");
  });

  it("fails with the first command that does, and for an HTTP status of a failure", async () => {
    expect(await environment.run("false\necho on", strict)).toEqual({ status: 1, output: "" });
    expect(await environment.run("false | cat", strict)).toMatchObject({ status: 1 });
    const served = await environment.run("mkdir served && fileferry serve ./served --account demo:demo", strict);
    expect(served).toEqual({
      status: 0,
      output: expect.stringContaining(environment.toLocal("Listening on http://127.0.0.1:8080/")),
    });
    const missing = "curl -sS -o /dev/null -w '%{http_code}' -u demo:demo http://127.0.0.1:8080/home/missing";
    expect(await environment.run(missing, strict)).toMatchObject({
      status: 22,
      output: expect.stringContaining("404"),
    });
    expect(await environment.run(missing)).toEqual({ status: 0, output: "404" });
  });

  it("gives the port of a server to the next one that wants it", async () => {
    const list = (account: string): string =>
      `curl -sS -o /dev/null -w '%{http_code}' -H 'Accept: application/json' -u ${account} http://127.0.0.1:8080/home/`;
    expect(await environment.run(list("demo:demo"))).toEqual({ status: 0, output: "200" });
    const next = await environment.run("fileferry serve ./served --account eve:other --port 8080", strict);
    expect(next).toMatchObject({ status: 0 });
    expect(await environment.run(list("eve:other"))).toEqual({ status: 0, output: "200" });
    expect(await environment.run(list("demo:demo"))).toEqual({ status: 0, output: "401" });
  });

  it("fails for a program that is not installed, and for a server that does not start", async () => {
    expect(await environment.run("npm install never-heard-of", strict)).toMatchObject({ status: 1 });
    expect(await environment.run("npx never-heard-of", strict)).toMatchObject({ status: 1 });
    expect(await environment.run("fileferry serve ./nowhere --account demo:demo", strict)).toMatchObject({ status: 2 });
  });
});

describe("a transcript", () => {
  it("has commands, some over lines, each with what it shows", () => {
    expect(toSteps("$ echo a\na\n\nb\n$ true\n$ echo \\\n  c\nc\n")).toEqual([
      { command: "echo a", output: "a\n\nb" },
      { command: "true", output: "" },
      { command: "echo \\\n  c", output: "c" },
    ]);
  });

  it.each([
    ["a", "a\n", true],
    ["a", "b\n", false],
    ["a", "a\nb\n", false],
    ["", "", true],
    ["", "a\n", false],
    ["a.", "ab\n", false],
    ["a…d", "abcd\n", true],
    ["a…d", "ab\ncd\n", false],
    ["a\n...\nd", "a\nb\nc\nd\n", true],
    ["a\n...\nd", "a\nd\n", true],
    ["a\n...\nd", "b\nd\n", false],
    ["took 7 ms", "took 31 ms\n", true],
    ["took 7 s", "took 31 s\n", false],
  ])("that shows %j is right for %j: %s", (shown, printed, isRight) => {
    expect(toPattern(shown).test(printed)).toBe(isRight);
  });
});
