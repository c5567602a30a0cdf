/** What a press of a button or a key starts, and nobody waits for. */
import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Never rejects: an error becomes a notification: the user alone can do something about it. `what` is its label. */
export async function attempt(trans: TranslationBundle, what: string, act: () => unknown): Promise<void> {
  try {
    await act();
  } catch (error) {
    console.error(`jupyter-codeagent: ${what}:`, error);
    notifyOnce(
      trans.__(
        '“%1” failed: %2 — Try again. If it fails again, save your notebooks and reload the page.',
        what,
        error instanceof Error ? error.message : String(error)
      )
    );
  }
}

/** The same failure of many cells is one notice. */
function notifyOnce(text: string): void {
  if (!Notification.manager.notifications.some(displayed => displayed.message === text)) {
    Notification.error(text, { autoClose: false });
  }
}
