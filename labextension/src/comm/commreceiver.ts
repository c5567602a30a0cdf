/**
 * The receiving side of comms on a kernel connection.
 *
 * JupyterLab lets one connection per kernel and page handle comms, fixed when it is created. Once the notebook or
 * console that has this one is closed, the connections that are left handle none: there the messages are read from
 * all that the kernel publishes. Where JupyterLab does handle them, it would close what nobody has registered.
 */
import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';

export interface IReceiver extends IDisposable {
  readonly commId: string;
}

/** Call back whenever the kernel opens a comm of this target. */
export function onCommOpened(kernel: Kernel.IKernelConnection, target: string, opened: () => void): void {
  if (kernel.handleComms) {
    kernel.registerCommTarget(target, comm => {
      // Nothing may be awaited in here: messages wait meanwhile.
      comm.onMsg = () => undefined;
      opened();
    });
    return;
  }
  kernel.iopubMessage.connect((_, message) => {
    if (message.header.msg_type === 'comm_open' && contentOf(message).target_name === target) {
      opened();
    }
  });
}

/** Receive the kernel's messages on a comm whose `comm_open` the caller sends. */
export function receive(
  kernel: Kernel.IKernelConnection,
  target: string,
  onMessage: (data: unknown) => void,
  closed: () => void
): IReceiver {
  if (kernel.handleComms) {
    const comm = kernel.createComm(target);
    comm.onMsg = message => onMessage(message.content.data);
    comm.onClose = closed;
    return comm;
  }
  return new Receiver(kernel, onMessage, closed);
}

class Receiver implements IReceiver {
  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _onCommMessage: (data: unknown) => void,
    private readonly _closed: () => void
  ) {
    _kernel.iopubMessage.connect(this._onMessage, this);
  }

  readonly commId = UUID.uuid4();

  get isDisposed(): boolean {
    return this._isDisposed || this._kernel.isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this._kernel.iopubMessage.disconnect(this._onMessage, this);
  }

  private _onMessage(_: unknown, message: KernelMessage.IIOPubMessage): void {
    const type: string = message.header.msg_type;
    if (!type.startsWith('comm_') || contentOf(message).comm_id !== this.commId) {
      return;
    }
    if (type === 'comm_msg') {
      this._onCommMessage(contentOf(message).data);
    } else if (type === 'comm_close') {
      this._closed();
      this.dispose();
    }
  }

  private _isDisposed = false;
}

function contentOf(message: KernelMessage.IIOPubMessage): {
  comm_id?: string;
  target_name?: string;
  data?: unknown;
} {
  return message.content as object;
}
