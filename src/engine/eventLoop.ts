/** Lets everything that has arrived for this thread in. `setTimeout` would cost milliseconds. */
export function eventLoopTurn(): Promise<void> {
  return new Promise(immediate === undefined ? post : (resolve) => void immediate(resolve));
}

/** Node's own; kept from before a cell's realm has anything replaced. */
const immediate = (globalThis as { setImmediate?: (call: () => void) => unknown }).setImmediate;

const waiting: (() => void)[] = [];
let channel: MessageChannel | undefined;

function post(resolve: () => void): void {
  waiting.push(resolve);
  channel ??= openChannel();
  channel.port2.postMessage(null);
}

function openChannel(): MessageChannel {
  const made = new MessageChannel();
  made.port1.onmessage = () => waiting.shift()?.();
  return made;
}
