/** The comm between this page and the agent in one kernel: opened with a hello, opened again, closed. */
import type { Kernel } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

import type { FromPage, IHelloMessage } from '../protocol/messages';
import { TARGET } from '../protocol/messages';
import type { AgentModel } from './agentmodel';
import type { IReceiver } from './commreceiver';
import { onCommOpened, receive } from './commreceiver';
import { createSubshell, post, replyWithin } from './subshell';

/** The kernel answers `hello` at once; the server may have dropped the answer. */
const STATE_MS = 4000;
const HELLOS = 3;

export interface IAgentCommOptions {
  kernel: Kernel.IKernelConnection;
  /** Called when the state of the link changes. */
  model: AgentModel;
  /** When everything that a hello reports is known. */
  ready: () => Promise<unknown>;
  hello: () => IHelloMessage;
  /** Called with each message of the kernel. */
  received: (data: unknown) => void;
}

export class AgentComm implements IDisposable {
  constructor(private readonly _options: IAgentCommOptions) {
    this._kernel = _options.kernel;
    this._model = _options.model;
    // The kernel announces that the agent is loaded.
    onCommOpened(this._kernel, TARGET, () => {
      this._beacons++;
      void this._open();
    });
    this._kernel.statusChanged.connect(this._onStatus, this);
    this._kernel.connectionStatusChanged.connect(this._onConnectionStatus, this);
    void this._open();
  }

  get isOpen(): boolean {
    return this._comm !== null && !this._comm.isDisposed && !this._kernel.isDisposed;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    if (this._disposed) {
      return;
    }
    this._disposed = true;
    this._kernel.statusChanged.disconnect(this._onStatus, this);
    this._kernel.connectionStatusChanged.disconnect(this._onConnectionStatus, this);
    this._close();
  }

  /** Whether it was sent: only a kernel that runs the agent receives it. */
  send(message: FromPage): boolean {
    if (!this.isOpen) {
      return false;
    }
    this._post('comm_msg', { comm_id: this._comm!.commId, data: { ...message } as unknown as JSONObject });
    return true;
  }

  /** Look again whether the agent is there. */
  retry(): void {
    this._comm?.dispose();
    this._comm = null;
    void this._open();
  }

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
        this._model.setLink('failed', error instanceof Error ? error.message : String(error));
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
    this._model.setLink('connecting');
    this._subshell ??= await createSubshell(this._kernel);
    if (isStale()) {
      return;
    }
    await this._options.ready();
    if (isStale()) {
      return;
    }
    const isThere = this._beacons > 0 || (await this._hasAgent());
    if (isStale()) {
      return;
    }
    if (!isThere) {
      this._model.setLink('absent');
      return;
    }
    this._sendHello(1);
  }

  private async _hasAgent(): Promise<boolean> {
    const future = this._post('comm_info_request', { target_name: TARGET }, true);
    // A hello that nobody receives ends by itself.
    const reply = await replyWithin(future, STATE_MS);
    const comms = (reply?.content as { comms?: object } | undefined)?.comms;
    return Object.keys(comms ?? {}).length > 0;
  }

  private _sendHello(attempt: number): void {
    const gone = (): void => {
      if (this._comm === comm) {
        this._comm = null;
        this._model.setLink('absent');
      }
    };
    const comm = receive(this._kernel, TARGET, this._options.received, gone);
    this._comm = comm;
    this._post('comm_open', {
      comm_id: comm.commId,
      target_name: TARGET,
      data: { ...this._options.hello() } as unknown as JSONObject
    });
    setTimeout(() => this._checkAnswer(comm, attempt), STATE_MS);
  }

  private _checkAnswer(comm: IReceiver, attempt: number): void {
    if (this._disposed || this._comm !== comm || this._model.state.link !== 'connecting') {
      return;
    }
    this._comm = null;
    comm.dispose();
    if (attempt < HELLOS) {
      this._sendHello(attempt + 1);
    } else {
      this._model.setLink('failed', `the kernel did not answer ${HELLOS} times`);
    }
  }

  private _post(msgType: string, content: JSONObject, expectReply = false): Kernel.IShellFuture {
    return post(this._kernel, this._subshell, msgType, content, expectReply);
  }

  private _close(): void {
    const comm = this._comm;
    this._comm = null;
    this._generation++;
    if (this._kernel.isDisposed || this._kernel.status === 'dead') {
      return;
    }
    if (comm && !comm.isDisposed) {
      this._post('comm_close', { comm_id: comm.commId, data: {} });
      comm.dispose();
    }
    if (this._subshell && this._kernel.supportsSubshells) {
      this._kernel.requestDeleteSubshell({ subshell_id: this._subshell }, true);
    }
    this._subshell = null;
  }

  /** Messages sent while the connection was lost may be missing: a new hello brings the state and what was not delivered. */
  private _onConnectionStatus(_: unknown, status: Kernel.ConnectionStatus): void {
    if (status !== 'connected') {
      this._wasCut = true;
    } else if (this._wasCut) {
      this._wasCut = false;
      this._generation++; // an opening under way begins anew: its answer may be lost
      if (this._model.state.link !== 'connecting') {
        this.retry();
      }
    }
  }

  private _onStatus(): void {
    if (this._kernel.status === 'restarting' || this._kernel.status === 'autorestarting') {
      this._comm?.dispose();
      this._comm = null;
      this._subshell = null;
      this._beacons = 0;
      this._generation++;
      this._model.setLink('absent');
    }
  }

  private readonly _kernel: Kernel.IKernelConnection;
  private readonly _model: AgentModel;
  private _comm: IReceiver | null = null;
  private _subshell: string | null = null;
  private _opening = false;
  private _beacons = 0;
  private _generation = 0;
  private _disposed = false;
  private _wasCut = false;
}
