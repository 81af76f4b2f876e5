import { describe, expect, it } from "vitest";
import type { FileServiceOptions } from "../../src/config/options.ts";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { createFileService } from "../../src/service/service.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { FORM_TYPE, type FormEntry, formOf, sendFormForJson } from "../support/forms.ts";
import { type Answer, createTestService, type TestService, variants } from "../support/service.ts";

type Limits = NonNullable<FileServiceOptions["limits"]>;

const JSON_TYPE = { "content-type": "application/json" };
const URLENCODED = { "content-type": "application/x-www-form-urlencoded" };

/** A JSON text of this number of bytes. */
function padded(json: string, bytes: number): string {
  return `${json}${" ".repeat(bytes - json.length)}`;
}

function postCommands({ call }: TestService, body: string): Promise<Answer> {
  return call("POST", "/home/", { variant: "json", headers: JSON_TYPE, body });
}

function commandsOf(count: number, target: (index: number) => unknown = (index) => `f${index}`): string {
  const commands = Array.from({ length: count }, (_, index) => ({ command: "create-folder", target: target(index) }));
  return JSON.stringify({ commands });
}

/** Fields that select this number of members, after the action. */
function selected(count: number): readonly FormEntry[] {
  const members = Array.from({ length: count }, (_, index) => ["selected-members", `m${index}`] as const);
  return [["action", "delete-members"], ...members];
}

describe("the options limits", () => {
  const RANGES: readonly (readonly [keyof Limits, number, number])[] = [
    ["maxLoginBytes", 1024, 1_048_576],
    ["maxJsonBytes", 1024, 16_777_216],
    ["maxCommands", 1, 10_000],
    ["maxFormParts", 1, 10_000],
    ["maxPartHeaderBytes", 256, 65_536],
    ["maxFormFieldBytes", 1024, 16_777_216],
    ["transfersPerAccount", 0, 1_000_000],
    ["transfersPerAddress", 0, 1_000_000],
    ["pageBytesPerAccount", 0, 2 ** 40],
    ["pageBytesPerAddress", 0, 2 ** 40],
    ["pageBytesPerProcess", 0, 2 ** 40],
  ];

  function create(limits: unknown): unknown {
    const authentication = { name: "nobody", authenticate: async () => ({ outcome: "unknown" }) as const };
    return createFileService({ storage: createMemoryStorage(), authentication, limits: limits as Limits });
  }

  it.each(RANGES)("take %s from %i to %i, and name it in a TypeError for anything else", (name, least, most) => {
    for (const value of [least, most, undefined]) expect(() => create({ [name]: value })).not.toThrow();
    for (const value of [least - 1, most + 1, least + 0.5, Number.NaN, String(most), null, true]) {
      expect(() => create({ [name]: value })).toThrow(TypeError);
      expect(() => create({ [name]: value })).toThrow(
        `The option limits.${name} must be a whole number from ${least} to ${most}.`,
      );
    }
  });
});

describe("the body of a login (limits.maxLoginBytes)", () => {
  const login = '{"username":"alice","password":"secret"}';

  it.each([
    [{}, 16_384],
    [{ maxLoginBytes: 1024 }, 1024],
    [{ maxLoginBytes: 100_000 }, 100_000],
  ])("may have so many bytes, and is 413 with one more (%j: %i)", async (limits, most) => {
    const { call } = await createTestService({ limits });
    const post = (bytes: number): Promise<Answer> =>
      call("POST", "/__svc__/login", { as: null, variant: "json", headers: JSON_TYPE, body: padded(login, bytes) });
    expect((await post(most)).status).toBe(200);
    const refused = await post(most + 1);
    expect(refused.status).toBe(413);
    expect(refused.json()).toEqual({ errors: [{ message: `The body is larger than ${most} bytes.` }] });
  });

  it("is the same as a form, and for a change of password", async () => {
    const keeper: Authenticator = {
      name: "keeper",
      authenticate: async () => ({ outcome: "accepted", account: {} }),
      updatePassword: async () => ({ outcome: "updated" }),
    };
    const limits = { maxLoginBytes: 1024 };
    const { call, login: logIn } = await createTestService({ limits, authentication: keeper });
    const form = "username=alice&password=secret&return=";
    const post = (bytes: number): Promise<Answer> =>
      call("POST", "/__svc__/login", { as: null, headers: URLENCODED, body: form + "x".repeat(bytes - form.length) });
    expect((await post(1024)).status).toBe(302);
    expect((await post(1025)).status).toBe(413);
    const update = '{"current_password":"secret","new_password":"a brand new password"}';
    const change = async (bytes: number): Promise<number> => {
      const headers = { ...JSON_TYPE, authorization: `session ${await logIn()}` };
      const options = { as: null, variant: "json", headers, body: padded(update, bytes) } as const;
      return (await call("POST", "/home/__svc__/password-update", options)).status;
    };
    expect(await change(1024)).toBe(200);
    expect(await change(1025)).toBe(413);
  });
});

describe("commands (CONTRACT 4.5)", () => {
  it.each([
    [{}, 1_048_576],
    [{ maxJsonBytes: 1024 }, 1024],
    [{ maxJsonBytes: 2_000_000 }, 2_000_000],
  ])(
    "may have a body of so many bytes, and are 413 with one more (limits.maxJsonBytes; %j: %i)",
    async (limits, most) => {
      const test = await createTestService({ limits });
      expect((await postCommands(test, padded(commandsOf(1), most))).status).toBe(200);
      expect(
        (
          await postCommands(
            test,
            padded(
              commandsOf(1, () => "other"),
              most + 1,
            ),
          )
        ).status,
      ).toBe(413);
      expect(await test.storage.stat("/alice/other")).toBeUndefined();
    },
  );

  it.each([
    [{}, 1000],
    [{ maxCommands: 3 }, 3],
    [{ maxCommands: 1200 }, 1200],
  ])(
    "may be so many, and are 400 with one more, of which nothing is done (limits.maxCommands; %j: %i)",
    async (limits, most) => {
      const test = await createTestService({ limits });
      expect((await postCommands(test, commandsOf(most))).status).toBe(200);
      expect(
        (
          await postCommands(
            test,
            commandsOf(most + 1, (index) => `g${index}`),
          )
        ).status,
      ).toBe(400);
      expect(await test.storage.stat("/alice/g0")).toBeUndefined();
    },
  );

  it("have as many targets in all (limits.maxCommands)", async () => {
    const triggers = { touch: { run: () => undefined } };
    const test = await createTestService({ limits: { maxCommands: 3 }, triggers, files: { "/alice/a": "" } });
    const body = (targets: number): string =>
      JSON.stringify({ commands: [{ command: "touch", target: Array<string>(targets).fill("a") }] });
    expect((await postCommands(test, body(3))).status).toBe(200);
    expect((await postCommands(test, body(4))).status).toBe(400);
  });

  it("are described with their number", async () => {
    const { call } = await createTestService({ limits: { maxCommands: 7 } });
    const document = (await call("GET", "/__svc__/openapi.json")).json<{
      components: { schemas: { CommandsRequest: { properties: { commands: { maxItems: number } } } } };
    }>();
    expect(document.components.schemas.CommandsRequest.properties.commands.maxItems).toBe(7);
  });
});

describe("a form (CONTRACT 4.6)", () => {
  it.each([
    [{}, 1000],
    [{ maxFormParts: 5 }, 5],
    [{ maxFormParts: 1100 }, 1100],
  ])("may have so many parts, and is 400 with one more (limits.maxFormParts; %j: %i)", async (limits, most) => {
    const test = await createTestService({ limits });
    // That the members are not there shows that they were looked for.
    expect((await sendFormForJson(test, "/home/", selected(most - 1))).status).toBe(422);
    const refused = await sendFormForJson(test, "/home/", selected(most));
    expect(refused.status).toBe(400);
    expect(refused.json()).toEqual({ errors: [{ message: `The form has more than ${most} parts.` }] });
  });

  it.each([
    [{}, 16_384],
    [{ maxPartHeaderBytes: 256 }, 256],
    [{ maxPartHeaderBytes: 65_536 }, 65_536],
  ])(
    "may have heads of so many bytes, and is 400 with one more (limits.maxPartHeaderBytes; %j: %i)",
    async (limits, most) => {
      const test = await createTestService({ limits, files: { "/alice/a": "" } });
      const [start, end] = ['\r\nContent-Disposition: form-data; name="action"\r\nX-Long: ', "\r\n\r\n"];
      const post = (bytes: number): Promise<Answer> => {
        const head = `${start}${"x".repeat(bytes - start.length - end.length)}${end}`;
        const rest = formOf(["new-folder", `of-${bytes}`]);
        const [boundary = ""] = new TextDecoder().decode(rest).split("\r\n");
        const body = `${boundary}${head}create-folder\r\n${new TextDecoder().decode(rest)}`;
        return test.call("POST", "/home/", { variant: "json", headers: { "content-type": FORM_TYPE }, body });
      };
      expect((await post(most)).status).toBe(200);
      expect((await post(most + 1)).status).toBe(400);
      expect(await test.storage.stat(`/alice/of-${most + 1}`)).toBeUndefined();
    },
  );

  it.each([
    [{}, 1_048_576],
    [{ maxFormFieldBytes: 1024 }, 1024],
    [{ maxFormFieldBytes: 1_100_000 }, 1_100_000],
  ])(
    "may have texts of so many bytes together, and is 413 with one more (limits.maxFormFieldBytes; %j: %i)",
    async (limits, most) => {
      const test = await createTestService({ limits });
      const post = (bytes: number): Promise<Answer> => {
        const entries: readonly FormEntry[] = [
          ["action", "create-folder"],
          ["new-folder", "f"],
          ["selected-members", "x".repeat(bytes - "create-folder".length - 1)],
        ];
        return sendFormForJson(test, "/home/", entries);
      };
      expect((await post(most + 1)).status).toBe(413);
      expect((await post(most)).status).toBe(200);
    },
  );

  it("has no such limit for its files", async () => {
    const limits = { maxFormFieldBytes: 1024, maxJsonBytes: 1024, maxLoginBytes: 1024 };
    const test = await createTestService({ limits });
    const large = "x".repeat(3_000_000);
    const sent = await sendFormForJson(test, "/home/", [
      ["action", "upload-file"],
      ["upload-file", "large", large],
    ]);
    expect(sent.status).toBe(200);
    for (const variant of variants) {
      expect((await test.call("PUT", `/home/put-${variant}`, { variant, body: large })).status).toBe(201);
    }
  });
});
