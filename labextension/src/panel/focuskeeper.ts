/** Keep the keyboard focus nearby when what has the focus goes away, as a button does that did its work. */

const FOCUSABLE =
  'button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, ' +
  '[contenteditable=true], [tabindex]:not([tabindex="-1"])';

/** Watch a node until the returned function is called. The browser would start again at the top of the page. */
export function keepFocusIn(root: HTMLElement): () => void {
  /** What had the focus, and what it was in, from inside to outside. */
  let path: HTMLElement[] = [];
  const remember = (event: FocusEvent): void => {
    path = [];
    for (let node = event.target as HTMLElement | null; node && node !== root; node = node.parentElement) {
      path.push(node);
    }
  };
  const forget = (event: FocusEvent): void => {
    // A focus that the user moved stays where it is; the focus of what is removed or disabled goes nowhere.
    if (event.relatedTarget && !root.contains(event.relatedTarget as Node)) {
      path = [];
    }
  };
  const restore = (): void => {
    if (path.length > 0 && isLost(root.ownerDocument) && isGone(path[0])) {
      const ancestor = path.find(node => node.isConnected && root.contains(node) && node !== path[0]);
      (firstFocusable(ancestor) ?? firstFocusable(root))?.focus();
    }
  };
  const observer = new MutationObserver(restore);
  observer.observe(root, { childList: true, subtree: true, attributeFilter: ['disabled', 'hidden'] });
  // A click elsewhere in the page means it: nothing is to be brought back then.
  const clicked = (event: Event): void => {
    if (!root.contains(event.target as Node)) {
      path = [];
    }
  };
  root.addEventListener('focusin', remember);
  root.addEventListener('focusout', forget);
  root.ownerDocument.addEventListener('pointerdown', clicked, true);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', remember);
    root.removeEventListener('focusout', forget);
    root.ownerDocument.removeEventListener('pointerdown', clicked, true);
  };
}

function isLost(page: Document): boolean {
  return page.activeElement === null || page.activeElement === page.body;
}

function isGone(node: HTMLElement): boolean {
  return !node.isConnected || node.matches(':disabled') || node.closest('[hidden]') !== null;
}

function firstFocusable(ancestor: HTMLElement | undefined): HTMLElement | null {
  return ancestor?.querySelector<HTMLElement>(FOCUSABLE) ?? null;
}
