/** A kernel as the page sees it, without a server: answers what the connection asks, keeps what it sends. */
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import type { FromPage, ToPage } from '../protocol/messages';
import { TARGET } from '../protocol/messages';

interface ISent {
  header: { msg_type: string; subshell_id?: string | null };
  content: Record<string, unknown>;
}

export class FakeKernel {
  constructor(readonly options: { hasAgent?: boolean; subshells?: boolean; handleComms?: boolean } = {}) {}

  readonly id = 'k';
  readonly clientId = 'page-1';
  readonly username = 'u';
  /** As in JupyterLab: only the first connection to a kernel has it, and keeps it. */
  get handleComms(): boolean {
    return this.options.handleComms ?? true;
  }
  readonly supportsSubshells = true;
  isDisposed = false;
  status = 'idle';
  readonly statusChanged = new Signal<this, string>(this);
  readonly connectionStatusChanged = new Signal<this, string>(this);
  readonly disposed = new Signal<this, void>(this);
  readonly iopubMessage = new Signal<this, KernelMessage.IIOPubMessage>(this);

  readonly posted: ISent[] = [];
  deletedSubshells: string[] = [];
  comm: (Kernel.IComm & { commId: string }) | null = null;

  /** The agent was loaded: its beacon reaches the page. */
  beacon = (): void => {
    this._onBeacon({ onMsg: null } as unknown as Kernel.IComm);
    this._publish('comm_open', { target_name: TARGET, comm_id: 'beacon' });
  };

  get as(): Kernel.IKernelConnection {
    return this as unknown as Kernel.IKernelConnection;
  }

  registerCommTarget(_: string, callback: (comm: Kernel.IComm) => void): void {
    if (this.handleComms) {
      this._onBeacon = callback;
    }
  }

  createComm(): Kernel.IComm {
    if (!this.handleComms) {
      throw new Error('Comms are disabled on this kernel connection');
    }
    const comm = {
      commId: `comm-${++this._comms}`,
      isDisposed: false,
      dispose: () => (comm.isDisposed = true)
    };
    this.comm = comm as unknown as Kernel.IComm;
    return this.comm;
  }

  sendControlMessage(): Kernel.IControlFuture {
    const { subshells = true } = this.options;
    return future(subshells ? { subshell_id: 'sub-1' } : { status: 'error' }) as Kernel.IControlFuture;
  }

  sendShellMessage(message: KernelMessage.IShellMessage): Kernel.IShellFuture {
    this.posted.push(message as unknown as ISent);
    return future({ comms: this.options.hasAgent ? { one: {} } : {} }) as Kernel.IShellFuture;
  }

  requestDeleteSubshell(content: { subshell_id: string }): void {
    this.deletedSubshells.push(content.subshell_id);
  }

  /** The kernel sends a message on the comm that the page opened last. */
  say(message: ToPage | object): void {
    void this.comm?.onMsg({ content: { data: message } } as unknown as KernelMessage.ICommMsgMsg);
    const opened = this.posted.filter(sent => sent.header.msg_type === 'comm_open').pop()!;
    this._publish('comm_msg', { comm_id: opened.content.comm_id, data: message });
  }

  /** The notebook that has this connection is closed; its panel may still be there. */
  dispose(): void {
    this.isDisposed = true;
    this.disposed.emit();
  }

  private _publish(msgType: string, content: object): void {
    this.iopubMessage.emit({
      header: { msg_type: msgType },
      content
    } as unknown as KernelMessage.IIOPubMessage);
  }

  /** What the page sent over comms, with the data of `comm_open`. */
  get received(): FromPage[] {
    return this.posted
      .filter(message => ['comm_open', 'comm_msg'].includes(message.header.msg_type))
      .map(message => message.content.data as unknown as FromPage);
  }

  setStatus(status: string): void {
    this.status = status;
    this.statusChanged.emit(status);
  }

  setConnectionStatus(status: string): void {
    this.connectionStatusChanged.emit(status);
  }

  private _comms = 0;
  private _onBeacon: (comm: Kernel.IComm) => void = () => undefined;
}

function future(content: object): { done: Promise<unknown> } {
  return { done: Promise.resolve({ content }) };
}
