import { openStore, stateFolder } from '@tandem/client/node';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { findConversation } from '../history/find-conversation.ts';
import { readTurns } from '../history/transcript.ts';
import { createPlainRender } from '../render/plain.ts';
import { plainJson, plainText } from '../render/plain-text.ts';
import { createTtyRender, wantsColours } from '../render/tty.ts';
import type { Surroundings } from '../surroundings.ts';
import { writeTo } from '../surroundings.ts';

/** The flags of `tandem show`, as they were given. */
export interface ShowOptions {
  readonly json?: boolean;
}

/**
 * One conversation as it went: what was asked, what was done, what was answered.
 *
 * @param id a conversation's id, or as much of its beginning as no other one shares
 */
export async function show(id: string, options: ShowOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdout, stderr, env, stop } = surroundings;
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  const store = openStore();
  try {
    const found = await findConversation(store, id);
    if ('problem' in found) {
      say(found.problem);
      return EXIT.usage;
    }
    const { state, cwd: folder } = found;
    const look = { folder, now: () => 0 };
    for (const turn of await readTurns(state, store.blobs)) {
      if (stop.aborted) return EXIT.cancelled;
      if (options.json) {
        await writeTo(stdout, `${plainJson(turn)}\n`);
        continue;
      }
      const render = stdout.isTTY
        ? createTtyRender({ ...look, hasColours: wantsColours(env) })
        : createPlainRender(look);
      await writeTo(stdout, `› ${plainText(turn.prompt).replaceAll('\n', '\n  ')}\n\n`);
      for (const step of turn.steps) {
        for (const { text } of render(step)) await writeTo(stdout, text);
        if (step.type === 'text' && !step.text.endsWith('\n'))
          await writeTo(stdout, render({ type: 'text', text: '\n' })[0]?.text ?? '');
      }
      await writeTo(stdout, '\n');
    }
    return EXIT.done;
  } catch (error) {
    say(`The conversations in ${stateFolder()} cannot be read: ${(error as Error).message}.`);
    return EXIT.failed;
  } finally {
    store.close();
  }
}
