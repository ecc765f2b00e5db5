import { create } from '@bufbuild/protobuf';
import { AskQuestionInteractionResponseSchema } from '@tandem/protocol/agent';
import type { AskQuestionArgs } from '@tandem/protocol/agent';
import { approveQuery, refuseQuery } from '@tandem/client';
import type { AnswerQuery, Query, QueryAnswer } from '@tandem/client';
import { describeQuestion } from '@tandem/client/node';
import type { Ask, PermissionAnswer, PermissionMode, PermissionQuestion } from '@tandem/client/node';
import { visibleText } from '../render/plain-text.ts';
import { changeText } from './change-text.ts';
import type { QuestionPlace } from './line-reader.ts';

/** Puts what has to be asked before the person at the terminal, one question at a time. */
export interface Questions {
  /** Leave for something on this machine. */
  readonly ask: Ask;
  /** What the server asks (§19). */
  readonly answerQuery: AnswerQuery;
}

type Choice = AskQuestionArgs['questions'][number];

/** Questions at a place. With `auto` the server's wish for a search or a page is granted without asking, as the rest of it is. */
export function createQuestions(place: QuestionPlace, permission: PermissionMode): Questions {
  let turn: Promise<unknown> = Promise.resolve();
  /** Questions of parallel calls wait for each other. */
  const inTurn = <Answer>(put: () => Promise<Answer>): Promise<Answer> => {
    const answer = turn.then(put);
    turn = answer.catch(() => undefined); // whoever asked is told; the next one is asked all the same
    return answer;
  };

  const allow = async (text: string, rule: string | undefined, signal: AbortSignal): Promise<PermissionAnswer> => {
    if (signal.aborted) return 'no';
    place.write(`\n${text}\n${rule === undefined ? '' : `  c and a allow by a rule: ${visibleText(rule)}\n`}`);
    const label =
      rule === undefined
        ? 'Allow? y = once, n = no: '
        : 'Allow? y = once, n = no, c = until this ends, a = always here, ? = help: ';
    for (;;) {
      const word = (await place.readLine(label, signal))?.trim().toLowerCase();
      if (word === undefined || word === 'n' || word === 'no') return 'no';
      if (word === 'y' || word === 'yes') return 'once';
      if (rule !== undefined && (word === 'c' || word === 'conversation')) return 'conversation';
      if (rule !== undefined && (word === 'a' || word === 'always')) return 'always';
      place.write(rule === undefined ? SHORT_HELP : `${SHORT_HELP}${ruleHelp(rule)}`);
    }
  };

  const choose = async (question: Choice, title: string, signal: AbortSignal) => {
    const { id, prompt, options, allowMultiple } = question;
    const lines = [
      ...(title ? ['', title] : []),
      '',
      prompt,
      ...options.map((option, at) => `  ${at + 1}. ${option.label}`),
    ];
    place.write(lines.map(line => `${visibleText(line)}\n`).join(''));
    const label =
      options.length === 0 ? '› ' : allowMultiple ? 'Numbers, or your own words: ' : 'A number, or your own words: ';
    for (;;) {
      const line = (await place.readLine(label, signal))?.trim();
      if (line === undefined) return undefined;
      if (line === '') continue;
      const numbers = line.split(/[\s,]+/);
      const chosen = numbers.map(number => (/^\d+$/.test(number) ? options[Number(number) - 1] : undefined));
      if (chosen.every(option => option !== undefined) && (allowMultiple || chosen.length === 1))
        return { questionId: id, selectedOptionIds: chosen.map(option => option.id) };
      if (!/^[\d\s,]+$/.test(line) || options.length === 0) return { questionId: id, freeformText: line };
    }
  };

  const answerQuestions = async (args: AskQuestionArgs, signal: AbortSignal): Promise<QueryAnswer | undefined> => {
    const answers = [];
    for (const [at, question] of args.questions.entries()) {
      const answer = await choose(question, at === 0 ? args.title : '', signal);
      if (!answer) return undefined;
      answers.push(answer);
    }
    const value = create(AskQuestionInteractionResponseSchema, {
      result: { result: { case: 'success', value: { answers } } },
    });
    return { case: 'askQuestionInteractionResponse', value };
  };

  return {
    ask: (question, signal) =>
      inTurn(() => {
        const { action, subject } = describeQuestion(question);
        const why = question.reason === undefined ? '' : `\n  (${visibleText(question.reason)})`;
        const change = question.kind === 'write' ? changeOf(question) : '';
        return allow(`${visibleText(action)}:\n${indented(subject)}${change}${why}`, question.rule, signal);
      }),
    async answerQuery(query, { signal }) {
      if (query.case === 'askQuestionInteractionQuery' && query.value.args) {
        const { args } = query.value;
        return inTurn(() => answerQuestions(args, signal));
      }
      if (query.case === 'createPlanRequestQuery') {
        place.write(
          `\nPlan${query.value.args?.name ? ` ${visibleText(query.value.args.name)}` : ''}:\n${indented(query.value.args?.plan ?? '')}\n`,
        );
        return undefined; // it is shown, and so taken
      }
      const approval = approveQuery(query);
      if (!approval || permission === 'read-only') return undefined;
      if (permission === 'auto') return approval;
      if ((await inTurn(() => allow(wordsOfQuery(query), undefined, signal))) === 'once') return approval;
      const refusal = refuseQuery(query, 'the user said no');
      return refusal.case === undefined ? undefined : refusal;
    },
  };
}

/** What would be written, below the path. */
function changeOf({ path = '', contents }: PermissionQuestion): string {
  if (contents === undefined) return '\n  (no text, so it is not shown)';
  const lines = changeText(path, contents);
  return lines.length === 0 ? '\n  (nothing in it would change)' : `\n${indented(lines.join('\n'))}`;
}

const SHORT_HELP = '  y or yes: it is done this once. n or no: it is not, and the model is told.\n';

function ruleHelp(rule: string): string {
  return (
    `  c or conversation: all that the rule "${visibleText(rule)}" covers is done without asking until this command ends.\n` +
    '  a or always: the same in this folder from now on; the rule is kept in your permissions.json.\n'
  );
}

function wordsOfQuery(query: Query): string {
  switch (query.case) {
    case 'webSearchRequestQuery':
      return `Search the web for:\n${indented(query.value.args?.searchTerm ?? '')}`;
    case 'webFetchRequestQuery':
      return `Fetch:\n${indented(query.value.args?.url ?? '')}`;
    case 'switchModeRequestQuery':
      return `Switch the mode to:\n${indented(query.value.args?.targetModeId ?? '')}`;
    case 'generateImageRequestQuery':
      return `Make an image of:\n${indented(query.value.args?.description ?? '')}`;
    default:
      return `Allow ${query.case}`;
  }
}

function indented(text: string): string {
  return visibleText(text)
    .split('\n')
    .map(line => `    ${line}`)
    .join('\n');
}
