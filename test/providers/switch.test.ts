import { describe, expect, it } from 'vitest';
import type { RemoteType } from '../../packages/server/src/config/provider-types.ts';
import { startTrio, TRIO_MODELS } from '../support/provider-trio.ts';

const TYPES = ['anthropic', 'openai', 'google'] as const satisfies readonly RemoteType[];
const PAIRS = TYPES.flatMap(from => TYPES.filter(to => to !== from).map(to => [from, to] as const));
/** What only the provider that gave it may get back. */
const OPAQUE: Readonly<Record<(typeof TYPES)[number], RegExp>> = {
  anthropic: /EqQBCkgSIGNED/,
  openai: /gAAAA|rs_\d/,
  google: /CikSIGNED/,
};

describe('a conversation', () => {
  it.each(PAIRS)('[product-provider-switch] goes from %s to %s and back, with thinking and tools', async (from, to) => {
    const trio = await startTrio({ [from]: ['step', 'thinking', 'step', 'text'], [to]: ['step', 'step', 'thinking'] });
    const { providers } = trio;
    const choose = (type: RemoteType) => ({
      requestedModel: { modelId: TRIO_MODELS[type], parameters: [{ id: 'effort', value: 'medium' }] },
    });
    const first = await trio.peer(from).turn('first question', choose(from));
    const second = await first.next().turn('second question', { ...choose(to), conversationState: first.state });
    const third = await second.next().turn('third question', { ...choose(from), conversationState: second.state });

    expect([first, second, third].map(({ fault }) => fault)).toEqual([undefined, undefined, undefined]);
    expect([providers[from]?.refusals, providers[to]?.refusals]).toEqual([[], []]);
    expect(providers[from]?.requests).toHaveLength(4);
    expect(providers[to]?.requests).toHaveLength(3);
    for (const { text } of providers[to]?.requests ?? []) expect(text).not.toMatch(OPAQUE[from]);
    for (const { text } of providers[from]?.requests ?? []) expect(text).not.toMatch(OPAQUE[to]);
    const last = providers[from]?.requests.at(-1)?.text ?? '';
    expect(last).toMatch(OPAQUE[from]);
    for (const said of ['first question', 'second question', 'third question', 'Done.']) expect(last).toContain(said);
    // one result of the first turn, two of the second, one of the third
    expect(last.split('the contents of a')).toHaveLength(5);
  });
});
