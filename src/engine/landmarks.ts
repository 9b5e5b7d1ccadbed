/**
 * How a backend joins its cluster during start-up.
 *
 * Every backend runs PGlite's single-user start. The leader's makes shared
 * memory and recovers the data directory. A follower's is turned at two points,
 * so that it becomes what fork() and EXEC_BACKEND give a real server:
 *
 * - at `shmem_startup_hook`, called when all of shared memory is laid out and
 *   before InitProcess() takes a PGPROC: the follower's fresh block is
 *   overwritten with the live one, and MyProcPid becomes its own;
 * - IsUnderPostmaster is 0 through BaseInit() (else `pendingOps` is missing and
 *   DROP TABLE spins in RegisterSyncRequest), 1 when InitPostgres() decides
 *   about StartupXLOG() (a follower must not recover), and 0 again before
 *   authentication.
 *
 * The second point is found by counting calls of `on_shmem_exit`: the leader
 * counts how many precede the first file that StartupXLOG() opens, and the
 * followers turn at the same count.
 */
import { incompatible } from './code.ts';
import { describeDifference, findShared, type Baton, type Range, type SharedLayout } from './shared.ts';
import type { Backend } from './backend.ts';
import { GETPID } from './wasm/patch.ts';

/** The first file that StartupXLOG() opens on a data directory that was shut down cleanly (read_backup_label). */
const RECOVERY_OPENS = 'backup_label';
/** Callbacks that the leader registers after its decision to recover (CreateAuxProcessResourceOwner). */
const CALLBACKS_OF_RECOVERY = 1;
/** What a backend opens next that skips recovery (RelationMapInitializePhase2). */
const NORMAL_OPENS = 'pg_filenode.map';

/** `offsetof(Latch, owner_pid)` in storage/latch.h. */
const LATCH_OWNER = 12;

/** What the leader found out, once per cluster. */
export interface Calibration {
  /** Calls of `on_shmem_exit` from InitProcess() to the decision about StartupXLOG(). */
  exitCallbacks: number | undefined;
}

export class Landmarks {
  readonly #backend: Backend;
  readonly #baton: Baton;
  readonly #calibration: Calibration;
  #control: Range | undefined;
  #exitCallbacks = 0;
  #phase: 'before' | 'decided' | 'after' = 'before';

  constructor(backend: Backend, baton: Baton, calibration: Calibration) {
    this.#backend = backend;
    this.#baton = baton;
    this.#calibration = calibration;
  }

  /** The first mapping made while shared memory is laid out is the control segment of dynamic shared memory. */
  onMap(start: number, size: number): void {
    if (this.#control === undefined && this.#inSharedMemory() && !this.#hasProcess()) this.#control = { start, size };
  }

  onShmemStartup(): void {
    if (this.#control === undefined) throw incompatible('no control segment of dynamic shared memory');
    this.#renameProcess();
    const found = this.#findShared(this.#control);
    const expected = this.#baton.layout;
    const difference = expected && describeDifference(expected, found);
    if (difference !== undefined) throw incompatible(difference);
    if (expected === undefined) this.#baton.found(found, this.#backend);
    else this.#baton.join(this.#backend);
  }

  #findShared(control: Range): SharedLayout {
    try {
      return findShared(this.#backend.memory, this.#backend.variable('MainLWLockArray'), control);
    } catch (error) {
      throw incompatible((error as Error).message, error);
    }
  }

  /** The process has called itself 42 so far, and owns its local latch under that name. */
  #renameProcess(): void {
    const { memory, variables, pid } = this.#backend;
    const owner = this.#backend.variable('MyLatch') + LATCH_OWNER;
    if (memory.getWord(owner) !== GETPID)
      throw incompatible(`a latch owned by ${memory.getWord(owner)} instead of ${GETPID}`);
    memory.setWord(owner, pid);
    memory.setWord(variables.MyProcPid.value as number, pid);
  }

  onShmemExit(): void {
    if (this.#phase !== 'before' || !this.#hasProcess()) return;
    this.#exitCallbacks += 1;
    if (this.#exitCallbacks === this.#calibration.exitCallbacks) {
      this.#setUnderPostmaster(1);
      this.#phase = 'decided';
    }
  }

  onOpen(path: string): void {
    if (this.#phase === 'after' || !this.#hasProcess()) return;
    if (this.#phase === 'decided') this.#afterDecision(path);
    else if (this.#calibration.exitCallbacks === undefined) this.#calibrate(path);
    this.#phase = 'after';
  }

  #afterDecision(path: string): void {
    if (!path.endsWith(NORMAL_OPENS))
      throw incompatible(`a session that opens ${path} where ${NORMAL_OPENS} was expected`);
    this.#setUnderPostmaster(0);
  }

  #calibrate(path: string): void {
    if (path !== RECOVERY_OPENS)
      throw incompatible(`a first session that opens ${path} where ${RECOVERY_OPENS} was expected`);
    this.#calibration.exitCallbacks = this.#exitCallbacks - CALLBACKS_OF_RECOVERY;
  }

  #inSharedMemory(): boolean {
    return this.#backend.variable('MainLWLockArray') !== 0;
  }

  #hasProcess(): boolean {
    return this.#backend.variable('MyProc') !== 0;
  }

  #setUnderPostmaster(value: 0 | 1): void {
    this.#backend.memory.setByte(this.#backend.variables.IsUnderPostmaster.value as number, value);
  }
}
