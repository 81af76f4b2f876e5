import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An answer, read to its end. */
export interface WholeAnswer {
  readonly status: number;
  readonly size: number;
}

/** A connection that speaks bytes and waits for answers with a length. */
export interface Client {
  readonly socket: Socket;
  /** Sends what is given, and waits for an answer. Rejects when the connection ends before. */
  exchange(...parts: readonly (string | Uint8Array)[]): Promise<WholeAnswer>;
}

/** Opens a connection to the loopback. */
export async function openClient(port: number): Promise<Client> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined);

  async function exchange(...parts: readonly (string | Uint8Array)[]): Promise<WholeAnswer> {
    const answer = readAnswer(socket);
    for (const part of parts) socket.write(part);
    return answer;
  }

  return { socket, exchange };
}

/** Opens connections, some at a time, and does with each what is to be done at its begin. */
export async function openAll<T>(count: number, open: (index: number) => Promise<T>): Promise<readonly T[]> {
  const opened: T[] = [];
  let next = 0;
  async function openSome(): Promise<void> {
    while (next < count) {
      const index = next;
      next += 1;
      opened[index] = await open(index);
    }
  }
  await Promise.all(Array.from({ length: 50 }, openSome));
  return opened;
}

/** Logs an account in; gives the field that proves it. */
export async function logIn(port: number, username: string): Promise<string> {
  const body = JSON.stringify({ username, password: "secret" });
  const headers = { "Content-Type": "application/json", Connection: "close" };
  const answer = await fetch(`http://127.0.0.1:${port}/__svc__/login`, { method: "POST", headers, body });
  const { results } = (await answer.json()) as { readonly results: readonly { readonly session: string }[] };
  return `Authorization: session ${results[0]?.session}\r\n`;
}

/** A request for a file. */
export function get(path: string, session: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${session}\r\n`;
}

/** The head of an upload. */
export function put(path: string, session: string, length: number): string {
  return `PUT ${path} HTTP/1.1\r\nHost: x\r\n${session}Content-Length: ${length}\r\n\r\n`;
}

/** How long a client waits for answers, in milliseconds. */
export interface Waits {
  readonly p50: number;
  readonly p99: number;
}

/** Asks again and again, on a few connections; each answer has to be one of success. */
export async function measureWaits(port: number, count: number, toRequest: (index: number) => string): Promise<Waits> {
  const waits: number[] = [];
  let next = 0;
  async function ask(): Promise<void> {
    const { socket, exchange } = await openClient(port);
    while (next < count) {
      const request = toRequest(next);
      next += 1;
      const begun = performance.now();
      const { status } = await exchange(request);
      waits.push(performance.now() - begun);
      if (status >= 300) throw new Error(`Answered ${status}: ${request}`);
    }
    socket.destroy();
  }
  await Promise.all(Array.from({ length: 4 }, ask));
  waits.sort((one, other) => one - other);
  const at = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}

/** A pause. */
export function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Waits until something holds; how long that took, in milliseconds. Fails when it is too long. */
export async function eventually(what: string, milliseconds: number, holds: () => boolean): Promise<number> {
  const begun = performance.now();
  while (!holds()) {
    if (performance.now() - begun > milliseconds) throw new Error(`Waited in vain for ${what}`);
    await delay(20);
  }
  return performance.now() - begun;
}

/** Reads an answer with a length, whatever it is. */
function readAnswer(socket: Socket): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    let text = "";
    let begin = -1;
    let size = 0;
    let came = 0;
    function onData(chunk: Buffer): void {
      came += chunk.byteLength;
      if (begin < 0) {
        text += chunk.toString("latin1");
        const end = text.indexOf("\r\n\r\n");
        if (end < 0) return;
        begin = end + 4;
        text = text.slice(0, end);
        size = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
      }
      if (came < begin + size) return;
      socket.off("data", onData).off("close", onClose);
      resolve({ status: Number(text.slice(9, 12)), size: came - begin });
    }
    const onClose = (): void => reject(new Error(`Ended early, after: ${text}`));
    socket.on("data", onData).on("close", onClose);
  });
}
