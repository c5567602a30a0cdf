import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { stringsOf, stringsOfSources } from './strings';

const CATALOGUE = '../../../jupyter_codeagent/locale/de_DE/LC_MESSAGES/jupyter_codeagent.json';
/** What is typed as it is in every language. */
const TYPED = ['%load_ext jupyter_codeagent', '%%agent'];
const found = stringsOfSources();
const german = JSON.parse(readFileSync(join(import.meta.dirname, CATALOGUE), 'utf-8')) as Record<
  string,
  string[]
>;
const entries = Object.entries(german).filter(([text]) => text !== '');

describe('language', () => {
  test('every text that a user reads goes through the translator', () => {
    const visible = found.untranslated.filter(one => !TYPED.some(typed => one.includes(typed)));
    expect(visible).toEqual([]);
    expect(found.computed).toEqual([]);
    expect(found.messages.length).toBeGreaterThan(150);
  });

  test('texts in JSX, attributes and properties are found when they are not translated', () => {
    const source =
      "const a = <p title='Read me'>{yes ? 'In braces' : ''}In text {trans.__('Fine %1', 1)}</p>;\n" +
      "node.textContent = 'Set'; node.setAttribute('aria-label', `Said ${x}`); trans.__(word);";
    const { messages, untranslated, computed } = stringsOf(source);
    expect(untranslated.map(one => one.replace(/^.*?: /, '')).sort()).toEqual([
      'In braces',
      'In text',
      'Read me',
      'Said',
      'Set'
    ]);
    expect(messages.map(one => one.text)).toEqual(['Fine %1']);
    expect(computed).toHaveLength(1);
  });

  test('the German catalogue has every text, in singular and plural', () => {
    const missing = found.messages.filter(
      message => german[message.text]?.length !== (message.plural === undefined ? 1 : 2)
    );
    expect(missing.map(message => `${message.where}: ${message.text}`)).toEqual([]);
  });

  test('the German catalogue has no text that is not in the sources', () => {
    const known = new Set(found.messages.map(message => message.text));
    expect(entries.map(([text]) => text).filter(text => !known.has(text))).toEqual([]);
  });

  test('the translations have the placeholders of the texts', () => {
    const plurals = new Map(found.messages.map(message => [message.text, message.plural]));
    const wrong = entries.filter(([text, translations]) =>
      translations.some((translation, number) => {
        const original = number === 1 ? (plurals.get(text) ?? text) : text;
        return placeholders(original) !== placeholders(translation);
      })
    );
    expect(wrong).toEqual([]);
  });
});

function placeholders(text: string): string {
  return (text.match(/%\d/g) ?? []).sort().join();
}
