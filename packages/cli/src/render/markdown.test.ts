import { describe, expect, it } from 'vitest';
import { createMarkdownStream } from './markdown.ts';

const tag = (name: string) => (text: string) => `<${name}>${text}</${name}>`;
const paint = { strong: tag('b'), emphasis: tag('i'), code: tag('c'), heading: tag('h'), faint: tag('f') };

/** What is shown, with neighbours of one look joined; written whole, or a character at a time. */
function shown(text: string, isSplit = false): string {
  const stream = createMarkdownStream(paint);
  const pieces = isSplit ? Array.from(text) : [text];
  const all = pieces.map(piece => stream.write(piece)).join('') + stream.end();
  return all.replace(/<\/(\w)><\1>/g, '');
}

describe.each([false, true])('Markdown as it streams (a character at a time: %s)', isSplit => {
  it.each([
    ['plain words', 'plain words'],
    ['# Title\nText', '<h>Title</h>\nText'],
    ['#no heading', '#no heading'],
    ['a **b** c', 'a <b>b</b> c'],
    ['a *b* _c_ d', 'a <i>b</i> <i>c</i> d'],
    ['`a*b*` c', '<c>a*b*</c> c'],
    ['- one\n  * two\n+ three', '• one\n  • two\n• three'],
    ['> said', '<f>│</f> said'],
    ['---\n***', '<f>---</f>\n<f>***</f>'],
    ['```js\nlet a = **b**;\n```\nx', '<f>```js</f>\n<c>let a = **b**;</c>\n<f>```</f>\nx'],
    ['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
    ['\\*not\\* \\n', '*not* \\n'],
    ['**open\nnext', '<b>open</b>\nnext'],
    ['1. one\n2. **two**', '1. one\n2. <b>two</b>'],
    ['a ** b', 'a ** b'],
    ['', ''],
    ['**', '**'],
  ])('shows %j', (text, expected) => {
    expect(shown(text, isSplit)).toBe(expected);
  });
});

it('[product-markdown] holds back no more than the next character decides', () => {
  const stream = createMarkdownStream(paint);
  expect([stream.write('Hel'), stream.write('lo **'), stream.write('wor'), stream.write('ld**'), stream.end()]).toEqual(
    ['Hel', 'lo ', '<b>wor</b>', '<b>ld</b>', ''],
  );
});
