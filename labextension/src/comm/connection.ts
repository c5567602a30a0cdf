/** The page's side of the link to the agent in one kernel. */
import type { NotebookPanel, INotebookTracker } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import { panelsOfKernel } from '../notebook/panels';
import type {
  FromPage,
  IDecidedMessage,
  IEffects,
  IHelloMessage,
  IUnrecordedMessage
} from '../protocol/messages';
import { assertNever, PROTOCOL, readMessage } from '../protocol/messages';
import { AgentComm } from './agentcomm';
import { AgentModel } from './agentmodel';
import type { IInsertion, ICellsChange } from './kernelcommands';
import { KernelCommands } from './kernelcommands';
import { Preferences } from './preferences';
import { follows } from './progress';
import { SharingSync } from './sharingsync';

/** The kernel itself gives up after 1.5 s, when a cell keeps its main thread, and reports that. */
const EFFECTS_MS = 2500;

const ASK_AGAIN_MS = 1000;

/** Messages of the kernel become the model of the page, and cells and metadata of its notebooks. */
export class KernelConnection implements IDisposable {
  constructor(
    readonly kernel: Kernel.IKernelConnection,
    tracker: INotebookTracker,
    private readonly _preferences = new Preferences(),
    private readonly _findWebClient = async (): Promise<string> => ''
  ) {
    this._panels = () => panelsOfKernel(tracker, kernel.id);
    this._commands = new KernelCommands(tracker, kernel.id);
    this._commands.askEnded.connect((_, id) => void this.send({ type: 'ask_ended', id }));
    this._sharing = new SharingSync(this._panels);
    _preferences.changed.connect(this._onPreferences, this);
    this._comm = new AgentComm({
      kernel,
      model: this.model,
      ready: () => this._ready(),
      hello: () => this._hello(),
      received: data => this._onMessage(data)
    });
  }

  readonly model = new AgentModel();

  /** Cells were inserted by the kernel's order. */
  get inserted(): ISignal<unknown, IInsertion> {
    return this._commands.inserted;
  }

  /** Cells came, went or were marked by the kernel's order. */
  get cellsChanged(): ISignal<unknown, ICellsChange> {
    return this._commands.cellsChanged;
  }

  /** Somebody decided over a run's cells; the model knows it already. */
  get decided(): ISignal<this, IDecidedMessage> {
    return this._decided;
  }

  /** A decision of this page that the history did not take. */
  get unrecorded(): ISignal<this, IUnrecordedMessage> {
    return this._unrecorded;
  }

  get isDisposed(): boolean {
    return this._comm.isDisposed;
  }

  dispose(): void {
    this._preferences.changed.disconnect(this._onPreferences, this);
    this._comm.dispose();
    this._commands.dispose();
    Signal.clearData(this);
  }

  /** Whether it was sent: only a kernel that runs the agent receives it. */
  send(message: FromPage): boolean {
    return this._comm.send(message);
  }

  /** Look again whether the agent is there. */
  retry(): void {
    this._comm.retry();
  }

  /** Have a variable of the sandbox copied into the user's kernel. */
  pull(runId: string, name: string): void {
    if (this.send({ type: 'pull', id: UUID.uuid4(), run_id: runId, name })) {
      this.model.setPulling(runId, name);
    }
  }

  /** What code would do to the names of the kernel; null if it does not answer in time. */
  async findEffects(code: string, inKernel: boolean): Promise<IEffects | null> {
    const id = UUID.uuid4();
    const asked = new Promise<IEffects | null>(resolve => {
      this._effectRequests.set(id, resolve);
      setTimeout(() => resolve(null), EFFECTS_MS);
    });
    if (!this.send({ type: 'find_effects', id, code, in_kernel: inKernel })) {
      this._effectRequests.get(id)!(null);
    }
    const effects = await asked;
    this._effectRequests.delete(id);
    return effects;
  }

  /** A notebook of this kernel is open: send the kernel what its metadata hides. */
  addNotebook(panel: NotebookPanel): void {
    this._sharing.track(panel);
    if (this._comm.isOpen) {
      this._sharing.sendLists(panel, sharing => this.send({ type: 'sharing', sharing }));
    }
  }

  /** A notebook that is still loading has its lists yet to come: the kernel waits for them. */
  private async _ready(): Promise<void> {
    await Promise.all(this._panels().map(panel => panel.context.ready));
    await this._preferences.ready;
    this._webClient = await this._findWebClient();
  }

  private _hello(): IHelloMessage {
    const preferences = this._preferences.values;
    this._sentPreferences = JSON.stringify(preferences);
    return {
      type: 'hello',
      protocol: PROTOCOL,
      session: this.kernel.clientId,
      notebook: this._panels()[0]?.context.path ?? null,
      sharing: this._sharing.collectAll(),
      preferences,
      ...(this._webClient ? { web_client: this._webClient } : {})
    };
  }

  private _onPreferences(): void {
    const preferences = this._preferences.values;
    if (JSON.stringify(preferences) !== this._sentPreferences) {
      this._sentPreferences = JSON.stringify(preferences);
      this.send({ type: 'preferences', preferences });
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
          this._effectRequests.get(message.id)?.(message.effects);
          break;
        case 'ping':
          this.send({ type: 'pong' });
          break;
        case 'insert':
        case 'mark':
        case 'ask':
          this.send(this._commands.execute(message));
          break;
        case 'state':
        case 'context':
          this.model.apply(message);
          this._sharing.save(message.context.sharing);
          break;
        case 'unrecorded':
          this._unrecorded.emit(message);
          break;
        case 'decided':
          this.model.apply(message);
          this._decided.emit(message);
          break;
        case 'columns':
        case 'models':
        case 'refused':
        case 'run':
        case 'pulled':
        case 'proposal':
        case 'resolved':
        case 'grants':
          this.model.apply(message);
          break;
        case 'progress':
          if (follows(this.model.state.progress[message.run_id], message)) {
            this.model.apply(message);
          } else {
            this._requestMissedText(message.run_id);
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
  private _requestMissedText(runId: string): void {
    if (Date.now() - this._requestedTextAt >= ASK_AGAIN_MS) {
      this._requestedTextAt = Date.now();
      this.send({ type: 'missed', run_id: runId });
    }
  }

  private readonly _panels: () => NotebookPanel[];
  private readonly _commands: KernelCommands;
  private readonly _sharing: SharingSync;
  private readonly _comm: AgentComm;
  private _webClient = '';
  private _sentPreferences = '';
  private _requestedTextAt = 0;
  private _effectRequests = new Map<string, (effects: IEffects | null) => void>();
  private _unrecorded = new Signal<this, IUnrecordedMessage>(this);
  private _decided = new Signal<this, IDecidedMessage>(this);
}
