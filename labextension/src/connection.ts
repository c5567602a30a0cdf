/** The page's side of the link to the agent in one kernel. */
import type { NotebookPanel, INotebookTracker } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { IReceiver } from './comms';
import { onCommOpened, receive } from './comms';
import { AgentModel } from './model';
import {
  discardRuns,
  findNotebook,
  insertCells,
  isPending,
  isWritable,
  markRun,
  panelsOfKernel,
  requireWritable,
  sharedNotebook
} from './notebook';
import { Preferences } from './preferences';
import { follows } from './progress';
import type {
  FromPage,
  IEffects,
  IInsertedMessage,
  IInsertMessage,
  IMarkedMessage,
  IMarkMessage,
  ISharing,
  IUnrecordedMessage
} from './protocol';
import { assertNever, PROTOCOL, readMessage, TARGET } from './protocol';
import { isEmpty, joinedSharing, readSharing, writeSharing } from './sharing';

/** A kernel without subshells says nothing; a page that just loaded holds its messages back for 3 s. */
const SUBSHELL_MS = 8000;
/** The kernel answers `hello` at once; the server may have dropped the answer. */
const STATE_MS = 4000;
const HELLOS = 3;
/** The kernel itself gives up after 1.5 s, when a cell keeps its main thread, and says so. */
const EFFECTS_MS = 2500;

const ASK_AGAIN_MS = 1000;

type Ack = IInsertedMessage | IMarkedMessage;

/**
 * Opens a comm on a kernel subshell of its own, where messages are handled while a cell is running.
 *
 * Not JupyterLab's own subshell for comms: that one waits for `kernel.info`, which a kernel that is busy when the
 * page loads does not send before its cell has ended. And not `kernel.requestCreateSubshell`, which throws while
 * the info is unknown.
 */
export class KernelConnection implements IDisposable {
  constructor(
    readonly kernel: Kernel.IKernelConnection,
    private readonly _tracker: INotebookTracker,
    private readonly _preferences = new Preferences()
  ) {
    // The kernel says that the agent is there.
    onCommOpened(kernel, TARGET, () => {
      this._beacons++;
      void this._open();
    });
    kernel.statusChanged.connect(this._onStatus, this);
    kernel.connectionStatusChanged.connect(this._onConnectionStatus, this);
    _preferences.changed.connect(this._onPreferences, this);
    void this._open();
  }

  readonly model = new AgentModel();

  /** Cells were inserted by the kernel's order. */
  get inserted(): ISignal<this, { panel: NotebookPanel; cellIds: string[] }> {
    return this._inserted;
  }

  /** A decision of this page that the history did not take. */
  get unrecorded(): ISignal<this, IUnrecordedMessage> {
    return this._unrecorded;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (this._disposed) {
      return;
    }
    this._disposed = true;
    this.kernel.statusChanged.disconnect(this._onStatus, this);
    this.kernel.connectionStatusChanged.disconnect(this._onConnectionStatus, this);
    this._preferences.changed.disconnect(this._onPreferences, this);
    this._close();
    Signal.clearData(this);
  }

  /** Whether it was sent: only a kernel that runs the agent hears it. */
  send(message: FromPage): boolean {
    if (!this._isOpen) {
      return false;
    }
    this._post('comm_msg', { comm_id: this._comm!.commId, data: { ...message } as unknown as JSONObject });
    return true;
  }

  private get _isOpen(): boolean {
    return this._comm !== null && !this._comm.isDisposed && !this.kernel.isDisposed;
  }

  /** Have a variable of the sandbox copied into the user's kernel. */
  pull(runId: string, name: string): void {
    if (this.send({ type: 'pull', id: UUID.uuid4(), run_id: runId, name })) {
      this.model.setPulling(runId, name);
    }
  }

  /** What code would do to the names of the kernel; null if it does not answer in time. */
  async effectsOf(code: string, inKernel: boolean): Promise<IEffects | null> {
    const id = UUID.uuid4();
    const asked = new Promise<IEffects | null>(resolve => {
      this._asked.set(id, resolve);
      setTimeout(() => resolve(null), EFFECTS_MS);
    });
    if (!this.send({ type: 'find_effects', id, code, in_kernel: inKernel })) {
      this._asked.get(id)!(null);
    }
    const effects = await asked;
    this._asked.delete(id);
    return effects;
  }

  /** Look again whether the agent is there. */
  retry(): void {
    this._comm?.dispose();
    this._comm = null;
    void this._open();
  }

  // --- opening and closing

  private async _open(): Promise<void> {
    if (this._disposed || this._opening || (this._comm && !this._comm.isDisposed)) {
      return;
    }
    this._opening = true;
    const generation = this._generation;
    const beacons = this._beacons;
    try {
      await this._openOnce(() => this._disposed || generation !== this._generation);
    } catch (error) {
      if (!this._disposed && generation === this._generation) {
        this.model.setLink('failed', error instanceof Error ? error.message : String(error));
      }
    } finally {
      this._opening = false;
      // A restart or a beacon in the meantime must not be forgotten.
      if (
        !this._disposed &&
        (generation !== this._generation || (!this._comm && beacons !== this._beacons))
      ) {
        void this._open();
      }
    }
  }

  private async _openOnce(isStale: () => boolean): Promise<void> {
    this.model.setLink('connecting');
    this._subshell ??= await this._createSubshell();
    if (isStale()) {
      return;
    }
    // A notebook that is still loading has its lists yet to come: the kernel waits for them.
    await Promise.all(panelsOfKernel(this._tracker, this.kernel.id).map(panel => panel.context.ready));
    await this._preferences.ready;
    if (isStale()) {
      return;
    }
    const isThere = this._beacons > 0 || (await this._hasAgent());
    if (isStale()) {
      return;
    }
    if (!isThere) {
      this.model.setLink('absent');
      return;
    }
    this._sayHello(1);
  }

  /** A notebook of this kernel is there: the kernel is told what its metadata hides. */
  adopt(panel: NotebookPanel): void {
    if (!panel.context.isReady || this._adopted.has(panel.context) || !this._isOpen) {
      return;
    }
    const sharing = joinedSharing([readSharing(sharedNotebook(panel))], this._agreed);
    if (isEmpty(sharing) || this.send({ type: 'sharing', sharing })) {
      this._adopted.add(panel.context);
    }
  }

  /** The lists of all notebooks of this kernel; `shared` only where a person has said so in this page. */
  private _sharing(): ISharing {
    const known = panelsOfKernel(this._tracker, this.kernel.id).filter(panel => panel.context.isReady);
    return joinedSharing(
      known.map(panel => readSharing(sharedNotebook(panel))),
      this._agreed
    );
  }

  private _keepSharing(sharing: ISharing): void {
    Object.keys(sharing.shared)
      .filter(name => sharing.shared[name] === 'shared')
      .forEach(name => this._agreed.add(name));
    for (const panel of panelsOfKernel(this._tracker, this.kernel.id)) {
      const notebook = sharedNotebook(panel);
      if (notebook && this._adopted.has(panel.context) && isWritable(panel)) {
        writeSharing(notebook, sharing, this._agreed);
      }
    }
  }

  private _sayHello(attempt: number): void {
    const gone = (): void => {
      if (this._comm === comm) {
        this._comm = null;
        this.model.setLink('absent');
      }
    };
    const comm = receive(this.kernel, TARGET, data => this._onMessage(data), gone);
    this._comm = comm;
    const preferences = this._preferences.values;
    this._toldPreferences = JSON.stringify(preferences);
    const hello: FromPage = {
      type: 'hello',
      protocol: PROTOCOL,
      session: this.kernel.clientId,
      notebook: panelsOfKernel(this._tracker, this.kernel.id)[0]?.context.path ?? null,
      sharing: this._sharing(),
      preferences
    };
    panelsOfKernel(this._tracker, this.kernel.id).forEach(panel => this._adopted.add(panel.context));
    this._post('comm_open', {
      comm_id: comm.commId,
      target_name: TARGET,
      data: { ...hello } as unknown as JSONObject
    });
    setTimeout(() => this._checkAnswer(comm, attempt), STATE_MS);
  }

  private _checkAnswer(comm: IReceiver, attempt: number): void {
    if (this._disposed || this._comm !== comm || this.model.state.link !== 'connecting') {
      return;
    }
    this._comm = null;
    comm.dispose();
    if (attempt < HELLOS) {
      this._sayHello(attempt + 1);
    } else {
      this.model.setLink('failed', `the kernel did not answer ${HELLOS} times`);
    }
  }

  private async _createSubshell(): Promise<string | null> {
    // Typed loosely by JupyterLab: the message exists only for its own subshells.
    const request = KernelMessage.createMessage({
      msgType: 'create_subshell_request',
      channel: 'control',
      username: this.kernel.username,
      session: this.kernel.clientId,
      content: {}
    } as never) as unknown as KernelMessage.IControlMessage;
    const future = this.kernel.sendControlMessage(request as never, true);
    const silence = new Promise<undefined>(resolve => setTimeout(resolve, SUBSHELL_MS));
    const reply = await Promise.race([future.done as Promise<KernelMessage.IMessage | undefined>, silence]);
    return (reply?.content as { subshell_id?: string } | undefined)?.subshell_id ?? null;
  }

  private async _hasAgent(): Promise<boolean> {
    const future = this._post('comm_info_request', { target_name: TARGET }, true);
    // With the line cut meanwhile it may never come; a hello that nobody hears ends by itself.
    const silence = new Promise<undefined>(resolve => setTimeout(resolve, STATE_MS));
    const reply = await Promise.race([future.done as Promise<KernelMessage.IMessage | undefined>, silence]);
    const comms = (reply?.content as { comms?: object } | undefined)?.comms;
    return Object.keys(comms ?? {}).length > 0;
  }

  private _post(msgType: string, content: JSONObject, expectReply = false): Kernel.IShellFuture {
    const message = KernelMessage.createMessage({
      msgType,
      channel: 'shell',
      username: this.kernel.username,
      session: this.kernel.clientId,
      subshellId: this._subshell,
      content
    } as never) as unknown as KernelMessage.IShellMessage;
    return this.kernel.sendShellMessage(message as never, expectReply, true) as Kernel.IShellFuture;
  }

  private _close(): void {
    const comm = this._comm;
    this._comm = null;
    this._generation++;
    if (this.kernel.isDisposed || this.kernel.status === 'dead') {
      return;
    }
    if (comm && !comm.isDisposed) {
      this._post('comm_close', { comm_id: comm.commId, data: {} });
      comm.dispose();
    }
    if (this._subshell && this.kernel.supportsSubshells) {
      this.kernel.requestDeleteSubshell({ subshell_id: this._subshell }, true);
    }
    this._subshell = null;
  }

  /** What was said while the line was cut may be lost: a new hello brings the state and what was not delivered. */
  private _onConnectionStatus(_: unknown, status: Kernel.ConnectionStatus): void {
    if (status !== 'connected') {
      this._wasCut = true;
    } else if (this._wasCut) {
      this._wasCut = false;
      this._generation++; // an opening under way begins anew: its answer may be lost
      if (this.model.state.link !== 'connecting') {
        this.retry();
      }
    }
  }

  private _onPreferences(): void {
    const preferences = this._preferences.values;
    if (JSON.stringify(preferences) !== this._toldPreferences) {
      this._toldPreferences = JSON.stringify(preferences);
      this.send({ type: 'preferences', preferences });
    }
  }

  private _onStatus(): void {
    if (this.kernel.status === 'restarting' || this.kernel.status === 'autorestarting') {
      this._comm?.dispose();
      this._comm = null;
      this._subshell = null;
      this._beacons = 0;
      this._generation++;
      this.model.setLink('absent');
    }
  }

  // --- messages of the kernel

  private _onMessage(data: unknown): void {
    try {
      const message = readMessage(data);
      if (message.type === 'state' && message.protocol !== PROTOCOL) {
        throw new Error(
          `the kernel speaks protocol ${message.protocol}, this page ${PROTOCOL}: reload the page`
        );
      }
      switch (message.type) {
        case 'effects':
          this._asked.get(message.id)?.(message.effects);
          break;
        case 'ping':
          this.send({ type: 'pong' });
          break;
        case 'insert':
          this._acknowledge(message.id, () => this._insert(message));
          break;
        case 'mark':
          this._acknowledge(message.id, () => this._mark(message));
          break;
        case 'state':
        case 'context':
          this.model.apply(message);
          this._keepSharing(message.context.sharing);
          break;
        case 'unrecorded':
          this._unrecorded.emit(message);
          break;
        case 'columns':
        case 'models':
        case 'refused':
        case 'run':
        case 'pulled':
        case 'proposal':
        case 'resolved':
          this.model.apply(message);
          break;
        case 'progress':
          if (follows(this.model.state.progress[message.run_id], message)) {
            this.model.apply(message);
          } else {
            this._askForText(message.run_id);
          }
          break;
        default:
          assertNever(message);
      }
    } catch (error) {
      console.error('jupyter-codeagent:', error);
      this.model.setLink('failed', error instanceof Error ? error.message : String(error));
    }
  }

  /** A part of it was lost: the server drops messages in a flood of output. The answer may be lost too. */
  private _askForText(runId: string): void {
    if (Date.now() - this._askedForTextAt >= ASK_AGAIN_MS) {
      this._askedForTextAt = Date.now();
      this.send({ type: 'missed', run_id: runId });
    }
  }

  /** Messages are sent again until they are acknowledged: what was done once is answered, not done, again. */
  private _acknowledge(id: string, act: () => Ack): void {
    const done = this._done.get(id) ?? act();
    if (done.ok) {
      this._done.set(id, done);
    }
    this.send(done);
  }

  private _insert(message: IInsertMessage): Ack {
    const ack = { type: 'inserted' as const, id: message.id };
    try {
      const wanted = message.cells.map(cell => String(cell.id));
      const panel = findNotebook(this._tracker, this.kernel.id, [...wanted, message.anchor ?? '']);
      const cellIds = insertCells(sharedNotebook(panel)!, message);
      this._inserted.emit({ panel, cellIds });
      return { ...ack, ok: true, cell_ids: cellIds, problem: '' };
    } catch (error) {
      return { ...ack, ok: false, cell_ids: [], problem: (error as Error).message };
    }
  }

  private _mark(message: IMarkMessage): Ack {
    const ack = { type: 'marked' as const, id: message.id };
    const panels = panelsOfKernel(this._tracker, this.kernel.id);
    if (panels.length === 0) {
      const problem = 'no notebook of this kernel is open in this page';
      return { ...ack, ok: false, cell_ids: [], problem };
    }
    try {
      // Nothing is marked unless all can be: what is not acknowledged is sent again.
      panels.forEach(requireLoaded);
      panels.filter(panel => holdsRun(panel, message.run_id)).forEach(requireWritable);
    } catch (error) {
      return { ...ack, ok: false, cell_ids: [], problem: (error as Error).message };
    }
    const cellIds = panels.flatMap(panel => {
      const notebook = sharedNotebook(panel);
      if (!notebook) {
        return [];
      }
      return message.state === 'discarded'
        ? discardRuns(notebook, [message.run_id])
        : markRun(notebook, message.run_id, message.state);
    });
    return { ...ack, ok: true, cell_ids: cellIds, problem: '' };
  }

  private _comm: IReceiver | null = null;
  private _toldPreferences = '';
  private _askedForTextAt = 0;
  private _subshell: string | null = null;
  private _opening = false;
  private _beacons = 0;
  private _generation = 0;
  private _disposed = false;
  private _asked = new Map<string, (effects: IEffects | null) => void>();
  private _wasCut = false;
  private _done = new Map<string, Ack>();
  /** Notebooks whose lists the kernel has. */
  private _adopted = new WeakSet<object>();
  /** Variables that the kernel has always copied while this page was there: a person has said so. */
  private _agreed = new Set<string>();
  private _unrecorded = new Signal<this, IUnrecordedMessage>(this);
  private _inserted = new Signal<this, { panel: NotebookPanel; cellIds: string[] }>(this);
}

function requireLoaded(panel: NotebookPanel): void {
  if (!panel.context.isReady) {
    throw new Error(`the notebook ${panel.context.path} is still loading`);
  }
}

function holdsRun(panel: NotebookPanel, runId: string): boolean {
  return sharedNotebook(panel)?.cells.some(cell => isPending(cell, runId)) ?? false;
}
