import { keepFocusIn } from './focuskeeper';

describe('the focus in the panel', () => {
  let root: HTMLElement;
  let stop: () => void;
  const later = (): Promise<void> => new Promise(resolve => setTimeout(resolve));

  beforeEach(() => {
    document.body.innerHTML =
      '<div id="root"><button id="tab"></button><ul><li><button id="a"></button></li>' +
      '<li><button id="b"></button></li></ul></div><button id="elsewhere"></button>';
    root = document.getElementById('root')!;
    stop = keepFocusIn(root);
  });
  afterEach(() => stop());
  const focused = (): string => document.activeElement!.id;
  const get = (id: string): HTMLElement => document.getElementById(id)!;

  test('goes on to what is nearest when its button is taken away', async () => {
    get('a').focus();
    get('a').parentElement!.remove();
    await later();
    expect(focused()).toBe('b');
  });

  test('goes to the first thing of the panel when nothing near is left', async () => {
    get('b').focus();
    root.querySelector('ul')!.remove();
    await later();
    expect(focused()).toBe('tab');
  });

  test('is not taken from where the user went meanwhile', async () => {
    get('a').focus();
    get('elsewhere').focus();
    get('a').parentElement!.remove();
    await later();
    expect(focused()).toBe('elsewhere');
    get('elsewhere').blur();
    root.querySelector('ul')!.remove();
    await later();
    expect(document.activeElement).toBe(document.body);
  });

  test('is left alone once the panel is closed', async () => {
    get('a').focus();
    stop();
    get('a').parentElement!.remove();
    await later();
    expect(document.activeElement).toBe(document.body);
  });
});
