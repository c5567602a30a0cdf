/** What the panel remembers over a reload: kept in JupyterLab's state database, one entry for all of it. */
import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

const ENTRY = 'jupyter-codeagent:panel';
/** Drafts of notebooks that nobody opens any more go, the oldest first. */
const MAX_TEXTS = 50;
/** A draft is written when the typing pauses. */
const WRITE_MS = 300;

/** Texts by name. Without a database (a front end that has none) they last as long as the page. */
export class PanelMemory {
  constructor(private readonly _database: IStateDB | null = null) {
    this.restored = this._restore().catch(error => {
      console.error('jupyter-codeagent: the panel’s state was not read:', error);
    });
  }

  /** Resolves when what an earlier page left has been read. */
  readonly restored: Promise<void>;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get(name: string): string {
    return this._texts.get(name) ?? '';
  }

  set(name: string, text: string): void {
    if (this.get(name) === text) {
      return;
    }
    this._texts.delete(name); // to the end: the order is the age
    if (text !== '') {
      this._texts.set(name, text);
    }
    for (const oldest of [...this._texts.keys()].slice(0, Math.max(0, this._texts.size - MAX_TEXTS))) {
      this._texts.delete(oldest);
    }
    this._changed.emit();
    this._writeSoon();
  }

  private async _restore(): Promise<void> {
    const found = await this._database?.fetch(ENTRY);
    for (const [name, text] of textsOf(found)) {
      // What was typed before the database answered is newer.
      if (!this._texts.has(name)) {
        this._texts.set(name, text);
      }
    }
    this._changed.emit();
  }

  private _writeSoon(): void {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(() => {
      const written = this._database?.save(ENTRY, Object.fromEntries(this._texts));
      written?.catch(error => console.error('jupyter-codeagent: the panel’s state was not kept:', error));
    }, WRITE_MS);
  }

  private _texts = new Map<string, string>();
  private _timer = 0;
  private _changed = new Signal<this, void>(this);
}

function textsOf(found: ReadonlyPartialJSONValue | undefined): [string, string][] {
  const entries = found !== null && typeof found === 'object' ? Object.entries(found) : [];
  return entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
}
