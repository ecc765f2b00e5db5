import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { AgentClient } from '@tandem/client';
import type { EndEvent, Mode, Run, RunEvent } from '@tandem/client';
import { answersByPermission, nodeExecutors } from '@tandem/client/node';
import type { PermissionMode } from '@tandem/client/node';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { createJsonRender, createStreamJsonRender } from '../render/json.ts';
import { createPlainRender } from '../render/plain.ts';
import { plainText } from '../render/plain-text.ts';
import type { Render } from '../render/render.ts';
import { endUnbegun } from '../render/render.ts';
import { createTtyRender, wantsColours } from '../render/tty.ts';
import { openConversation } from '../run/conversation.ts';
import type { Conversation } from '../run/conversation.ts';
import { readPrompt } from '../run/prompt.ts';
import { createTerminalQuestions } from '../run/terminal-questions.ts';
import type { Surroundings } from '../surroundings.ts';
import { untilAborted, writeTo } from '../surroundings.ts';

/** The flags of `tandem run`, as they were given. */
export interface RunOptions {
  readonly model?: string;
  readonly mode?: Mode;
  readonly cwd?: string;
  readonly server?: string;
  readonly key?: string;
  readonly output?: 'text' | 'json' | 'stream-json';
  readonly permission?: PermissionMode;
  readonly continue?: boolean;
  readonly resume?: string;
  readonly config?: string;
}

const EXITS: Readonly<Record<EndEvent['outcome'], ExitCode>> = {
  ended: EXIT.done,
  failed: EXIT.failed,
  cancelled: EXIT.cancelled,
};

/**
 * One turn in a folder, against the server that `--server` names or one inside this process. However it goes, the output has an end.
 * The first signal cancels the run in order, the second one leaves at once.
 */
export async function run(
  argument: string | undefined,
  options: RunOptions,
  surroundings: Surroundings,
): Promise<ExitCode> {
  const { stdin, stdout, stderr, env, stop, stopNow } = surroundings;
  const folder = resolve(surroundings.cwd, options.cwd ?? '.');
  const render = renderOf(options, folder, surroundings);
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  let hasEnded = false;
  const show = async (event: RunEvent) => {
    if (hasEnded) return; // it was left, and the end is told
    hasEnded = event.type === 'end';
    for (const { to, text } of render(event)) await writeTo(to === 'stdout' ? stdout : stderr, text);
  };
  const refuse = async (title: string, message: string, exitCode: ExitCode): Promise<ExitCode> => {
    if (options.output === undefined || options.output === 'text') say(message);
    else {
      say(message);
      await show(endUnbegun(title, message, exitCode === EXIT.usage ? 'invalid_argument' : 'failed_precondition'));
    }
    return exitCode;
  };

  const problem = problemOf(options, folder);
  if (problem !== undefined) return refuse('Wrong usage', problem, EXIT.usage);
  const reading = await readPrompt(argument, stdin, stop);
  if (stop.aborted) return leave(show, '');
  if ('problem' in reading) return refuse('No prompt', reading.problem, EXIT.usage);
  const conversation = await openConversation({
    folder,
    continues: options.continue === true,
    resumes: options.resume,
    say,
  });
  if ('problem' in conversation) return refuse('No conversation', conversation.problem, EXIT.usage);
  const place = await serverOf(options, surroundings);
  if ('text' in place) return refuse('The server did not start', place.text, place.exitCode);
  for (const notice of place.notices) say(notice);

  const isTerminal = stdin.isTTY === true && stderr.isTTY === true;
  const permission = options.permission ?? (isTerminal ? 'ask' : 'read-only');
  const questions = isTerminal && permission !== 'read-only' ? createTerminalQuestions({ stdin, stderr }) : undefined;
  const apiKey = place.apiKey ?? options.key ?? env['TANDEM_API_KEY'];
  const client = new AgentClient({
    baseUrl: place.url,
    ...(apiKey !== undefined && { apiKey }),
    ...(conversation.blobs && { blobs: conversation.blobs }),
    executors: nodeExecutors({ workspace: folder, permission, ...(questions && { ask: questions.ask }) }),
    answerQuery: permission === 'ask' && questions ? questions.answerQuery : answersByPermission(permission),
  });
  const turn = client.run({
    prompt: reading.prompt,
    conversationId: conversation.id,
    signal: stop,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.mode !== undefined && { mode: options.mode }),
    ...(conversation.state && { state: conversation.state }),
  });
  const exitCode = await Promise.race([
    follow(turn, conversation, show),
    untilAborted(stopNow).then(() => leave(show, conversation.id)),
  ]);
  questions?.close();
  if (!stopNow.aborted) await Promise.race([place.close(), untilAborted(stopNow)]);
  conversation.close();
  return exitCode;
}

/** Shows a run to its end, keeping every checkpoint before what follows it is shown. */
async function follow(
  turn: Run,
  conversation: Conversation,
  show: (event: RunEvent) => Promise<void>,
): Promise<ExitCode> {
  for await (const event of turn) {
    if (event.type === 'checkpoint' || event.type === 'end') await conversation.save(turn.state);
    await show(event);
  }
  const { outcome } = await turn.done;
  return EXITS[outcome];
}

/** Tells the end of a run that is not waited for. */
async function leave(show: (event: RunEvent) => Promise<void>, conversationId: string): Promise<ExitCode> {
  await show({ type: 'end', outcome: 'cancelled', text: '', conversationId });
  return EXIT.cancelled;
}

function renderOf(options: RunOptions, folder: string, { stdout, env }: Surroundings): Render {
  if (options.output === 'stream-json') return createStreamJsonRender();
  if (options.output === 'json') return createJsonRender();
  const look = { folder, now: () => performance.now() };
  return stdout.isTTY ? createTtyRender({ ...look, hasColours: wantsColours(env) }) : createPlainRender(look);
}

/** The server that was named; else one inside this process, whose code is loaded only then. */
async function serverOf(options: RunOptions, surroundings: Surroundings) {
  if (options.server !== undefined) {
    return { url: options.server, apiKey: undefined, notices: [], close: () => Promise.resolve() };
  }
  const { startOwnServer } = await import('../run/own-server.ts');
  return startOwnServer(options.config === undefined ? {} : { config: options.config }, surroundings);
}

function problemOf({ server, key, config }: RunOptions, folder: string): string | undefined {
  if (server !== undefined && !(URL.canParse(server) && /^https?:$/.test(new URL(server).protocol))) {
    return `--server takes an http or https address such as http://127.0.0.1:7788, and ${JSON.stringify(server)} is none.`;
  }
  if (server !== undefined && config !== undefined)
    return '--config is about a server inside this process; leave it out with --server.';
  if (key !== undefined && server === undefined)
    return '--key is for the server that --server names; without one there is nobody to give it to.';
  const found = statSync(folder, { throwIfNoEntry: false });
  if (!found) return `There is no folder ${folder}. Give one that exists with --cwd.`;
  if (!found.isDirectory()) return `${folder} is a file. Give a folder with --cwd.`;
  return undefined;
}
