import { resolve } from 'node:path';
import { AgentClient } from '@tandem/client';
import type { EndEvent, Mode, Run, RunEvent, Usage } from '@tandem/client';
import { answersByPermission, examineRules, nodeExecutors, nodeTransport } from '@tandem/client/node';
import type { PermissionMode } from '@tandem/client/node';
import pc from 'picocolors';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { createJsonRender, createStreamJsonRender } from '../render/json.ts';
import { createPlainRender } from '../render/plain.ts';
import { plainText } from '../render/plain-text.ts';
import { createQuietRender } from '../render/quiet.ts';
import type { Render } from '../render/render.ts';
import { endUnbegun } from '../render/render.ts';
import { createStatusLine } from '../render/status-line.ts';
import type { StatusLine } from '../render/status-line.ts';
import { createTtyRender, wantsColours } from '../render/tty.ts';
import { openConversation } from '../run/conversation.ts';
import type { Conversation } from '../run/conversation.ts';
import { folderProblem } from '../run/folder.ts';
import { createLineReader } from '../run/line-reader.ts';
import { modeProblem, openPlace, placeProblem } from '../run/place.ts';
import type { PlaceOptions } from '../run/place.ts';
import { followModel } from '../run/answering-model.ts';
import type { AnsweringModel } from '../run/answering-model.ts';
import { readPrompt } from '../run/prompt.ts';
import { createQuestions } from '../run/questions.ts';
import type { Surroundings } from '../surroundings.ts';
import { untilAborted, writeTo } from '../surroundings.ts';

/** The flags of `tandem run`, as they were given. */
export interface RunOptions extends PlaceOptions {
  readonly model?: string;
  readonly mode?: Mode;
  readonly cwd?: string;
  readonly output?: 'text' | 'json' | 'stream-json';
  readonly quiet?: boolean;
  readonly permission?: PermissionMode;
  readonly continue?: boolean;
  readonly resume?: string;
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
  const { stdin, stdout, stderr, stop, stopNow } = surroundings;
  const folder = resolve(surroundings.cwd, options.cwd ?? '.');
  let answering: AnsweringModel | undefined;
  const render = renderOf(options, folder, surroundings, () => answering);
  const status = statusOf(options, folder, surroundings);
  const say = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  let hasEnded = false;
  const show = async (event: RunEvent) => {
    if (hasEnded) return; // it was left, and the end is told
    hasEnded = event.type === 'end';
    status?.note(event);
    const pieces = render(event);
    if (pieces.length > 0) status?.hide();
    for (const { to, text } of pieces) await writeTo(to === 'stdout' ? stdout : stderr, text);
    // in a line that is still being written it would stand in the way
    if (pieces.at(-1)?.text.endsWith('\n') && !hasEnded) status?.show();
  };
  const refuse = async (title: string, message: string, exitCode: ExitCode): Promise<ExitCode> => {
    if (isText(options)) say(message);
    else {
      say(message);
      await show(endUnbegun(title, message, exitCode === EXIT.usage ? 'invalid_argument' : 'failed_precondition'));
    }
    return exitCode;
  };

  const problem =
    placeProblem(options) ??
    modeProblem(options.mode, options.server) ??
    quietProblem(options) ??
    folderProblem(folder);
  if (problem !== undefined) return refuse('Wrong usage', problem, EXIT.usage);
  const rules = examineRules(folder);
  if ('problem' in rules) return refuse('Wrong permissions file', rules.problem, EXIT.usage);
  for (const notice of rules.notices) say(notice);
  const reading = await readPrompt(argument, { stdin, stop, folder });
  if (stop.aborted) return leave(show, '');
  if ('problem' in reading) return refuse('No prompt', reading.problem, EXIT.usage);
  for (const notice of reading.notices) say(notice);
  const conversation = await openConversation({
    folder,
    continues: options.continue === true,
    resumes: options.resume,
    say,
  });
  if ('problem' in conversation) return refuse('No conversation', conversation.problem, EXIT.usage);
  const place = await openPlace(options, surroundings);
  if ('text' in place) return refuse('The server did not start', place.text, place.exitCode);
  for (const notice of place.notices) say(notice);

  const isTerminal = stdin.isTTY === true && stderr.isTTY === true;
  const permission = options.permission ?? (isTerminal ? 'ask' : 'read-only');
  const lines = isTerminal ? createLineReader(surroundings) : undefined;
  const questions =
    lines &&
    createQuestions(
      {
        write: text => {
          status?.hide();
          lines.write(text);
        },
        readLine: async (label, signal) => {
          status?.hide();
          const line = await lines.readLine(label, signal);
          status?.show();
          return line;
        },
      },
      permission,
    );
  const client = new AgentClient({
    baseUrl: place.url,
    transport: nodeTransport({ http2: 'never' }),
    ...(place.apiKey !== undefined && { apiKey: place.apiKey }),
    ...(conversation.blobs && { blobs: conversation.blobs }),
    executors: nodeExecutors({
      workspace: folder,
      permission,
      onFileChange: conversation.recordChange,
      onRuleKept: (rule, file) => say(`The rule "${rule}" for this folder is kept in ${file}.`),
      ...(questions && permission !== 'read-only' && { ask: questions.ask }),
    }),
    answerQuery: questions?.answerQuery ?? answersByPermission(permission),
  });
  await conversation.beginTurn();
  status?.show();
  // only these outputs tell of it
  if (options.output === 'json' || (isText(options) && !options.quiet)) answering = followModel(client, options.model);
  const turn = client.run({
    prompt: reading.prompt,
    conversationId: conversation.id,
    signal: stop,
    images: reading.images,
    ...(options.model !== undefined && { model: options.model }),
    ...(options.mode !== undefined && { mode: options.mode }),
    ...(conversation.state && { state: conversation.state }),
  });
  const exitCode = await Promise.race([
    follow(turn, conversation, async event => {
      answering?.note(event);
      if (event.type === 'end') await answering?.listed;
      await show(event);
    }),
    untilAborted(stopNow).then(() => leave(show, conversation.id)),
  ]);
  status?.close();
  lines?.close();
  if (!stopNow.aborted) await Promise.race([place.close(), untilAborted(stopNow)]);
  if (!stopNow.aborted) await Promise.race([conversation.tidy(), untilAborted(stopNow)]);
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
  if (outcome !== 'ended') await conversation.drop();
  return EXITS[outcome];
}

/** Tells the end of a run that is not waited for. */
async function leave(show: (event: RunEvent) => Promise<void>, conversationId: string): Promise<ExitCode> {
  await show({ type: 'end', outcome: 'cancelled', text: '', conversationId });
  return EXIT.cancelled;
}

function renderOf(
  options: RunOptions,
  folder: string,
  { stdout, env }: Surroundings,
  answering: () => AnsweringModel | undefined,
): Render {
  if (options.output === 'stream-json') return createStreamJsonRender();
  if (options.output === 'json') return createJsonRender(() => answering()?.id);
  if (options.quiet) return createQuietRender();
  const look = {
    folder,
    now: () => performance.now(),
    costOf: (usage: Usage | undefined) => answering()?.costOf(usage),
  };
  return stdout.isTTY ? createTtyRender({ ...look, hasColours: wantsColours(env) }) : createPlainRender(look);
}

/** Only where a person looks on: a terminal for both streams, and text. */
function statusOf(options: RunOptions, folder: string, { stdout, stderr, env }: Surroundings): StatusLine | undefined {
  if (!isText(options) || !stderr.isTTY || !stdout.isTTY || env['TERM'] === 'dumb') return undefined;
  const { dim } = pc.createColors(wantsColours(env));
  return createStatusLine({ output: stderr, folder, now: () => performance.now(), faint: dim });
}

function quietProblem(options: RunOptions): string | undefined {
  if (!options.quiet || isText(options)) return undefined;
  return `--quiet is about text; leave it out with --output ${options.output}.`;
}

function isText({ output }: RunOptions): boolean {
  return output === undefined || output === 'text';
}
