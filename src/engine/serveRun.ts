/** Conducts a run for a client in another thread: its events go out in batches, its choices may come in. */
import type { RunEvent } from '../events/events.ts';
import { EngineError } from './errors.ts';
import { fromEventTarget } from './port.ts';
import type { RunRequest, ServerEvent } from './protocol.ts';
import type { FromCell, ToCell } from './runProtocol.ts';
import { askedPolicy, scriptedPolicy, seededPolicy, type Actor, type Policy } from './schedule.ts';
import type { Cluster } from './types.ts';
import type { RunOptions, RunResult, VirtualRun } from './virtualRun.ts';

/** A cluster on the virtual clock. */
export interface ConductedCluster extends Cluster {
  startRun(port: ReturnType<typeof fromEventTarget<ToCell, FromCell>>, options: RunOptions): Promise<VirtualRun>;
}

/** Milliseconds between two batches of events. */
const BATCH_MS = 40;

export class ServedRun {
  readonly #id: number;
  readonly #tell: (event: ServerEvent) => void;
  #events: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #answer: ((actor: Actor) => void) | undefined;
  #run: VirtualRun | undefined;
  #stopped = false;

  constructor(id: number, tell: (event: ServerEvent) => void) {
    this.#id = id;
    this.#tell = tell;
  }

  /** @throws EngineError BAD_ARGUMENT when the cluster is on the real clock. */
  async conduct(cluster: Cluster, request: RunRequest, port: MessagePort): Promise<RunResult> {
    if (!isConducted(cluster)) throw new EngineError('BAD_ARGUMENT', 'This cluster conducts no runs.');
    const { policy, ...rest } = request;
    const options: RunOptions = { ...rest, policy: this.#policyOf(policy), onEvent: (event) => this.#add(event) };
    this.#run = await cluster.startRun(fromEventTarget(port), options);
    if (this.#stopped) this.#run.stop();
    const result = await this.#run.result;
    port.close();
    this.#flush();
    return result;
  }

  /** The reader's choice, for a run that asks. */
  choose(actor: Actor): void {
    this.#answer?.(actor);
    this.#answer = undefined;
  }

  stop(): void {
    this.#stopped = true;
    this.#run?.stop();
  }

  #policyOf(policy: RunRequest['policy']): Policy {
    if (policy === undefined) return seededPolicy;
    if (policy.type === 'scripted') return scriptedPolicy(policy.choices);
    return askedPolicy((actors) => {
      this.#flush();
      this.#tell({ type: 'run-asks', run: this.#id, actors });
      return new Promise((resolve) => (this.#answer = resolve));
    });
  }

  #add(event: RunEvent): void {
    this.#events.push(event);
    this.#timer ??= setTimeout(() => this.#flush(), BATCH_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const events = this.#events;
    this.#events = [];
    if (events.length > 0) this.#tell({ type: 'run-events', run: this.#id, events });
  }
}

function isConducted(cluster: Cluster): cluster is ConductedCluster {
  return 'isVirtual' in cluster && cluster.isVirtual === true;
}
