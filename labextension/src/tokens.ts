/** For other extensions: what the agent is doing, read-only. */
import { Token } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';

import type { IAgentState } from './comm/agentstate';

export interface ICodeAgent {
  /** State of the agent in the kernel of the current notebook; None if there is no such kernel. */
  readonly state: IAgentState | null;
  readonly changed: ISignal<ICodeAgent, void>;
}

export const ICodeAgent = new Token<ICodeAgent>(
  'jupyter-codeagent:ICodeAgent',
  'State of the code agent in the current notebook, read-only.'
);
