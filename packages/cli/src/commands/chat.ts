import { resolve } from 'node:path';
import { AttemptFailure } from '@tandem/client';
import { examineRules, openStore } from '@tandem/client/node';
import pc from 'picocolors';
import { createChatSession } from '../chat/chat-session.ts';
import type { ChatSession } from '../chat/chat-session.ts';
import { openPromptHistory } from '../chat/prompt-history.ts';
import { createScreen } from '../chat/screen.ts';
import type { Screen } from '../chat/screen.ts';
import { readChatLine, slashHelp } from '../chat/slash-command.ts';
import type { SlashName } from '../chat/slash-command.ts';
import type { ExitCode } from '../exit-code.ts';
import { EXIT } from '../exit-code.ts';
import { isKept } from '../history/find-conversation.ts';
import { firstPrompt, readTurns } from '../history/transcript.ts';
import { plainLine, plainText } from '../render/plain-text.ts';
import { wantsColours } from '../render/tty.ts';
import { openConversation } from '../run/conversation.ts';
import { folderProblem } from '../run/folder.ts';
import { modeProblem, openPlace, placeProblem } from '../run/place.ts';
import type { Surroundings } from '../surroundings.ts';
import type { RunOptions } from './run.ts';

/** The flags of `tandem chat`, as they were given. */
export type ChatOptions = Omit<RunOptions, 'output' | 'quiet'>;

const LINE_CHARACTERS = 100;
const CONVERSATIONS_SHOWN = 10;
/** What a turn may take to end once the chat is left. */
const LEAVE_MS = 1_500;
/** Commands that wait for nothing and change nothing that a turn under way relies on. */
const ANY_TIME: ReadonlySet<SlashName> = new Set(['help', 'cost', 'diff', 'exit']);

/**
 * A conversation turn by turn. What is typed while the agent works is told to it; Ctrl-C cancels the turn, a second one leaves.
 * It needs a terminal on both sides.
 */
export async function chat(options: ChatOptions, surroundings: Surroundings): Promise<ExitCode> {
  const { stdin, stdout, stderr, env, stop } = surroundings;
  const complain = (text: string) => stderr.write(`tandem: ${plainText(text)}\n`);
  const folder = resolve(surroundings.cwd, options.cwd ?? '.');
  const problem =
    (stdin.isTTY && stdout.isTTY
      ? undefined
      : 'chat needs a terminal on both sides; for scripts and pipes there is tandem run.') ??
    placeProblem(options) ??
    modeProblem(options.mode, options.server) ??
    folderProblem(folder);
  if (problem !== undefined) {
    complain(problem);
    return EXIT.usage;
  }
  const rules = examineRules(folder);
  if ('problem' in rules) {
    complain(rules.problem);
    return EXIT.usage;
  }
  const { continue: continues = false, resume: resumes } = options;
  const kept = await openConversation({ folder, continues, resumes, say: complain });
  if ('problem' in kept) {
    complain(kept.problem);
    return EXIT.usage;
  }
  const place = await openPlace(options, surroundings);
  if ('text' in place) {
    complain(place.text);
    return place.exitCode;
  }
  const history = openPromptHistory();
  const screen = createScreen(surroundings, history.texts);
  const hasColours = wantsColours(env);
  const { dim } = pc.createColors(hasColours);
  const say = (text: string) => screen.write(`${dim(plainText(text))}\n`);
  const permission = options.permission ?? 'ask';
  const session = createChatSession(
    { screen, place, folder, permission, hasColours, now: () => performance.now() },
    kept,
  );
  session.model = options.model;
  session.mode = options.mode;

  for (const notice of [...rules.notices, ...place.notices]) say(notice);
  if (kept.state && kept.blobs) say(await lastTurnText(kept.state, kept.blobs));
  say(`Chat in ${folder}. /help says what can be typed, /exit leaves.`);
  screen.refresh();

  const exitCode = await new Promise<ExitCode>(leave => {
    let isArmed = false;
    screen.onEnd = () => leave(EXIT.done);
    screen.onInterrupt = hadText => {
      if (session.isWorking) {
        if (session.cancel()) say('(cancelling; Ctrl-C again leaves)');
        else leave(EXIT.cancelled);
      } else if (isArmed && !hadText) leave(EXIT.done);
      else if (!hadText) say('(Ctrl-C again or /exit leaves)');
      isArmed = !hadText;
    };
    screen.onLine = line => {
      isArmed = false;
      if (line.trim() === '') return;
      screen.remember(line);
      history.add(line);
      const read = readChatLine(line);
      if (read.kind === 'unknown') say(`There is no /${read.name}; /help lists what there is.`);
      else if (read.kind === 'text') {
        if (session.isWorking) session.follow(read.text);
        else void session.send(read.text);
      } else if (read.name === 'exit') leave(EXIT.done);
      else if (session.isWorking && !ANY_TIME.has(read.name)) say(`/${read.name} has to wait until this turn is over.`);
      else void obey(read.name, read.argument, { session, screen, folder, server: options.server, say });
    };
    stop.addEventListener('abort', () => leave(EXIT.cancelled), { once: true });
    if (stop.aborted) leave(EXIT.cancelled);
  });

  const id = session.conversationId;
  const hadTurn = session.hasTurns;
  const late = new Promise<void>(done => setTimeout(done, LEAVE_MS).unref());
  await Promise.race([session.close(), late]);
  screen.close();
  if (hadTurn) stderr.write(`Go on with: tandem chat --resume ${id.slice(0, 8)}\n`);
  await Promise.race([place.close(), late]);
  return exitCode;
}

interface Ground {
  readonly session: ChatSession;
  readonly screen: Screen;
  readonly folder: string;
  /** The one that was named; absent, it is inside this process. */
  readonly server: string | undefined;
  readonly say: (text: string) => void;
}

/** Does what a command says. Never rejects: whatever fails is said. */
async function obey(
  name: SlashName,
  argument: string,
  { session, screen, folder, server, say }: Ground,
): Promise<void> {
  try {
    switch (name) {
      case 'help':
        say(slashHelp());
        return;
      case 'cost':
        say(session.usageText());
        return;
      case 'diff':
        screen.write(session.diffText());
        return;
      case 'mode':
        if (argument === 'agent' || argument === 'ask' || argument === 'plan') {
          const problem = modeProblem(argument, server);
          if (problem !== undefined) say(problem);
          else session.mode = argument;
        } else if (argument !== '') say(`There is no mode ${argument}.`);
        say(`Mode: ${session.mode ?? 'agent'} (agent, ask or plan).`);
        return;
      case 'model':
        await chooseModel(argument, session, say);
        return;
      case 'undo': {
        const undone = await session.undo();
        if (!undone) say('There is nothing to undo.');
        for (const path of undone?.restored ?? []) say(`Brought back ${path}`);
        for (const { path, reason } of undone?.skipped ?? []) say(`Left alone ${path}: ${reason}`);
        return;
      }
      case 'new':
        say((await session.change(undefined)) ?? 'A new conversation.');
        return;
      case 'resume':
        if (argument !== '') say((await session.change(argument)) ?? `Going on with ${session.conversationId}.`);
        else say(await conversationsText(folder));
        return;
      case 'exit':
        return;
    }
  } catch (error) {
    say(`/${name} failed: ${(error as Error).message}`);
  }
}

async function chooseModel(argument: string, session: ChatSession, say: (text: string) => void): Promise<void> {
  let items;
  try {
    items = await session.client.models();
  } catch (error) {
    if (!(error instanceof AttemptFailure)) throw error;
    say(error.message);
    return;
  }
  const plainId = argument.replace(/\[.*\]$/, '');
  const known = items.some(({ id, aliases }) => id === plainId || aliases?.includes(plainId));
  if (argument !== '' && known) session.model = argument;
  else if (argument !== '') say(`The server lists no model ${argument}.`);
  const list =
    argument !== '' && known
      ? []
      : items.map(({ id, displayName }) => `  ${id}${displayName && displayName !== id ? `  ${displayName}` : ''}`);
  say([`Model: ${session.model ?? `${items[0]?.id ?? 'none'} (the default)`}.`, ...list].join('\n'));
}

async function conversationsText(folder: string): Promise<string> {
  const store = openStore();
  try {
    const found = (await store.list({ cwd: folder })).filter(isKept).slice(0, CONVERSATIONS_SHOWN);
    const lines = await Promise.all(
      found.map(
        async ({ id, firstTurn }) =>
          `  ${id.slice(0, 8)}  ${plainLine(await firstPrompt(firstTurn, store.blobs), LINE_CHARACTERS)}`,
      ),
    );
    return lines.length === 0
      ? 'There is no other conversation in this folder.'
      : `/resume ID goes on with one:\n${lines.join('\n')}`;
  } finally {
    store.close();
  }
}

/** Where a conversation was left: its last prompt and the end of its last answer. */
async function lastTurnText(...[state, blobs]: Parameters<typeof readTurns>): Promise<string> {
  const turn = (await readTurns(state, blobs)).at(-1);
  const answer = turn?.steps.findLast(step => step.type === 'text');
  const lines = [
    turn && `› ${plainLine(turn.prompt, LINE_CHARACTERS)}`,
    answer?.type === 'text' && plainLine(answer.text, 3 * LINE_CHARACTERS),
  ];
  return ['Going on after:', ...lines].filter(Boolean).join('\n');
}
