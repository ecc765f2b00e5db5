import type { OutlineMessage } from './outline.ts';

/** A message of a wire on which two roles alternate. */
export interface Turn<Block> {
  role: 'user' | 'assistant';
  content: Block[];
}

/** What stands where such a wire wants a message of the user and the history has none. */
const BEGINNING = '[The beginning of the conversation was left out.]';
const CONTINUE = 'Continue.';

/**
 * A history as turns: the user is first and last, neighbours of one role are one message, and results come before anything else
 * that the user says in theirs.
 *
 * @param blocksOf the blocks of one message
 * @param textBlock a block of text
 */
export function alternateTurns<Block>(
  outline: readonly OutlineMessage[],
  blocksOf: (message: OutlineMessage) => Block[],
  textBlock: (text: string) => Block,
): Turn<Block>[] {
  const turns: Turn<Block>[] = [];
  const add = (role: 'user' | 'assistant', content: Block[]) => {
    if (content.length === 0) return;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  };
  for (const message of outline) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    if (role === 'assistant' && turns.length === 0) add('user', [textBlock(BEGINNING)]);
    add(role, blocksOf(message));
  }
  if (turns.at(-1)?.role !== 'user') add('user', [textBlock(CONTINUE)]);
  return turns;
}

/**
 * Whether thinking can be asked for: a turn that is under way and began without it, under another model or with thinking off,
 * has to end without it, since such a wire refuses calls that no thinking stands before.
 */
export function mayThink<Block>(
  turns: readonly Turn<Block>[],
  isResult: (block: Block) => boolean,
  isThought: (block: Block | undefined) => boolean,
): boolean {
  const begin = turns.findLastIndex(({ role, content }) => role === 'user' && !content.some(isResult));
  const step = turns.slice(begin + 1).find(({ role }) => role === 'assistant');
  return step === undefined || isThought(step.content[0]);
}
