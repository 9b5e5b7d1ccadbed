/**
 * What a browser's Worker, worker scope and MessagePort have in common with
 * Node's: messages out, messages in, and an end.
 */
import type { Dispose } from './types.ts';

/** One end of a line. `Out` and `In` are what the other end is trusted to speak. */
export interface Port<Out = unknown, In = unknown> {
  /** @throws DataCloneError when the message cannot be cloned; then nothing was sent. */
  postMessage(message: Out, transfer?: readonly Transferable[]): void;
  /** Listens, and starts the flow of messages: those that came earlier arrive now. */
  onMessage(listener: (message: In) => void): Dispose;
  /**
   * Tells that the other end is gone. Node always tells. Chromium and Firefox do not when a worker
   * is terminated, so whoever terminates one drops the port that it gave away.
   */
  onClose(listener: () => void): Dispose;
  /** Closes the line for both ends. A worker's own line stays open: its owner ends the worker. */
  close(): void;
}

/** A MessagePort (also Node's), a Worker or a DedicatedWorkerGlobalScope. */
export interface EventTargetLike {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  removeEventListener(type: string, listener: (event: Event) => void): void;
}

/** Node's `Worker` or `parentPort`, which are event emitters. */
export interface NodeEmitterLike<Transfer> {
  postMessage(message: unknown, transfer?: readonly Transfer[]): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  off(event: string, listener: (value: unknown) => void): unknown;
  close?(): void;
}

export function fromEventTarget<Out = unknown, In = unknown>(target: EventTargetLike): Port<Out, In> {
  return {
    postMessage: (message, transfer = []) => target.postMessage(message, [...transfer]),
    onMessage(listener) {
      const dispose = listen(target, 'message', (event) => listener((event as MessageEvent<In>).data));
      // With addEventListener a MessagePort keeps its messages back until it is started.
      if (isMessagePort(target)) target.start();
      return dispose;
    },
    onClose: (listener) => listen(target, 'close', listener),
    close() {
      // A worker scope has close(), too: that would end the worker.
      if (isMessagePort(target)) target.close();
    },
  };
}

export function fromNodeEmitter<Out = unknown, In = unknown>(emitter: NodeEmitterLike<never>): Port<Out, In> {
  return {
    postMessage: (message, transfer = []) => emitter.postMessage(message, transfer as readonly never[]),
    onMessage: (listener) => subscribe(emitter, 'message', (message) => listener(message as In)),
    onClose: (listener) => subscribe(emitter, 'close', () => listener()),
    close: () => emitter.close?.(),
  };
}

function isMessagePort(target: object): target is MessagePort {
  return target instanceof MessagePort;
}

function listen(target: EventTargetLike, type: string, listener: (event: Event) => void): Dispose {
  target.addEventListener(type, listener);
  return () => target.removeEventListener(type, listener);
}

function subscribe(emitter: NodeEmitterLike<never>, event: string, listener: (value: unknown) => void): Dispose {
  emitter.on(event, listener);
  return () => void emitter.off(event, listener);
}
