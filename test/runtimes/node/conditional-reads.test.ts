import { Agent, type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  describeAnswer,
  expectedAnswer,
  type ReadingAnswer,
  type ReadingRow,
  readingRows,
} from "../../support/conditional-read-rows.ts";
import { type ReadingStorage, readingStorages } from "../../support/reading-storages.ts";
import { AUTHORIZATION, type Served, serve } from "../../support/served.ts";

type Question = Pick<ReadingRow, "method" | "file" | "fields">;

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Asks over one connection that is kept: an answer with other bytes than it announces would spoil the next. */
async function ask(port: number, { method, file, fields }: Question): Promise<ReadingAnswer> {
  const headers = { Authorization: AUTHORIZATION, Accept: "application/json", ...fields };
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ agent, port, method, path: `/home/${file}`, headers }, resolve)
      .on("error", reject)
      .end();
  });
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk);
  return {
    status: message.statusCode ?? 0,
    bytes: Buffer.concat(chunks),
    header: (name) => [message.headers[name]].flat()[0] ?? null,
  };
}

describe.each(Object.entries(readingStorages))("reading over the wire from %s", (_name, create) => {
  let opened: ReadingStorage;
  let served: Served;
  const tags = new Map<string, string>();

  beforeAll(async () => {
    opened = await create();
    served = await serve(opened.storage);
    for (const file of ["data.bin", "empty.txt"] as const) {
      tags.set(file, (await ask(served.port, { method: "HEAD", file, fields: {} })).header("etag") ?? "");
    }
  });

  afterAll(async () => {
    agent.destroy();
    await served.close();
    await opened.close();
  });

  it.each(readingRows)("$method $file, $rule: $fields (CONTRACT 3.1, RFC 9110 13, 14)", async (row) => {
    const tag = tags.get(row.file) ?? "";
    const fields = Object.fromEntries(
      Object.entries(row.fields).map(([name, value]) => [name, value.replace("TAG", tag)]),
    );
    expect(describeAnswer(row, await ask(served.port, { ...row, fields }))).toEqual(expectedAnswer(row));
  });
});
