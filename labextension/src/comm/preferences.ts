/** The user's settings of JupyterLab for the agent: what is sent to a kernel, and how one is kept. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';

import type { SettingValue } from '../protocol/messages';

/** Name in the kernel -> name in the settings of JupyterLab. */
const KEYS: Readonly<Record<string, string>> = {
  model: 'model',
  base_url: 'baseUrl',
  privacy: 'privacy',
  approve: 'approve',
  max_steps: 'maxSteps',
  timeout_s: 'timeout',
  context_tokens: 'contextTokens'
};
/** A registry that does not answer must not keep a page from its kernel. */
const READ_MS = 3000;

/** They come from the settings registry only: nothing in a notebook can set them. */
export class Preferences {
  constructor(loading: Promise<ISettingRegistry.ISettings> | null = null) {
    const late = new Promise<void>(resolve => setTimeout(resolve, READ_MS));
    this.ready = Promise.race([this._read(loading), late]);
  }

  readonly ready: Promise<void>;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** What the user, or the site, has set; nothing of what is merely the default. */
  get values(): Record<string, SettingValue> {
    const found = Object.entries(KEYS).map(([name, key]) => [name, this._settings?.get(key).composite]);
    return Object.fromEntries(
      found.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    ) as Record<string, SettingValue>;
  }

  get canSave(): boolean {
    return this._settings !== null;
  }

  /** Make these the user's settings; an empty text takes one away. */
  async save(values: Record<string, SettingValue>): Promise<void> {
    for (const [name, value] of Object.entries(values)) {
      await (value === '' ? this._settings?.remove(KEYS[name]) : this._settings?.set(KEYS[name], value));
    }
  }

  private async _read(loading: Promise<ISettingRegistry.ISettings> | null): Promise<void> {
    if (!loading) {
      return; // a front end without settings
    }
    try {
      this._settings = await loading;
      this._settings.changed.connect(() => this._changed.emit());
      this._changed.emit();
    } catch (error) {
      console.error('jupyter-codeagent: the settings were not read:', error);
    }
  }

  private _settings: ISettingRegistry.ISettings | null = null;
  private _changed = new Signal<this, void>(this);
}
