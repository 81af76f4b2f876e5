import { checkOption } from "../../contracts/option-error.ts";
import { createRetryError } from "../../http/errors.ts";
import { toNetwork } from "../../http/ip-network.ts";
import { isLoopShared } from "../../platform/event-loop.ts";

/** Runs a few computations at a time. The others wait, and take turns by the network of their clients. */
export interface HashQueue {
  /**
   * Runs a computation when its turn comes. `address`: of the client, if it is known. Rejects with HttpError
   * `too-many-logins` if too many wait already.
   */
  run<T>(address: string | undefined, compute: () => Promise<T>): Promise<T>;
}

/** How many more networks may wait with one computation each. */
const MORE_NETWORKS = 1024;

/**
 * Makes a queue in which at most `maxWaiting` computations wait, at most half of them of one network. A network of
 * which none waits may always add its first one. So guesses from many networks delay an honest login by one computation
 * of each at most, and do not have it refused.
 *
 * On Workers no request may wait for another: there computations start immediately, and those that would wait elsewhere
 * only count. The portable ones still run one after the other, because they do not yield.
 * @throws OptionError
 */
export function createHashQueue(maxConcurrent: number, maxWaiting: number): HashQueue {
  checkOption(Number.isSafeInteger(maxConcurrent) && maxConcurrent >= 1, "maxConcurrent", "a whole number, 1 or more");
  checkOption(Number.isSafeInteger(maxWaiting) && maxWaiting >= 0, "maxWaiting", "a whole number, 0 or more");
  /** The computations that wait, by network. The first network is the next one. */
  const waiting = new Map<string, (() => void)[]>();
  let count = 0;
  let running = 0;

  async function run<T>(address: string | undefined, compute: () => Promise<T>): Promise<T> {
    if (running < maxConcurrent) running += 1;
    else await waitForTurn(address === undefined ? undefined : toNetwork(address));
    try {
      return await compute();
    } finally {
      passOn();
    }
  }

  function waitForTurn(network: string | undefined): Promise<void> {
    const line = waiting.get(network ?? "") ?? [];
    if (!mayWait(network, line.length)) throw createRetryError("too-many-logins");
    waiting.set(network ?? "", line);
    count += 1;
    return new Promise((proceed) => {
      line.push(proceed);
      if (!isLoopShared) proceed();
    });
  }

  function mayWait(network: string | undefined, waitingOfNetwork: number): boolean {
    if (waitingOfNetwork === 0 && maxWaiting > 0) return count < maxWaiting + MORE_NETWORKS;
    return count < maxWaiting && (network === undefined || waitingOfNetwork < maxWaiting / 2);
  }

  function passOn(): void {
    const [next] = waiting;
    if (next === undefined) {
      running -= 1;
      return;
    }
    const [network, line] = next;
    const proceed = line.shift();
    waiting.delete(network);
    if (line.length > 0) waiting.set(network, line);
    count -= 1;
    proceed?.();
  }

  return { run };
}
