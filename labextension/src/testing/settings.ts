/** The user's settings of JupyterLab, as the registry gives them. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal } from '@lumino/signaling';

export function settingsOf(values: Record<string, unknown>): Promise<ISettingRegistry.ISettings> {
  const settings = {
    get: (key: string) => ({ composite: values[key], user: values[key] }),
    set: (key: string, value: unknown) => Promise.resolve(void (values[key] = value)),
    remove: (key: string) => Promise.resolve(void delete values[key])
  } as unknown as { changed: unknown };
  settings.changed = new Signal(settings);
  return Promise.resolve(settings as unknown as ISettingRegistry.ISettings);
}
