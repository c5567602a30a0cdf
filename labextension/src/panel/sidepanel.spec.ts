import { servicesOf } from '../testing/render';
import { AgentPanel } from './sidepanel';

describe('the keyboard comes into the panel', () => {
  const opened = (): AgentPanel => {
    const panel = new AgentPanel(servicesOf({}));
    document.body.append(panel.node);
    return panel;
  };
  const drawn = async (panel: AgentPanel): Promise<HTMLElement> => {
    await new Promise(resolve => window.setTimeout(resolve, 50));
    const button = document.createElement('button');
    panel.node.append(button);
    await new Promise(resolve => window.setTimeout(resolve, 50));
    return button;
  };

  it('however late what it goes to is drawn', async () => {
    const panel = opened();
    panel.takeFocus('button');
    const button = await drawn(panel);
    expect(document.activeElement).toBe(button);
    panel.dispose();
  });

  it('but not once the user has gone on', async () => {
    const panel = opened();
    panel.takeFocus('button');
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', bubbles: true }));
    const button = await drawn(panel);
    expect(document.activeElement).not.toBe(button);
    panel.dispose();
  });
});
