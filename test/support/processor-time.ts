/**
 * Starts to measure the processor time of this process, in milliseconds. Unlike time by the clock, it is about the same
 * on a busy machine.
 */
export function startProcessorTime(): () => number {
  const begun = process.cpuUsage();

  return function elapsed() {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
}
