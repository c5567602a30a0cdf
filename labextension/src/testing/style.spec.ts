import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../style');
const SHEETS = readdirSync(FOLDER).filter(name => name.endsWith('.css'));
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf-8').replace(/\/\*.*?\*\//gs, '');
const SYSTEM_COLOURS =
  'Canvas CanvasText LinkText ButtonFace ButtonText ButtonBorder Field FieldText Highlight HighlightText GrayText Mark';
/** Properties that have a colour in them. */
const COLOURED = /(^|-)(color|background|border(-\w+)*|outline|shadow|fill|stroke)$/;
/** What is allowed there beside variables of the theme. */
const NO_COLOUR = new RegExp(
  [
    String.raw`var\(--(jp-[\w-]+|share)\)`,
    String.raw`(?<![\w#])-?\d*\.?\d+(px|em|%)?(?![\w%])`,
    '(?<![\\w-])(transparent|currentColor|inherit|none|solid|dashed|dotted|double|inset|calc|auto|content-box|linear-gradient|color-mix|in|srgb|to|left|right|url)(?![\\w-])',
    String.raw`[\s,()*+/-]`
  ].join('|'),
  'g'
);

/** `property: value` of every rule, with the media query around it. */
function declarations(css: string): { where: string; property: string; value: string }[] {
  const found = [];
  const open: string[] = [];
  for (const [, text, mark] of css.matchAll(/([^{};]*)([{};])/g)) {
    const colon = text.indexOf(':');
    if (mark === '{') {
      open.push(text.trim());
    } else {
      if (text.trim() && colon > 0) {
        const where = open.join(' ');
        found.push({ where, property: text.slice(0, colon).trim(), value: text.slice(colon + 1).trim() });
      }
      if (mark === '}') {
        open.pop();
      }
    }
  }
  return found;
}

function ownColours(css: string): string[] {
  return declarations(css)
    .filter(({ property }) => COLOURED.test(property) && !property.startsWith('forced-color'))
    .filter(({ where, value }) => {
      const forced = where.includes('forced-colors');
      const words = value.replace(NO_COLOUR, ' ').trim().split(/\s+/).filter(Boolean);
      return words.some(word => !(forced && SYSTEM_COLOURS.split(' ').includes(word)));
    })
    .map(({ where, property, value }) => `${where} { ${property}: ${value} }`);
}

describe('style sheets', () => {
  test.each(SHEETS)('%s has no colour but those of the theme', sheet => {
    expect(ownColours(read(sheet))).toEqual([]);
  });

  test('a colour of its own is found, however it is written', () => {
    const wrong = ['#fff', 'red', 'rgb(0 0 0 / 50%)', '1px solid hsl(0, 0%, 0%)', 'var(--x, blue)', 'Canvas'];
    wrong.forEach(value => expect(ownColours(`.a { border: ${value}; }`)).toHaveLength(1));
    const fine = ['2px solid var(--jp-brand-color1)', 'inset 3px 0 0 var(--jp-brand-color1)', 'currentColor'];
    fine.forEach(value => expect(ownColours(`.a { box-shadow: ${value} }`)).toEqual([]));
    expect(ownColours('@media (forced-colors: active) { .a { color: CanvasText; } }')).toEqual([]);
  });

  test.each(SHEETS)('%s moves nothing for who wants less motion', sheet => {
    const css = read(sheet);
    const moving = declarations(css).filter(
      ({ property, value }) =>
        /^(animation|transition|scroll-behavior)/.test(property) && !/^(none|auto)$/.test(value)
    );
    const unasked = moving.filter(({ where }) => !where.includes('prefers-reduced-motion: no-preference'));
    expect(unasked).toEqual([]);
  });

  test.each(SHEETS)('%s is imported, and short enough to be read', sheet => {
    expect(sheet === 'index.css' || read('index.css').includes(`'${sheet}'`)).toBe(true);
    expect(readFileSync(join(FOLDER, sheet), 'utf-8').split('\n').length).toBeLessThan(400);
  });
});
