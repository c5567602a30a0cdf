/** A kernel subshell of the page's own, where messages are handled while a cell is running. */
import type { Kernel } from '@jupyterlab/services';
import { KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';

/** A kernel without subshells does not answer; a page that just loaded holds its messages back for 3 s. */
const SUBSHELL_MS = 8000;

/**
 * Its id; null where the kernel has none.
 *
 * Not JupyterLab's own subshell for comms: that one waits for `kernel.info`, which a kernel that is busy when the
 * page loads does not send before its cell has ended. And not `kernel.requestCreateSubshell`, which throws while
 * the info is unknown.
 */
export async function createSubshell(kernel: Kernel.IKernelConnection): Promise<string | null> {
  // Typed loosely by JupyterLab: the message exists only for its own subshells.
  const request = KernelMessage.createMessage({
    msgType: 'create_subshell_request',
    channel: 'control',
    username: kernel.username,
    session: kernel.clientId,
    content: {}
  } as never) as unknown as KernelMessage.IControlMessage;
  const future = kernel.sendControlMessage(request as never, true);
  const reply = await replyWithin(future, SUBSHELL_MS);
  return (reply?.content as { subshell_id?: string } | undefined)?.subshell_id ?? null;
}

/** Send to a subshell; without one to the main shell. */
export function post(
  kernel: Kernel.IKernelConnection,
  subshell: string | null,
  msgType: string,
  content: JSONObject,
  expectReply = false
): Kernel.IShellFuture {
  const message = KernelMessage.createMessage({
    msgType,
    channel: 'shell',
    username: kernel.username,
    session: kernel.clientId,
    subshellId: subshell,
    content
  } as never) as unknown as KernelMessage.IShellMessage;
  return kernel.sendShellMessage(message as never, expectReply, true) as Kernel.IShellFuture;
}

/** With the line cut meanwhile it may never come: then undefined. */
export async function replyWithin(
  future: Kernel.IShellFuture | Kernel.IControlFuture,
  limit_ms: number
): Promise<KernelMessage.IMessage | undefined> {
  const silence = new Promise<undefined>(resolve => setTimeout(resolve, limit_ms));
  return Promise.race([future.done as Promise<KernelMessage.IMessage | undefined>, silence]);
}
