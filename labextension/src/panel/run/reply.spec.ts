import { roughTokens, splitReply } from './reply';

const CODE = 'import pandas as pd\ndf.n.sum()\n';

it.each([
  [
    'the whole reply',
    `Let me see.\n\`\`\`python\n${CODE}\`\`\`\nThat is it.`,
    'Let me see.\n\nThat is it.',
    CODE
  ],
  ['a block that is not complete', `\`\`\`python\n${CODE}`, '', CODE],
  ['a fence that has just begun', 'Let me see.\n```python', 'Let me see.', ''],
  ['tildes', `~~~\n${CODE}~~~`, '', CODE],
  ['a block that was prefilled for the model', `${CODE}\`\`\`\nDone.`, 'Done.', CODE],
  ['code without any fence', CODE, '', CODE],
  ['an assignment', 'late = flights[flights.delay > 0]', '', 'late = flights[flights.delay > 0]'],
  ['prose alone', 'The flights of March', 'The flights of March', ''],
  ['nothing', '', '', '']
])('a reply is split into prose and code: %s', (_, text, prose, code) => {
  expect(splitReply(text)).toEqual({ prose, code });
});

it('code only grows while the reply grows, so that it can be appended', () => {
  const whole = `Some words.\n\`\`\`python\n${CODE}x = 1\n\`\`\`\nSome more.`;
  let before = '';
  for (let end = 0; end <= whole.length; end++) {
    const { code } = splitReply(whole.slice(0, end));
    // The closing fence may be seen as code for as long as it is not complete.
    if (!code.startsWith(before)) {
      expect(before.slice(code.length)).toMatch(/^`{1,2}$/);
    }
    before = code;
  }
  expect(before).toBe(`${CODE}x = 1\n`);
});

it('tokens are estimated by length', () => {
  expect([roughTokens(''), roughTokens('x'.repeat(400))]).toEqual([0, 100]);
});
