import { AgentClient } from '@tandem/client';
import type { Conversation as Talk, Mode, ToolEvent } from '@tandem/client';
import { nodeExecutors, nodeTransport } from '@tandem/client/node';
import type { PermissionMode } from '@tandem/client/node';
import pc from 'picocolors';
import { diffLines } from '../render/diff-text.ts';
import { plainLine, plainText } from '../render/plain-text.ts';
import { createStatusText } from '../render/status-text.ts';
import { createTtyRender } from '../render/tty.ts';
import { attachFiles } from '../run/attachments.ts';
import { openConversation } from '../run/conversation.ts';
import type { Conversation } from '../run/conversation.ts';
import type { Place } from '../run/place.ts';
import { followModel } from '../run/answering-model.ts';
import { createQuestions } from '../run/questions.ts';
import type { Screen } from './screen.ts';
import { createUsageTotal } from './usage-total.ts';

/** What a chat works with. */
export interface ChatParts {
  readonly screen: Screen;
  readonly place: Place;
  readonly folder: string;
  readonly permission: PermissionMode;
  readonly hasColours: boolean;
  readonly now: () => number;
}

/** The turns of a chat, one at a time, and what carries over between them. */
export interface ChatSession {
  model: string | undefined;
  mode: Mode | undefined;
  readonly conversationId: string;
  readonly client: AgentClient;
  readonly isWorking: boolean;
  /** Whether there is a checkpoint to go on from later. */
  readonly hasTurns: boolean;
  /** Takes a turn, then those that were typed meanwhile. Never rejects. */
  send(text: string): Promise<void>;
  /** Tells the turn under way more; what it does not hear is the next turn. */
  follow(text: string): void;
  /** Cancels the turn under way; false when it was cancelled already. */
  cancel(): boolean;
  /** Goes on with another conversation, or a new one; says why it does not. */
  change(resumes: string | undefined): Promise<string | undefined>;
  undo(): ReturnType<Conversation['undo']>;
  usageText(): string;
  /** What edits have changed so far. */
  diffText(): string;
  close(): Promise<void>;
}

/** How often the spinner turns. */
const TICK_MS = 200;
/** Edits that `/diff` shows; older ones are forgotten. */
const EDITS_KEPT = 200;
const PATH_CHARACTERS = 200;

/** A session that begins with this conversation. */
export function createChatSession(parts: ChatParts, first: Conversation): ChatSession {
  const { screen, place, folder, permission, hasColours, now } = parts;
  const { dim, green, red, bold } = pc.createColors(hasColours);
  const say = (text: string) => screen.write(`${dim(plainText(text))}\n`);
  const questions = createQuestions(screen, permission);
  const total = createUsageTotal();
  const edits: ToolEvent[] = [];
  const waiting: string[] = [];
  const injections = new Set<Promise<void>>();
  let kept = first;
  let isWorking = false;
  /** A turn of the conversation came to its end, so it is worth keeping even without a checkpoint. */
  let hasAnswer = false;
  let isCancelled = false;

  const executors = nodeExecutors({
    workspace: folder,
    permission,
    onFileChange: change => kept.recordChange(change),
    onRuleKept: (rule, file) => say(`The rule "${rule}" for this folder is kept in ${file}.`),
    ...(permission !== 'read-only' && { ask: questions.ask }),
  });
  const clientOf = () =>
    new AgentClient({
      baseUrl: place.url,
      transport: nodeTransport({ http2: 'never' }),
      ...(place.apiKey !== undefined && { apiKey: place.apiKey }),
      ...(kept.blobs && { blobs: kept.blobs }),
      executors,
      answerQuery: questions.answerQuery,
    });
  const talkOf = (): Talk =>
    client.conversation(kept.id, {
      ...(kept.state && { state: kept.state }),
      save: state => kept.save(state),
    });
  let client = clientOf();
  let talk = talkOf();

  const takeTurn = async (text: string): Promise<void> => {
    const attached = attachFiles(text, folder);
    if ('problem' in attached) {
      say(attached.problem);
      return;
    }
    for (const notice of attached.notices) say(notice);
    await kept.beginTurn();
    const { model } = session;
    let hasChildren = false; // what other agents cost is not in the usage of the turn
    const answering = followModel(client, model);
    const { costOf } = answering;
    const render = createTtyRender({ folder, now, hasColours, costOf });
    const status = createStatusText({ folder, now });
    screen.status = columns => dim(status.text(columns));
    const timer = setInterval(screen.refresh, TICK_MS);
    try {
      const run = talk.send(attached.prompt, {
        images: attached.images,
        ...(model !== undefined && { model }),
        ...(session.mode !== undefined && { mode: session.mode }),
      });
      for await (const event of run) {
        status.note(event);
        answering.note(event);
        if (event.type === 'tool' && event.name === 'edit' && event.status === 'completed') edits.push(event);
        if (edits.length > EDITS_KEPT) edits.shift();
        if (event.type === 'end') hasAnswer ||= event.outcome === 'ended';
        if (event.type === 'child') hasChildren = true;
        if (event.type === 'end') await answering.listed;
        if (event.type === 'end') total.add(event.usage, hasChildren ? undefined : costOf(event.usage));
        for (const piece of render(event)) screen.write(piece.text);
      }
      await talk.saved();
    } finally {
      clearInterval(timer);
      screen.status = undefined;
      screen.refresh();
    }
  };

  const session: ChatSession = {
    model: undefined,
    mode: undefined,
    get conversationId() {
      return kept.id;
    },
    get client() {
      return client;
    },
    get isWorking() {
      return isWorking;
    },
    get hasTurns() {
      return talk.state !== undefined;
    },
    async send(text) {
      isWorking = true;
      try {
        for (let next: string | undefined = text; next !== undefined; next = waiting.shift()) {
          isCancelled = false;
          await takeTurn(next);
          await Promise.all(injections);
          if (isCancelled && waiting.length > 0) say(`Not sent: ${waiting.splice(0).join(' / ')}`);
        }
      } catch (error) {
        say(`The turn failed inside tandem: ${(error as Error).message}`);
      } finally {
        isWorking = false;
      }
    },
    follow(text) {
      const attached = attachFiles(text, folder);
      if ('problem' in attached || attached.images.length > 0) {
        waiting.push(text); // only text can be told to a turn; whatever is wrong is said when its own comes
        return;
      }
      for (const notice of attached.notices) say(notice);
      const injection = talk.inject(attached.prompt).then(({ outcome }) => {
        if (outcome === 'delivered') say('(the agent has read it)');
        else waiting.push(text);
      });
      injections.add(injection);
      void injection.finally(() => injections.delete(injection));
    },
    cancel() {
      if (isCancelled) return false;
      isCancelled = true;
      talk.run?.cancel();
      return true;
    },
    async change(resumes) {
      const next = await openConversation({ folder, continues: false, resumes, say });
      if ('problem' in next) return next.problem;
      if (!hasAnswer) await kept.drop();
      hasAnswer = false;
      kept.close();
      kept = next;
      client = clientOf();
      talk = talkOf();
      return undefined;
    },
    undo: () => kept.undo(),
    usageText: () => total.text(),
    diffText() {
      const lines = edits.flatMap(edit => {
        const { path: named } = edit.args ?? {};
        const path = plainLine(typeof named === 'string' ? named : '', PATH_CHARACTERS);
        return [
          bold(path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path),
          ...diffLines(edit).map(({ kind, text }) =>
            kind === 'added' ? green(text) : kind === 'removed' ? red(text) : dim(text),
          ),
        ];
      });
      return lines.length === 0 ? 'Nothing was edited in this chat.\n' : `${lines.join('\n')}\n`;
    },
    async close() {
      await talk.cancel('the user left');
      await talk.saved().catch(() => undefined); // the user was told when it failed
      if (!hasAnswer) await kept.drop();
      await kept.tidy();
      kept.close();
    },
  };
  return session;
}
