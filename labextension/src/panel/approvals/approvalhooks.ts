/** When an approval may be pressed, how its decision is sent, and what its code would do. */
import { useEffect, useRef, useState } from 'react';

import type { IDecisionMessage, IEffects, IProposal } from '../../protocol/messages';
import { useServices } from '../services';

/** A press within this time after the card came or moved was meant for something else. */
export const ARMED_MS = 500;
/** The kernel answers at once; the server may have dropped the answer. */
const RESEND_MS = 4000;
/** After so long without an edit the kernel is asked again what the code would do. */
const EDITED_MS = 400;

/** Whether the card has stayed in its position long enough: a press is then meant for it. */
export function useArmed(position: number): boolean {
  const [armedAt, setArmedAt] = useState<number | null>(null);
  useEffect(() => {
    setArmedAt(null);
    const timer = window.setTimeout(() => setArmedAt(position), ARMED_MS);
    return () => window.clearTimeout(timer);
  }, [position]);
  return armedAt === position;
}

/**
 * Sends a decision, and again until the kernel has resolved it, which takes the card away. Once it went out it may
 * have arrived, whatever became of the connection: it never counts as unsent, and no other can follow it.
 */
export function useSending(onDecide: (decision: IDecisionMessage) => boolean): {
  action: IDecisionMessage['action'] | null;
  /** Never sent. */
  problem: string;
  /** Sent, but the line is cut. */
  waiting: string;
  send: (decision: IDecisionMessage) => void;
} {
  const { trans } = useServices();
  const [sent, setSent] = useState<IDecisionMessage | null>(null);
  const [went, setWent] = useState(true);
  const post = useRef(onDecide);
  post.current = onDecide;
  const send = (decision: IDecisionMessage): void => {
    const goes = post.current(decision);
    setWent(goes);
    setSent(goes ? decision : null);
  };
  useEffect(() => {
    const timer = sent ? window.setInterval(() => setWent(post.current(sent)), RESEND_MS) : 0;
    return () => window.clearInterval(timer);
  }, [sent]);
  const isCut = !went;
  return {
    action: sent?.action ?? null,
    problem:
      isCut && !sent
        ? trans.__('Your decision was not sent: the kernel cannot be reached. Nothing was run.')
        : '',
    waiting:
      isCut && sent
        ? trans.__(
            'Your decision was sent, then the connection was lost. Waiting for the kernel to confirm it …'
          )
        : '',
    send
  };
}

/** Of the text as it is now: the kernel is asked again once an edit has settled. */
export function useEffectsOf(
  code: string,
  proposal: IProposal,
  look: ((code: string) => Promise<IEffects | null>) | undefined
): IEffects | null {
  const [found, setFound] = useState<{ code: string; effects: IEffects | null } | null>(null);
  const asked = useRef(look);
  asked.current = look;
  useEffect(() => {
    if (code === proposal.code || !asked.current) {
      return;
    }
    let stale = false;
    const timer = window.setTimeout(() => {
      // Without an answer, for whatever reason, the card states that it could not be determined.
      void asked.current!(code)
        .catch(() => null)
        .then(effects => !stale && setFound({ code, effects }));
    }, EDITED_MS);
    return () => {
      stale = true;
      window.clearTimeout(timer);
    };
  }, [code, proposal.code]);
  return code !== proposal.code && found ? found.effects : proposal.effects;
}
